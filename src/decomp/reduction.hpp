// The two collective operations that a partition needs, so that it can be computed and tested for
// any number of ranks in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "comm/communicator.hpp"

namespace octant {

// Replaces each value by its sum, or maximum, over all ranks that hold items. Integers, so that the
// result does not depend on who holds which item.
struct Reduction {
  using Operation = std::function<void(std::span<std::int64_t>)>;
  Operation sum;
  Operation max;
};

// One process holds everything.
inline Reduction reduction_of_one() {
  return {[](std::span<std::int64_t>) {}, [](std::span<std::int64_t>) {}};
}

// Over the ranks of a communicator, which must outlive the reduction.
inline Reduction reduction_over(const Communicator& communicator) {
  return {[&](std::span<std::int64_t> values) { communicator.sum_in_place(values); },
          [&](std::span<std::int64_t> values) { communicator.max_in_place(values); }};
}

}  // namespace octant
