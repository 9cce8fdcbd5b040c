#include "driver/history.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant::driver {

namespace {

// The rows of an earlier run before `step`.
std::string rows_before(const std::string& path, std::int64_t step) {
  std::ifstream earlier(path);
  std::string kept, line;
  std::getline(earlier, line);  // the header is written anew
  while (std::getline(earlier, line))
    if (std::strtoll(line.c_str(), nullptr, 10) < step) kept += line + "\n";
  return kept;
}

}  // namespace

History::History(const Model& model, const std::string& directory)
    : path_(directory + "/history.csv") {
  const Communicator& communicator = model.communicator();
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const std::int64_t step = model.step_count();
    const std::string kept = step > 0 ? rows_before(path_, step) : "";
    file_.reset(std::fopen(path_.c_str(), "w"));
    if (!file_) throw InputError("{}: cannot be written: {}", path_, std::strerror(errno));
    const std::string begin = model.history_header() + "\n" + kept;
    if (std::fputs(begin.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
      throw InputError("{}: cannot be written: {}", path_, std::strerror(errno));
  });
}

void History::append(const Model& model, double dt) {
  const std::string row = model.history_row(dt) + "\n";
  model.communicator().agree([&] {
    if (!file_) return;
    if (std::fputs(row.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
      throw RunError("{}: cannot be written: {}", path_, std::strerror(errno));
  });
}

}  // namespace octant::driver
