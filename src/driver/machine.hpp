// Where a run runs: what its log and its telemetry say of the machine.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/devices.hpp"

namespace octant::driver {

// Processors are those of the system, such as a core's hardware threads; only those count that the
// ranks may use. Of several nodes, numbers are of the one where they are scarcest.
struct Machine {
  std::string name{}, processor{};  // of the root's node; empty where the system does not tell
  int ranks_per_node = 1, threads_per_rank = 1;
  int processors = 1;           // of the node
  int processors_per_rank = 1;  // fewer than the node's: ranks are bound
  Devices devices{};            // of the node, where kernels run on GPUs

  bool is_bound() const { return processors_per_rank < processors; }
  // Whether several ranks have one GPU, and take turns.
  bool shares_devices() const { return devices.count > 0 && ranks_per_node > devices.count; }
  // Whether threads outnumber processors, and take turns.
  bool is_crowded() const {
    return ranks_per_node * threads_per_rank > processors || threads_per_rank > processors_per_rank;
  }
  std::string describe() const;
  // What takes turns, and what would be faster: a sentence for each.
  std::vector<std::string> warnings() const;
};

// The same on all ranks. Collective.
Machine machine_of(const Communicator& communicator);

}  // namespace octant::driver
