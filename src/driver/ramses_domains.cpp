#include "driver/ramses_domains.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "decomp/hilbert.hpp"
#include "decomp/wall_search.hpp"

namespace octant::driver {

namespace {

// RAMSES keeps keys as doubles; 17 bits per axis are exact there.
constexpr int k_most_bits = 17;

Key curve_key(const RamsesPlace& place, int bits) {
  return hilbert_encode(
      {static_cast<BlockCoordinate>(place[0]), static_cast<BlockCoordinate>(place[2]),
       static_cast<BlockCoordinate>(place[1])},
      bits);
}

// What stays together: a cube that one cell of a level covers, and its octs with leaves.
struct Unit {
  int level;
  RamsesPlace cell;
  std::int64_t octs;
};

std::vector<Unit> units_of(const BlockLevel& level, int base, int N) {
  const int across = std::countr_zero(static_cast<unsigned>(N));  // levels within a block
  const int of_block = base + level.number - across;
  const std::int64_t octs_across = std::max(N / 4, 1);
  std::vector<Unit> units;
  for (std::size_t n = 0; n < level.keys.size(); ++n) {
    const auto block = morton_decode(level.keys[n]);
    const RamsesPlace place{block[0], block[1], block[2]};
    if (N == 2 && level.refined[n] != 0xFF) units.push_back({of_block, place, 1});
    for (int octant = 0; N > 2 && octant < 8; ++octant) {
      if (level.refined[n] >> octant & 1) continue;
      RamsesPlace cell;
      for (int d = 0; d < 3; ++d) cell[d] = 2 * place[d] + (octant >> d & 1);
      units.push_back({of_block + 1, cell, octs_across * octs_across * octs_across});
    }
  }
  return units;
}

}  // namespace

RamsesDomains::RamsesDomains(const MeshContents& contents, int base, int count)
    : bits_(std::min(base + contents.levels.back().number, k_most_bits)) {
  for (int d = 0; d < 3; ++d) periodic_[d] = contents.geometry.periodic(d);
  std::vector<LinePoint> points;
  for (const BlockLevel& level : contents.levels)
    for (const Unit& unit : units_of(level, base, contents.geometry.block_size()))
      points.push_back({piece(unit.level, unit.cell).begin, unit.octs});
  const Key end = Key{1} << 3 * bits_;
  const Reduction reduction = reduction_over(contents.communicator);
  const LineRange line{0, end};
  const WallRules rules{
      .shares = std::vector<std::int32_t>(count, 1), .grains = {1}, .tolerance = 0.0};
  walls_ = find_walls(line, points, rules, reduction.sum);
  // A wall between two units becomes the beginning of the second one.
  std::vector<Key> begins;
  for (const LinePoint& point : points) begins.push_back(point.position);
  std::sort(begins.begin(), begins.end());
  std::vector<std::int64_t> next;
  for (const Key wall : walls_) {
    const auto after = std::lower_bound(begins.begin(), begins.end(), wall);
    next.push_back(static_cast<std::int64_t>(after == begins.end() ? end : *after));
  }
  contents.communicator.min_in_place(std::span<std::int64_t>(next));
  walls_.assign(next.begin(), next.end());
}

std::vector<double> RamsesDomains::bounds(int bits) const {
  std::vector<double> bounds{0.0};
  for (const Key wall : walls_)
    bounds.push_back(std::ldexp(static_cast<double>(wall), 3 * (bits - bits_)));
  bounds.push_back(std::ldexp(1.0, 3 * bits));
  return bounds;
}

RamsesDomains::Piece RamsesDomains::piece(int level, const RamsesPlace& cell) const {
  if (level >= bits_) {
    RamsesPlace coarse = cell;
    for (auto& coordinate : coarse) coordinate >>= level - bits_;
    const Key key = curve_key(coarse, bits_);
    return {key, key};
  }
  const int shift = 3 * (bits_ - level);
  const Key begin = curve_key(cell, level) << shift;
  return {begin, begin + (Key{1} << shift) - 1};
}

int RamsesDomains::domain_at(Key key) const {
  return static_cast<int>(std::upper_bound(walls_.begin(), walls_.end(), key) - walls_.begin());
}

int RamsesDomains::owner(int level, const RamsesPlace& cell) const {
  if (level >= bits_) return domain_at(piece(level, cell).begin);
  RamsesPlace centre;
  for (int d = 0; d < 3; ++d) centre[d] = (2 * cell[d] + 1) << (bits_ - level - 1);
  return domain_at(curve_key(centre, bits_));
}

std::vector<int> RamsesDomains::holders(int level, const RamsesPlace& cell) const {
  const std::int64_t extent = std::int64_t{1} << level;
  std::vector<int> found;
  for (int n = 0; n < 27; ++n) {
    RamsesPlace place{cell[0] + n % 3 - 1, cell[1] + n / 3 % 3 - 1, cell[2] + n / 9 - 1};
    bool inside = true;
    for (int d = 0; d < 3; ++d) {
      const bool beyond = place[d] < 0 || place[d] >= extent;
      if (beyond) place[d] = (place[d] + extent) % extent;
      inside = inside && (!beyond || periodic_[d]);
    }
    if (!inside) continue;
    const Piece reached = piece(level, place);
    for (int d = domain_at(reached.begin); d <= domain_at(reached.end); ++d)
      if (std::find(found.begin(), found.end(), d) == found.end()) found.push_back(d);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace octant::driver
