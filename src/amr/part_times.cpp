#include "amr/part_times.hpp"

#include <algorithm>
#include <numeric>

#include <Kokkos_Core.hpp>

#include "core/clock.hpp"
#include "core/observer.hpp"

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

// Sum of the values by level.
template <class Value>
std::vector<double> sums_of(const ByBlock<Value>& values) {
  std::vector<double> sums;
  for (const auto& blocks : values)
    sums.push_back(std::accumulate(blocks.begin(), blocks.end(), 0.0));
  return sums;
}

// Adds the times of a part by level to the blocks, in proportion to the weights of `share`.
void add_by_weight(Share share, const std::vector<double>& times, const BlockContents& contents,
                   ByBlock<double>& shares) {
  const bool onwards = share == Share::particles_onwards;
  const BlockCounts& weights = weights_of(share, contents);
  std::vector<double> sums = sums_of(weights);
  if (onwards) std::partial_sum(sums.rbegin(), sums.rend(), sums.rbegin());
  double per_weight = 0.0;
  for (std::size_t l = 0; l < shares.size(); ++l) {
    const bool is_weighed = !sums.empty() && sums[l] > 0.0;
    if (!onwards) per_weight = 0.0;
    if (is_weighed) per_weight += times[l] / sums[l];
    const double per_block = is_weighed ? 0.0 : times[l] / static_cast<double>(shares[l].size());
    for (std::size_t n = 0; n < shares[l].size(); ++n)
      shares[l][n] += per_block + (weights.empty() ? 0.0 : weights[l][n] * per_weight);
  }
}

// Factor that limits the counted time of a level to the processor time.
double scale_of(double counted, double time) { return counted > time ? time / counted : 1.0; }

}  // namespace

double PartTimes::total() const { return std::accumulate(cpu_ns.begin(), cpu_ns.end(), 0.0); }

PartTimer::PartTimer(PartTimes& part, int level, bool waits)
    : part_(part), level_(level), waits_(waits), cpu_(thread_cpu_ns()), wall_(Observer::now()) {}

PartTimer::~PartTimer() {
  if (waits_) Kokkos::fence();
  const std::int64_t cpu = thread_cpu_ns() - cpu_ - mpi_.cpu_ns() - left_out_;
  part_.cpu_ns[level_] += static_cast<double>(cpu);
  part_.wall_ns += static_cast<double>(Observer::now() - wall_ - mpi_.wall_ns() - left_out_);
}

// A part that covers several levels counts cycles on all of them, but its time is recorded for the
// coarsest one: only totals over levels are comparable.
ByBlock<double> distribute_time(const PartTimes& part, const BlockContents& contents) {
  ByBlock<double> shares;
  for (const auto& blocks : contents.leaf_octants) shares.emplace_back(blocks.size(), 0.0);
  std::vector<double> counted = sums_of(part.counted), rest = part.cpu_ns;
  counted.resize(shares.size(), 0.0);
  const double total = part.total(), all = std::accumulate(counted.begin(), counted.end(), 0.0);
  const bool onwards = part.kind.share == Share::particles_onwards;
  for (std::size_t l = 0; l < shares.size(); ++l) {
    const double scale = onwards ? scale_of(all, total) : scale_of(counted[l], rest[l]);
    if (onwards) rest[l] *= total > 0.0 ? std::max(0.0, 1.0 - all / total) : 0.0;
    else rest[l] = std::max(0.0, rest[l] - counted[l]);
    if (counted[l] == 0.0) continue;
    for (std::size_t n = 0; n < shares[l].size(); ++n) shares[l][n] = scale * part.counted[l][n];
  }
  add_by_weight(part.kind.share, rest, contents, shares);
  return shares;
}

}  // namespace octant
