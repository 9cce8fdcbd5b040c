#include "io/ramses_output.hpp"

#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "io/ramses_kinds.hpp"

namespace octant {

namespace {

namespace fs = std::filesystem;

// "00080" of ".../output_00080", or "".
std::string number_of(const std::string& path) {
  static const std::regex pattern("output_([0-9]{5,})");
  fs::path name = fs::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  std::smatch match;
  const std::string last = name.filename().string();
  return std::regex_match(last, match, pattern) ? match[1].str() : "";
}

}  // namespace

bool is_ramses_output(const Communicator& communicator, const std::string& path) {
  const std::string number = number_of(path);
  bool found = false;
  if (!number.empty() && communicator.is_root()) {
    std::error_code ignored;
    found = fs::is_directory(path, ignored);
  }
  return communicator.any(found);
}

RamsesFacts read_ramses_facts(const Communicator& communicator, const std::string& path) {
  RamsesFacts facts;
  facts.folder = fs::path(path).lexically_normal().string();
  facts.number = number_of(path);
  const std::string hdf5 = fmt::format("{}/data_{}.h5", facts.folder, facts.number);
  const bool is_hdf5 = communicator.any(communicator.is_root() && fs::is_regular_file(hdf5));
  if (is_hdf5) {
    facts.hdf5_file = hdf5;
    read_hdf5_facts(communicator, facts);
  } else {
    read_folder_facts(communicator, facts);
  }
  return facts;
}

std::unique_ptr<RamsesSource> open_ramses(const Communicator& communicator,
                                          const RamsesFacts& facts, int chunk, RamsesCells cells) {
  return (facts.hdf5_file.empty() ? open_folder : open_hdf5)(communicator, facts, chunk, cells);
}

}  // namespace octant
