// The GPUs that kernels run on, and which is whose. Where kernels run on cores, there are none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/communicator.hpp"

namespace octant {

// Why kernels have nowhere to run, and what to do: no driver, one too old, no GPU, or none of the
// kind that they were compiled for. Empty where they have.
std::string why_no_device();

// Which of so many GPUs belongs to the so-manieth rank of a node: ranks that are more than those
// take turns.
constexpr int device_of(int rank_of_node, int devices) {
  return devices > 0 ? rank_of_node % devices : 0;
}
// The same of the GPUs that a process sees. Nothing where Kokkos shall choose.
std::optional<int> device_of(int rank_of_node);

// The GPUs that the ranks of a node have taken, which are alike.
struct Devices {
  int count = 0;
  std::string name;
  std::int64_t bytes_of_each = 0;

  double bytes() const { return static_cast<double>(count) * static_cast<double>(bytes_of_each); }
};
// After Kokkos has begun. Collective over the node.
Devices devices_of(const Communicator& node);

}  // namespace octant
