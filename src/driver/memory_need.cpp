#include "driver/memory_need.hpp"

#include <new>
#include <string_view>

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

std::string why_too_little(const NodeMemory& memory, const std::string& what,
                           const std::string& smaller) {
  constexpr double k_gigabyte = 1e9;
  if (memory.needed <= memory.there) return "";
  return fmt::format(
      "not enough memory: {} needs {:.4g} GB on a node of {} rank(s), and there are {:.4g} GB{}; "
      "use more nodes, or a smaller {}",
      what, memory.needed / k_gigabyte, memory.ranks, memory.there / k_gigabyte,
      memory.devices > 0 ? fmt::format(" on {} GPU(s)", memory.devices) : "", smaller);
}

void require_memory(const Communicator& communicator, double rank_bytes, const std::string& what,
                    const std::string& smaller) {
  const Communicator node = communicator.split_by_node();
  const auto megabytes = static_cast<std::int64_t>(1e-6 * rank_bytes);
  const Devices devices = devices_of(node);
  const NodeMemory memory{
      .needed = 1e6 * static_cast<double>(node.sum(megabytes)),
      .there = devices.count > 0 ? devices.bytes() : static_cast<double>(memory_limit()),
      .ranks = node.size(),
      .devices = devices.count};
  communicator.agree([&] {
    const std::string why = why_too_little(memory, what, smaller);
    if (!why.empty()) throw InputError("{}", why);
  });
}

// Kokkos and CUDA have no type for it.
std::optional<std::string> missing_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "";
  const std::string_view words = error.what();
  for (const char* lack : {"space failed to allocate", "ErrorMemoryAllocation", "ErrorOutOfMemory"})
    if (words.find(lack) != std::string_view::npos) return std::string(words);
  return std::nullopt;
}

}  // namespace octant::driver
