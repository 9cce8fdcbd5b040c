#include "comm/joint_sums.hpp"

#include <utility>

namespace octant {

void JointSums::add(std::span<const ReproducibleSum> sums, std::span<const std::int64_t> counts,
                    Action action) {
  sums_.insert(sums_.end(), sums.begin(), sums.end());
  counts_.insert(counts_.end(), counts.begin(), counts.end());
  parts_.push_back({sums.size(), counts.size(), std::move(action)});
}

void JointSums::reduce() {
  std::vector<ReproducibleSum> sums = std::exchange(sums_, {});
  std::vector<std::int64_t> counts = std::exchange(counts_, {});
  if (!sums.empty() || !counts.empty())
    reproducible_sum(communicator_, std::span(sums), std::span(counts));
  std::span<const ReproducibleSum> next_sums(sums);
  std::span<const std::int64_t> next_counts(counts);
  for (const Part& part : std::exchange(parts_, {})) {
    part.action(next_sums.first(part.sums), next_counts.first(part.counts));
    next_sums = next_sums.subspan(part.sums);
    next_counts = next_counts.subspan(part.counts);
  }
}

}  // namespace octant
