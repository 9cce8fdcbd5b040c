#include "driver/history.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/whole_file.hpp"

namespace octant::driver {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
  return cells;
}

// A row under another header. What was not there is a level that did not exist: it had 0 blocks.
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

// The complete lines of a file: a run that was killed may have left a piece of one. Nothing where
// there is no such file. Throws RunError.
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

// The rows of a file before a step, under this header.
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
  communicator.agree([&] {
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
  communicator.agree([&] {
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
    if (!complained_) log::warn("{}; the run continues, and rows are buffered", error.what());
    complained_ = true;
  }
}

void History::sync(const Communicator& communicator) {
  communicator.agree([&] {
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

}  // namespace octant::driver
