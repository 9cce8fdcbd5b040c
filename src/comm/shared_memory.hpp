// Memory that all ranks of a node can reach: what one writes, another reads where it lies.
#pragma once

#include <cstddef>
#include <memory>

#include "comm/communicator.hpp"

namespace octant {

class SharedMemory {
 public:
  // Whether all these ranks are on one node, and the program was built with MPI. Collective.
  static bool is_possible(const Communicator& ranks);

  // `count` doubles for every rank, zeros, from the beginning of a cache line on. Collective.
  // Throws RunError, on all ranks, if the ranks do not share their memory or the node has not
  // enough of it.
  SharedMemory(const Communicator& ranks, std::size_t count);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Those of a rank, as this process sees them.
  double* of(int rank) const;
  std::size_t count() const;

  // Nobody goes on before all have come; what was written before is seen after. Collective.
  void synchronise() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant
