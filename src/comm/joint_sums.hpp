// Sums over all ranks that several parts of a simulation need at the same time, in one reduction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/reproducible_sum.hpp"

namespace octant {

// Terms of this rank, and what each part does with their totals. A part adds its terms in one call;
// one reduction then serves all parts.
class JointSums {
 public:
  // Receives the totals over all ranks, in the order of the added terms.
  using Action = std::function<void(std::span<const ReproducibleSum> sums,
                                    std::span<const std::int64_t> counts)>;

  explicit JointSums(const Communicator& communicator) : communicator_(communicator) {}

  // Adds terms of this rank. All ranks add equally many terms in the same order. Local.
  void add(std::span<const ReproducibleSum> sums, std::span<const std::int64_t> counts,
           Action action);

  // Sums the added terms over all ranks and calls the actions in the order of add(). Actions may
  // communicate. Collective: one reduction, or none without terms.
  void reduce();

 private:
  struct Part {
    std::size_t sums, counts;  // number of terms
    Action action;
  };

  Communicator communicator_;
  std::vector<ReproducibleSum> sums_;
  std::vector<std::int64_t> counts_;
  std::vector<Part> parts_;
};

}  // namespace octant
