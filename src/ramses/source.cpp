#include "ramses/source.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include <fmt/format.h>

#include "core/error.hpp"
#include "ramses/ramses.hpp"

namespace octant {

namespace {

// Number of an output: "00080" of ".../output_00080", or "".
std::string number_of_folder(const std::string& path) {
  static const std::regex pattern("output_([0-9]{5,})");
  std::filesystem::path name = std::filesystem::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  std::smatch match;
  const std::string last = name.filename().string();
  return std::regex_match(last, match, pattern) ? match[1].str() : "";
}

}  // namespace

void RamsesOcts::resize(std::int64_t count, std::int64_t values_of_oct) {
  places.resize(static_cast<std::size_t>(count));
  refined.assign(static_cast<std::size_t>(count), 0);
  values.resize(static_cast<std::size_t>(count * values_of_oct));
}

RamsesSource::RamsesSource(const Communicator& communicator, const RamsesFacts& attributes,
                           int chunk)
    : communicator_(communicator), facts_(attributes) {
  const int most = (attributes.domains + communicator.size() - 1) / communicator.size();
  chunk_ = chunk > 0 ? std::min(chunk, most) : most;
  rounds_ = (most + chunk_ - 1) / chunk_;
}

std::vector<int> RamsesSource::domains(int round) const {
  std::vector<int> numbers;
  for (int n = round * chunk_; n < (round + 1) * chunk_; ++n)
    if (const int number = 1 + communicator_.rank() + n * communicator_.size();
        number <= facts_.domains)
      numbers.push_back(number);
  return numbers;
}

std::int64_t RamsesSource::count(int round) const {
  std::int64_t octs = 0;
  for (const int domain : domains(round)) octs += octs_of(domain);
  return octs;
}

std::vector<RamsesSource::Piece> RamsesSource::pieces(int round, RowRange some) const {
  std::vector<Piece> pieces;
  std::int64_t before = 0;  // octs of preceding domains of the round
  for (const int domain : domains(round)) {
    const std::int64_t octs = octs_of(domain);
    const std::int64_t begin = std::max(some.begin, before),
                       end = std::min(some.end(), before + octs);
    if (begin < end) pieces.push_back({domain, {begin - before, end - begin}, begin - some.begin});
    before += octs;
  }
  return pieces;
}

std::int64_t ramses_oct_place(int level, double centre) {
  // The box is one coarse cell; walls are adjacent cells.
  const double across = std::ldexp(centre - std::floor(centre), level - 1);
  const double place = std::floor(across);
  return std::abs(across - place - 0.5) < 1e-3 ? static_cast<std::int64_t>(place) : -1;
}

bool is_ramses_output(const Communicator& communicator, const std::string& path) {
  const std::string number = number_of_folder(path);
  bool found = false;
  if (!number.empty() && communicator.is_root()) {
    std::error_code ignored;
    found = std::filesystem::is_directory(path, ignored);
  }
  return communicator.any(found);
}

RamsesFacts read_ramses_facts(const Communicator& communicator, const std::string& path) {
  RamsesFacts attributes;
  attributes.folder = std::filesystem::path(path).lexically_normal().string();
  attributes.number = number_of_folder(path);
  const std::string hdf5 = fmt::format("{}/data_{}.h5", attributes.folder, attributes.number);
  const bool is_hdf5 =
      communicator.any(communicator.is_root() && std::filesystem::is_regular_file(hdf5));
  if (is_hdf5) attributes.hdf5_file = hdf5;
  read_ramses_texts(communicator, attributes);
  (is_hdf5 ? read_hdf5_facts : read_folder_facts)(communicator, attributes);
  return attributes;
}

std::vector<std::int8_t> ramses_families(const std::string& path,
                                         std::span<const std::int64_t> identities,
                                         std::span<const std::int8_t> types,
                                         std::span<const double> births) {
  enum : std::int8_t { k_dark = 0, k_star = 1, k_sink = 2 };
  std::vector<std::int8_t> families;
  for (std::size_t n = 0; n < identities.size(); ++n) {
    const std::int8_t type = !types.empty()                        ? types[n]
                             : !births.empty() && births[n] != 0.0 ? std::int8_t{k_star}
                                                                   : std::int8_t{k_dark};
    const bool is_cloud = identities[n] < 0;  // only one particle per sink has type k_sink
    if (type < k_dark || type > k_sink || (type == k_sink && !is_cloud))
      throw InputError(
          "'{}': particle {} has the type {} (ptypep), which is not supported; expected 0 (dark "
          "matter), 1 (stars), or 2 with a negative identity (clouds of sinks)",
          path, identities[n], type);
    families.push_back(is_cloud ? k_ramses_cloud : type == k_star ? k_ramses_star : k_ramses_dark);
  }
  return families;
}

std::unique_ptr<RamsesSource> open_ramses(const Communicator& communicator,
                                          const RamsesFacts& attributes, int chunk,
                                          RamsesCells cells) {
  return (attributes.hdf5_file.empty() ? open_folder : open_hdf5)(communicator, attributes, chunk,
                                                                  cells);
}

}  // namespace octant
