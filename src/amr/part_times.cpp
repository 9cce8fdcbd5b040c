#include "amr/part_times.hpp"

#include <numeric>

#include <Kokkos_Core.hpp>

#include "core/clock.hpp"

namespace octant {

namespace {

// Weights for the distribution of a part's time over blocks; empty for equal weights.
const BlockCounts& weights_of(Share share, const BlockContents& contents) {
  static const BlockCounts none;
  switch (share) {
    case Share::blocks: return none;
    case Share::leaf_cells: return contents.leaf_octants;
    default: return contents.particles;
  }
}

// Sum of the weights by level, including all finer levels if `onwards`.
std::vector<double> sums_of(const BlockCounts& weights, bool onwards) {
  std::vector<double> sums;
  for (const auto& blocks : weights)
    sums.push_back(std::accumulate(blocks.begin(), blocks.end(), 0.0));
  if (onwards) std::partial_sum(sums.rbegin(), sums.rend(), sums.rbegin());
  return sums;
}

void add_part(const PartTimes& part, const BlockContents& contents,
              std::vector<std::vector<double>>& shares) {
  const bool onwards = part.share == Share::particles_onwards;
  const BlockCounts& weights = weights_of(part.share, contents);
  const std::vector<double> sums = sums_of(weights, onwards);
  double per_weight = 0.0;
  for (std::size_t l = 0; l < shares.size(); ++l) {
    const double time = part.nanoseconds[l];
    const bool is_weighed = !sums.empty() && sums[l] > 0.0;
    if (!onwards) per_weight = 0.0;
    if (is_weighed) per_weight += time / sums[l];
    const double per_block = is_weighed ? 0.0 : time / static_cast<double>(shares[l].size());
    for (std::size_t n = 0; n < shares[l].size(); ++n)
      shares[l][n] += per_block + (weights.empty() ? 0.0 : weights[l][n] * per_weight);
  }
}

}  // namespace

PartTimer::PartTimer(double& nanoseconds, bool waits)
    : nanoseconds_(nanoseconds), waits_(waits), begun_(thread_cpu_ns()) {}

PartTimer::~PartTimer() {
  if (waits_) Kokkos::fence();
  nanoseconds_ += static_cast<double>(thread_cpu_ns() - begun_ - mpi_.cpu_ns());
}

std::vector<std::vector<double>> share_out(std::span<const PartTimes> parts,
                                           const BlockContents& contents) {
  std::vector<std::vector<double>> shares;
  for (const auto& blocks : contents.leaf_octants) shares.emplace_back(blocks.size(), 0.0);
  for (const PartTimes& part : parts) add_part(part, contents, shares);
  return shares;
}

}  // namespace octant
