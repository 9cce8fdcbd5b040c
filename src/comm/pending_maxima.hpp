// A reduction over all ranks that is under way while they do other work.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace octant {

// Finds, element by element, the largest values of all ranks. Each gives as many; NaN has no place
// here. Other messages and reductions may be begun and ended meanwhile, by all ranks in the same
// order. Throws RunError if MPI fails.
class PendingMaxima {
 public:
  // Begins. Collective.
  PendingMaxima(const Communicator& communicator, std::vector<double> values);
  ~PendingMaxima();
  PendingMaxima(PendingMaxima&&) noexcept;
  PendingMaxima& operator=(PendingMaxima&&) noexcept;

  // What came out, the same on every rank, once all have begun.
  std::span<const double> wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant
