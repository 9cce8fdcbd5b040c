// What the recorder needs of the run's other ranks, as functions: who has a communicator makes
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace octant::telemetry {

// What must be added to Observer::now() to get rank 0's time, and by how much that may be wrong on
// any rank.
struct Alignment {
  std::int64_t offset_ns = 0, error_ns = 0;
};

// All functions are collective over the run; `gather` over the ranks of the node.
struct Ranks {
  int rank = 0, size = 1;
  int node = 0, ranks_per_node = 1;
  bool writes = true;  // for its node
  // Everybody's bytes, one after the other, on the rank that writes; nothing on the others.
  std::function<std::vector<std::byte>(std::span<const std::byte>)> gather;
  // Runs a step that may fail on some ranks: then all ranks throw.
  std::function<void(const std::function<void()>&)> agree;
  std::function<double(double)> max;
  std::function<void(std::string&)> broadcast;  // from rank 0
  std::function<Alignment()> align_clocks;
};

// One rank alone.
Ranks alone();

}  // namespace octant::telemetry
