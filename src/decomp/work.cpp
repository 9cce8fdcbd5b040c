#include "decomp/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace octant {
namespace {

constexpr int k_cost_bits = 40;   // bits of the largest cost
constexpr int k_total_bits = 62;  // bits of the sum of costs

int bits_of(std::int64_t value) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value)));
}

bool is_valid(const DomainShape& domain, const CostItem& block) {
  if (!(block.cost >= 0.0) || !std::isfinite(block.cost)) return false;
  if (block.level < 0 || block.level > k_key_bits_per_axis) return false;
  for (int axis = 0; axis < 3; ++axis) {
    const auto end = static_cast<std::int64_t>(domain.base_blocks[axis]) << block.level;
    if (block.coordinates[axis] < 0 || block.coordinates[axis] >= end) return false;
  }
  return true;
}

int exponent_of(double cost) {
  int exponent = 0;
  std::frexp(cost, &exponent);
  return exponent;
}

// Values common to all ranks for the conversion of costs to integers.
struct Agreement {
  int depth = 0;
  int cost_exponent = 0;    // all costs are below 2^cost_exponent
  std::int64_t blocks = 0;  // at least the number of blocks on all ranks
};

Agreement agree_on(const DomainShape& domain, std::span<const CostItem> blocks,
                   const Reduction& reduction) {
  std::array<std::int64_t, 4> largest{0, std::numeric_limits<int>::min(), 0, std::ssize(blocks)};
  auto& [depth, exponent, invalid, count] = largest;
  for (const CostItem& block : blocks) {
    depth = std::max<std::int64_t>(depth, block.level);
    if (block.cost > 0.0) exponent = std::max<std::int64_t>(exponent, exponent_of(block.cost));
    if (!is_valid(domain, block)) invalid = 1;
  }
  reduction.max(largest);
  OCTANT_REQUIRE(invalid == 0,
                 "a block lies outside the domain of {} x {} x {} base blocks, or its cost is "
                 "negative or not a number",
                 domain.base_blocks[0], domain.base_blocks[1], domain.base_blocks[2]);
  return {static_cast<int>(depth), static_cast<int>(exponent), count * reduction.ranks};
}

}  // namespace

int FinestGrid::bits() const {
  return bits_of(*std::max_element(extent.begin(), extent.end()) - 1);
}

BlockCoordinates FinestGrid::centre_of(const BlockCoordinates& coordinates, int level) const {
  const int finer = depth - level;
  const BlockCoordinate half = (BlockCoordinate{1} << finer) / 2;
  BlockCoordinates centre;
  for (int axis = 0; axis < 3; ++axis) centre[axis] = (coordinates[axis] << finer) + half;
  return centre;
}

FinestGrid finest_grid(const DomainShape& domain, int depth) {
  FinestGrid grid{depth, {}};
  for (int axis = 0; axis < 3; ++axis) {
    const auto extent = static_cast<std::int64_t>(domain.base_blocks[axis]) << depth;
    OCTANT_REQUIRE(extent >= 1 && extent <= k_key_coordinate_end,
                   "level {} has {} blocks along axis {}; block keys support 1 to {}", depth,
                   extent, axis, k_key_coordinate_end);
    grid.extent[axis] = static_cast<BlockCoordinate>(extent);
  }
  return grid;
}

Work measure_work(const DomainShape& domain, std::span<const CostItem> blocks,
                  const Reduction& reduction) {
  const Agreement agreed = agree_on(domain, blocks, reduction);
  Work work{finest_grid(domain, agreed.depth), {}};
  const int cost_bits = std::min(k_cost_bits, k_total_bits - bits_of(agreed.blocks));
  work.points.reserve(blocks.size());
  for (const CostItem& block : blocks) {
    const double cost = std::ldexp(block.cost, cost_bits - agreed.cost_exponent);
    work.points.push_back(
        {work.grid.centre_of(block.coordinates, block.level), std::llround(cost)});
  }
  return work;
}
namespace {

// Bookkeeping per block: an entry of the half-filled key table, coordinates, level, owner and
// flags, the 26 neighbour indices and boxes, and the flux planes of the average block.
constexpr double k_bookkeeping_bytes = 1024.0;
// Slot of the home block of a particle, and the flag for assignment to the coarser level.
constexpr double k_particle_bookkeeping_bytes = 5.0;

}  // namespace

double block_bytes(int block_size, int numbers) {
  const double cells = static_cast<double>(block_size) * block_size * block_size;
  return cells * numbers * sizeof(double) + k_bookkeeping_bytes;
}

double particle_bytes(int words) {
  return static_cast<double>(words) * sizeof(std::uint64_t) + k_particle_bookkeeping_bytes;
}

double time_factor(double alpha, const LevelTime& local, const LevelTime& total) {
  if (local.updates <= 0 || total.nanoseconds <= 0) return 1.0;
  const double local_mean =
      static_cast<double>(local.nanoseconds) / static_cast<double>(local.updates);
  const double mean = static_cast<double>(total.nanoseconds) / static_cast<double>(total.updates);
  return std::clamp(1.0 + alpha * (local_mean / mean - 1.0), 0.5, 2.0);
}

std::vector<double> time_factors(double alpha, std::span<const LevelTime> local_levels,
                                 const Reduction& reduction) {
  if (alpha == 0.0) return std::vector<double>(local_levels.size(), 1.0);
  std::vector<std::int64_t> totals;
  for (const LevelTime& level : local_levels) {
    totals.push_back(level.nanoseconds);
    totals.push_back(level.updates);
  }
  reduction.sum(totals);
  std::vector<double> factors;
  for (std::size_t l = 0; l < local_levels.size(); ++l) {
    factors.push_back(time_factor(alpha, local_levels[l], {totals[2 * l], totals[2 * l + 1]}));
  }
  return factors;
}

}  // namespace octant
