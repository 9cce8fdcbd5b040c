#include "decomp/work.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace octant {
namespace {

constexpr int k_cost_bits = 40;   // of the largest cost
constexpr int k_total_bits = 62;  // of the sum

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

// What all ranks must agree on before costs can be counted in integers.
struct Agreement {
  int depth = 0;
  int cost_exponent = 0;  // every cost is below 2^cost_exponent
  std::int64_t blocks = 0;
};

Agreement agree_on(const DomainShape& domain, std::span<const CostItem> blocks,
                   const Reduction& reduction) {
  std::array<std::int64_t, 3> largest{0, std::numeric_limits<int>::min(), 0};
  auto& [depth, exponent, invalid] = largest;
  for (const CostItem& block : blocks) {
    depth = std::max<std::int64_t>(depth, block.level);
    if (block.cost > 0.0) exponent = std::max<std::int64_t>(exponent, exponent_of(block.cost));
    if (!is_valid(domain, block)) invalid = 1;
  }
  reduction.max(largest);
  OCTANT_REQUIRE(
      invalid == 0,
      "a block that is to be placed lies outside of the domain of {} x {} x {} base blocks, "
      "or its cost is negative or not a number",
      domain.base_blocks[0], domain.base_blocks[1], domain.base_blocks[2]);
  std::array<std::int64_t, 1> count{static_cast<std::int64_t>(blocks.size())};
  reduction.sum(count);
  return {static_cast<int>(depth), static_cast<int>(exponent), count[0]};
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
                   "level {} has {} blocks along axis {}; keys hold 1 to {}", depth, extent, axis,
                   k_key_coordinate_end);
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

}  // namespace octant
