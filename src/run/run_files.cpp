#include "run/run_files.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/own_files.hpp"
#include "io/files.hpp"
#include "io/hdf5_file.hpp"
#include "run/run_folder.hpp"

namespace octant {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

// Converts a row to another header. Columns that were missing are block counts of levels that did
// not exist: 0.
std::string under_header(const std::vector<std::string>& names, const std::string& row,
                         const std::vector<std::string>& old_names) {
  const std::vector<std::string> values = cells_of(row);
  std::vector<std::string> result;
  for (const std::string& name : names) {
    const auto place = std::find(old_names.begin(), old_names.end(), name) - old_names.begin();
    result.push_back(place < std::ssize(values) ? values[place] : "0");
  }
  return fmt::format("{}", fmt::join(result, ","));
}

// Returns the complete lines of a file: a killed run may have left a partial one. Empty if there is
// no such file. Throws RunError.
std::vector<std::string> complete_lines(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return {};
  const PosixFile file(path, PosixFile::Mode::read);
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(text)));
  text.erase(text.rfind('\n') + 1);  // npos + 1 is 0
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Returns the rows of a file before a step, converted to this header.
std::string rows_before(const std::string& path, std::int64_t step, const std::string& header) {
  const std::vector<std::string> lines = complete_lines(path);
  if (lines.empty()) return "";
  const bool same = lines.front() == header;
  const std::vector<std::string> names = cells_of(header), old_names = cells_of(lines.front());
  std::string kept;
  for (std::size_t n = 1; n < lines.size(); ++n)
    if (std::strtoll(lines[n].c_str(), nullptr, 10) < step)
      kept += (same ? lines[n] : under_header(names, lines[n], old_names)) + "\n";
  return kept;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

History::History(const Model& model, const std::string& directory, const std::string& earlier)
    : path_(directory + "/history.csv") {
  const Communicator& communicator = model.communicator();
  WholeFile whole(communicator, path_);
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    const std::string header = model.history(0.0).names();
    const std::int64_t step = model.step_count();
    const std::string begin =
        header + "\n" + (step > 0 ? rows_before(earlier, step, header) : std::string());
    PosixFile part(whole.part_path(), PosixFile::Mode::update);
    part.write_at(0, bytes_of(begin));
    part.sync();
    size_ = std::ssize(begin);
  });
  whole.commit();
  communicator.collective_try([&] {
    if (communicator.is_root()) file_.emplace(path_, PosixFile::Mode::update);
  });
}

void History::append(const Model& model, double dt) {
  const std::string row = model.history(dt).values() + "\n";
  if (!file_) return;
  waiting_ += row;
  try {
    write_waiting();
  } catch (const RunError& error) {
    if (!complained_)
      log::warn("{}; the run continues, and rows of the history are kept in memory", error.what());
    complained_ = true;
  }
}

void History::sync(const Communicator& communicator) {
  communicator.collective_try([&] {
    if (!file_) return;
    if (!waiting_.empty()) write_waiting();
    file_->sync();
  });
}

void History::write_waiting() {
  file_->write_at(size_, bytes_of(waiting_));
  size_ += std::ssize(waiting_);
  waiting_.clear();
}

namespace {

// Checkpoints of a directory, newest first.
std::vector<std::string> checkpoints_in(const std::string& directory) {
  static const std::regex pattern("checkpoint_[0-9]{5,}\\.h5");
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored))
    if (std::regex_match(entry.path().filename().string(), pattern))
      found.push_back(entry.path().string());
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a > b;
  });
  return found;
}

bool is_damaged(const Communicator& communicator, const std::string& path) {
  try {
    const FileCheck check = check_file(communicator, path);
    return check.has_checksums && !check.is_whole;
  } catch (const InputError&) {
    return true;
  }
}

// Returns the previous checkpoint in the directory, or "".
std::string checkpoint_before(const Communicator& communicator, const std::string& path) {
  std::string before;
  if (communicator.is_root()) {
    const auto all = checkpoints_in(std::filesystem::path(path).parent_path().string());
    const auto at = std::find(all.begin(), all.end(), path);
    if (at != all.end() && at + 1 != all.end()) before = at[1];
  }
  communicator.broadcast(before);
  return before;
}

// Names of some checkpoints, newest first, for messages.
std::string list_of(const std::vector<std::string>& paths) {
  constexpr std::size_t k_most = 10;
  std::string text;
  for (std::size_t n = 0; n < std::min(paths.size(), k_most); ++n)
    text += fmt::format("{}{}", n == 0 ? "" : ", ", paths[n]);
  if (paths.size() > k_most) text += fmt::format(" and {} more", paths.size() - k_most);
  return text;
}

// Throws InputError with the checkpoints in `directory` if `path` does not exist. If it is a
// folder, the error lists the checkpoints inside. On the root.
void require_there(const std::string& path, const std::string& directory) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const auto inside = is_folder ? checkpoints_in(path) : std::vector<std::string>{};
  if (!inside.empty())
    throw InputError("--restart {}: this is a directory; expected one of its checkpoints: {}", path,
                     list_of(inside));
  if (is_folder || std::filesystem::exists(path, ignored)) return;
  const auto all = checkpoints_in(directory);
  throw InputError(
      "--restart {}: no such file; {}", path,
      all.empty()
          ? fmt::format("there is no checkpoint_*.h5 in {} (output.directory) either", directory)
          : fmt::format("expected latest or a checkpoint: {}", list_of(all)));
}

}  // namespace

std::string find_checkpoint(const Communicator& communicator, const std::string& requested,
                            const std::string& directory) {
  if (requested != "latest") {
    communicator.collective_try([&] {
      if (communicator.is_root()) require_there(requested, directory);
    });
    return requested;
  }
  std::string found;
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    const auto all = checkpoints_in(directory);
    if (all.empty())
      throw InputError(
          "--restart latest: there is no checkpoint_*.h5 in {}; specify a checkpoint, or start "
          "without --restart (and with --overwrite if a run exists there)",
          directory);
    found = all.front();
  });
  communicator.broadcast(found);
  return found;
}

void require_newest_checkpoint(const Communicator& communicator, const std::string& path,
                               const std::string& directory) {
  communicator.collective_try([&] {
    if (!communicator.is_root() || !holds_run(directory)) return;
    const auto all = checkpoints_in(directory);
    if (!all.empty() && std::filesystem::equivalent(path, all.front())) return;
    throw InputError(
        "--restart {}: output.directory = \"{}\" contains a run whose newest checkpoint is {}; to "
        "continue from there: --restart latest; to continue from the named checkpoint: another "
        "--output, or --overwrite, which moves the existing run aside",
        path, directory,
        all.empty() ? "missing" : std::filesystem::path(all.front()).filename().string());
  });
}

OutputProgress read_checkpoint(Model& model, const std::string& path) {
  try {
    return model.read_checkpoint(path);
  } catch (const InputError& error) {
    const std::string before = checkpoint_before(model.communicator(), path);
    if (before.empty() || !is_damaged(model.communicator(), path)) throw;
    throw InputError(
        "{}. The previous checkpoint is {}: rename the corrupt one, and continue with --restart "
        "latest",
        error.what(), before);
  }
}

void remove_old_checkpoints(const std::string& directory, int keep) {
  const auto all = checkpoints_in(directory);
  for (std::size_t n = keep; n < all.size(); ++n) {
    std::error_code error;
    if (!std::filesystem::remove(all[n], error) && error)
      log::warn("cannot remove {}: {}", all[n], system_reason(error.value()));
  }
}

}  // namespace octant
