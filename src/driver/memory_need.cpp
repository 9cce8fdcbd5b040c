#include "driver/memory_need.hpp"

#include <fmt/format.h>

#include "comm/devices.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/memory_account.hpp"

namespace octant::driver {

MemoryUse scarce_memory_use() {
  const MemoryUse device = device_memory_use();
  return device.peak > 0 ? device : memory_use();
}

void require_memory(const Communicator& communicator, double rank_bytes, const std::string& what,
                    const std::string& smaller) {
  constexpr double k_gigabyte = 1e9;
  const Communicator node = communicator.split_by_node();
  const auto megabytes = static_cast<std::int64_t>(1e-6 * rank_bytes);
  const double needed = 1e6 * static_cast<double>(node.sum(megabytes));
  const Devices devices = devices_of(node);
  const double there = devices.count > 0 ? devices.bytes() : static_cast<double>(memory_limit());
  communicator.agree([&] {
    if (needed <= there) return;
    throw InputError(
        "not enough memory: {} needs {:.4g} GB on a node of {} rank(s), and there are {:.4g} GB{}; "
        "use more nodes, or a smaller {}",
        what, needed / k_gigabyte, node.size(), there / k_gigabyte,
        devices.count > 0 ? fmt::format(" on {} GPU(s)", devices.count) : "", smaller);
  });
}

}  // namespace octant::driver
