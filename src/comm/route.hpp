// Sends items to ranks that do not expect them: for plan construction, migration, directories.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"

namespace octant {

// Received items and the rank that sent each: by ascending source, then in the order of sending.
template <class T>
struct Routed {
  std::vector<T> items;
  std::vector<int> sources;
};

// Delivers `item_bytes` bytes per destination, as route().
Routed<std::byte> route_bytes(const Communicator& communicator, std::span<const int> destinations,
                              std::span<const std::byte> items, std::size_t item_bytes);

// Delivers items[n] to rank destinations[n], which may be this rank. Collective; ranks may send
// nothing. Items are forwarded through the rank tree, so that a rank sends 2 sum(k_l - 1) messages
// (sizes, then items) and holds nothing per rank of the run. Throws RunError on all ranks if a
// destination does not exist.
template <Copyable T>
Routed<T> route(const Communicator& communicator, std::span<const int> destinations,
                std::span<const T> items) {
  auto bytes = route_bytes(communicator, destinations, std::as_bytes(items), sizeof(T));
  return {items_of<T>(bytes.items), std::move(bytes.sources)};
}

}  // namespace octant
