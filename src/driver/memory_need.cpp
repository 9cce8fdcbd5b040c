#include "driver/memory_need.hpp"

#include <Kokkos_Core.hpp>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace octant::driver {

namespace {

// Whether fields lie in the memory of the node, not in that of a device.
constexpr bool k_fields_are_in_host_memory =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                               Kokkos::DefaultExecutionSpace::memory_space>::accessible;

}  // namespace

void require_memory(const Communicator& communicator, double rank_bytes, const std::string& what,
                    const std::string& smaller) {
  if (!k_fields_are_in_host_memory) return;
  constexpr double k_gigabyte = 1e9;
  const Communicator node = communicator.split_by_node();
  const auto megabytes = static_cast<std::int64_t>(1e-6 * rank_bytes);
  const double needed = 1e6 * static_cast<double>(node.sum(megabytes));
  const auto there = static_cast<double>(memory_limit());
  communicator.agree([&] {
    if (needed <= there) return;
    throw InputError(
        "not enough memory: {} needs {:.4g} GB on a node of {} rank(s), and there are {:.4g} GB; "
        "use more nodes, or a smaller {}",
        what, needed / k_gigabyte, node.size(), there / k_gigabyte, smaller);
  });
}

}  // namespace octant::driver
