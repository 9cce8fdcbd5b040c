#include "decomp/cost.hpp"

#include <algorithm>

namespace octant {
namespace {

// Per block: an entry of the key table at a filling of one half, coordinates, level, owner and
// flags, the 26 neighbour indices and boxes, and the flux planes of the average block.
constexpr double k_bookkeeping_bytes = 1024.0;
constexpr double k_particle_bytes = 64.0;
constexpr double k_sink_bytes = 8 * k_particle_bytes;

}  // namespace

MemoryWeights memory_weights(int block_size, int variables) {
  const double cells = static_cast<double>(block_size) * block_size * block_size;
  return {cells * 2.0 * variables * sizeof(double) + k_bookkeeping_bytes, k_particle_bytes,
          k_sink_bytes};
}

double memory_cost(const MemoryWeights& weights, std::int64_t particles, std::int64_t sinks) {
  return weights.block + weights.particle * static_cast<double>(particles) +
         weights.sink * static_cast<double>(sinks);
}

double mean_memory_cost(const MemoryWeights& weights, std::int64_t blocks, std::int64_t particles) {
  const auto per_block =
      static_cast<double>(particles) / static_cast<double>(std::max<std::int64_t>(blocks, 1));
  return weights.block + weights.particle * per_block;
}

double time_factor(double alpha, const LevelTime& local, const LevelTime& total) {
  if (local.cells <= 0 || total.nanoseconds <= 0) return 1.0;
  const double local_per_cell =
      static_cast<double>(local.nanoseconds) / static_cast<double>(local.cells);
  const double mean_per_cell =
      static_cast<double>(total.nanoseconds) / static_cast<double>(total.cells);
  return std::clamp(1.0 + alpha * (local_per_cell / mean_per_cell - 1.0), 0.5, 2.0);
}

std::vector<double> time_factors(double alpha, std::span<const LevelTime> local_levels,
                                 const Reduction& reduction) {
  std::vector<std::int64_t> totals;
  for (const LevelTime& level : local_levels) {
    totals.push_back(level.nanoseconds);
    totals.push_back(level.cells);
  }
  reduction.sum(totals);
  std::vector<double> factors;
  for (std::size_t l = 0; l < local_levels.size(); ++l) {
    factors.push_back(time_factor(alpha, local_levels[l], {totals[2 * l], totals[2 * l + 1]}));
  }
  return factors;
}

}  // namespace octant
