// Shared memory of the ranks of a node.
#pragma once

#include <cstddef>
#include <memory>

#include "comm/communicator.hpp"

namespace octant {

// Arrays in the shared memory of a node, one for each rank.
class SharedMemory {
 public:
  // Returns true if all ranks are on one node and the program was built with MPI. Collective.
  static bool is_possible(const Communicator& ranks);

  // Allocates `count` zeroed doubles for every rank, aligned to a cache line. Collective. Throws
  // RunError, on all ranks, if the ranks are on several nodes or the node lacks memory.
  SharedMemory(const Communicator& ranks, std::size_t count);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Returns the doubles of a rank, at their address in this process.
  double* of(int rank) const;
  // Number of doubles per rank.
  std::size_t count() const;

  // Barrier with memory synchronisation. Collective.
  void synchronise() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant
