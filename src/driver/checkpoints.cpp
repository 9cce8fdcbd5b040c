#include "driver/checkpoints.hpp"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <vector>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/own_files.hpp"
#include "driver/run_folder.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

namespace {

// The checkpoints of a directory, newest first.
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

// The checkpoint before this one in its directory, or "".
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

// The names of some checkpoints, newest first, for messages.
std::string list_of(const std::vector<std::string>& paths) {
  constexpr std::size_t k_most = 10;
  std::string text;
  for (std::size_t n = 0; n < std::min(paths.size(), k_most); ++n)
    text += fmt::format("{}{}", n == 0 ? "" : ", ", paths[n]);
  if (paths.size() > k_most) text += fmt::format(" and {} more", paths.size() - k_most);
  return text;
}

// Throws InputError, which lists the checkpoints in `directory`, if there is nothing at a path.
// Another run's folder is answered with its checkpoints. On the root.
void require_there(const std::string& path, const std::string& directory) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const auto inside = is_folder ? checkpoints_in(path) : std::vector<std::string>{};
  if (!inside.empty())
    throw InputError("--restart {}: this is a folder; expected one of its checkpoints: {}", path,
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

std::string find_checkpoint(const Communicator& communicator, const std::string& wish,
                            const std::string& directory) {
  if (wish != "latest") {
    communicator.agree([&] {
      if (communicator.is_root()) require_there(wish, directory);
    });
    return wish;
  }
  std::string found;
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const auto all = checkpoints_in(directory);
    if (all.empty())
      throw InputError(
          "--restart latest: there is no checkpoint_*.h5 in {}; name a checkpoint or "
          "start without --restart (and with --overwrite, if a run is there)",
          directory);
    found = all.front();
  });
  communicator.broadcast(found);
  return found;
}

void require_newest_checkpoint(const Communicator& communicator, const std::string& path,
                               const std::string& directory) {
  communicator.agree([&] {
    if (!communicator.is_root() || !holds_run(directory)) return;
    const auto all = checkpoints_in(directory);
    if (!all.empty() && std::filesystem::equivalent(path, all.front())) return;
    throw InputError(
        "--restart {}: output.directory = \"{}\" holds a run whose newest checkpoint is {}; to "
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
        "{}. The checkpoint before it is {}: rename the damaged one, and continue with --restart "
        "latest",
        error.what(), before);
  }
}

void remove_old_checkpoints(const std::string& directory, int keep) {
  const auto all = checkpoints_in(directory);
  for (std::size_t n = keep; n < all.size(); ++n) {
    std::error_code error;
    if (!std::filesystem::remove(all[n], error) && error)
      log::warn("{}: cannot be removed: {}", all[n], system_reason(error.value()));
  }
}

}  // namespace octant::driver
