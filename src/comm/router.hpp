// Sends items to ranks that do not expect them, many times over.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "comm/route.hpp"

namespace octant {

// Routes in buffers that stay: fresh memory costs a system more than the copies that fill it.
class Router {
 public:
  explicit Router(const Communicator& communicator);
  ~Router();

  // As route_bytes(). What it gives stays until the next call, and may be moved away.
  Routed<std::byte>& route(std::span<const int> destinations, std::span<const std::byte> items,
                           std::size_t item_bytes);

 private:
  struct Buffers;

  Communicator communicator_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace octant
