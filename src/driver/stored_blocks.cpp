#include "driver/stored_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "io/expectations.hpp"
#include "mesh/structure.hpp"

namespace octant::driver {

namespace {

// Throws unless the file holds levels 0 to the finest, and no others.
int finest_level(const Hdf5Reader& file, const mesh::Geometry& geometry) {
  const std::int64_t finest = count_attribute(file, "/header", "finest_level");
  if (finest > geometry.max_level())
    throw InputError("{}: the checkpoint has blocks on level {}, but mesh.max_level = {}; raise it",
                     file.path(), finest, geometry.max_level());
  const auto levels = std::ssize(file.children("/mesh"));
  if (levels != finest + 1)
    throw InputError("'{}': /mesh holds {} levels, but /header has finest_level = {}", file.path(),
                     levels, finest);
  return static_cast<int>(finest);
}

// Some keys of a level, with the one before them, which they must follow.
std::vector<Key> read_keys(const Hdf5Reader& file, const mesh::Geometry& geometry, int level,
                           std::int64_t total, RowRange range) {
  const std::string dataset = level_group("mesh", level) + "/key";
  constexpr std::int64_t k_words = sizeof(Key) / sizeof(std::uint64_t);
  const auto expected = k_words == 1 ? std::vector{total} : std::vector{total, k_words};
  if (const auto shape = file.shape(dataset); shape != expected)
    throw InputError(
        "'{}': {} has the shape {} instead of {}: the block size, or the key width "
        "(OCTANT_KEY128), differs from this program's",
        file.path(), dataset, shape, expected);
  const std::int64_t before = range.begin > 0 && range.count > 0 ? 1 : 0;
  const auto words =
      file.read<std::uint64_t>(dataset, {range.begin - before, range.count + before});
  std::vector<Key> keys(words.size() / k_words);
  std::memcpy(keys.data(), words.data(), keys.size() * sizeof(Key));
  file.communicator().agree([&] {
    try {
      mesh::require_keys(geometry, level, keys);
    } catch (const InputError& error) {
      throw InputError("'{}': {}: {}", file.path(), dataset, error.what());
    }
  });
  keys.erase(keys.begin(), keys.begin() + before);
  return keys;
}

// What else the file says of some blocks must fit to their keys.
void check_blocks(const Hdf5Reader& file, const mesh::Geometry& geometry, int level,
                  std::int64_t total, RowRange range, const std::vector<Key>& keys) {
  const std::string group = level_group("mesh", level);
  require_shape(file, group + "/origin", {total, 3});
  require_shape(file, group + "/owner", {total});
  const auto origins = file.read<double>(group + "/origin", range);
  const auto owners = file.read<std::int32_t>(group + "/owner", range);
  const double tolerance = 1e-6 * geometry.cell_size(level);
  file.communicator().agree([&] {
    for (std::size_t n = 0; n < keys.size(); ++n) {
      const auto origin = geometry.origin(level, morton_decode(keys[n]));
      for (int d = 0; d < 3; ++d)
        if (!(std::abs(origins[3 * n + d] - origin[d]) <= tolerance))
          throw InputError("'{}': {}/origin: row {} holds {} instead of {}", file.path(), group,
                           range.begin + static_cast<std::int64_t>(n), origins[3 * n + d],
                           origin[d]);
      if (owners[n] < 0)
        throw InputError("'{}': {}/owner: row {} holds {}, which is not a rank", file.path(), group,
                         range.begin + static_cast<std::int64_t>(n), owners[n]);
    }
  });
}

}  // namespace

std::string level_group(const std::string& room, int level) {
  return fmt::format("/{}/level_{}", room, level);
}

std::int64_t blocks_per_batch(int block_size) {
  constexpr std::int64_t k_batch_bytes = 1 << 20;
  const std::int64_t block_bytes = sizeof(double) * block_size * block_size * block_size;
  return std::max<std::int64_t>(1, k_batch_bytes / block_bytes);
}

StoredBlocks restore_blocks(const Hdf5Reader& file, mesh::Mesh& mesh) {
  const Communicator& communicator = mesh.communicator();
  StoredBlocks stored;
  const int finest = finest_level(file, mesh.geometry());
  for (int level = 0; level <= finest; ++level) {
    const std::string refined = level_group("mesh", level) + "/refined";
    const std::int64_t total = file.shape(refined)[0];
    require_shape(file, refined, {total});
    const RowRange range = even_share(total, communicator.rank(), communicator.size());
    stored.totals.push_back(total);
    stored.ranges.push_back(range);
    stored.levels.push_back({read_keys(file, mesh.geometry(), level, total, range),
                             file.read<std::uint8_t>(refined, range)});
    check_blocks(file, mesh.geometry(), level, total, range, stored.levels.back().keys);
  }
  try {
    mesh.replace_blocks(stored.levels);
  } catch (const InputError& error) {
    throw InputError("'{}': /mesh: {}", file.path(), error.what());
  }
  return stored;
}

}  // namespace octant::driver
