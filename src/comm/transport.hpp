// How a backend moves the items of a flow. Internal to comm/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/comm_options.hpp"
#include "comm/drain_queue.hpp"
#include "comm/flow.hpp"
#include "comm/message_log.hpp"

namespace octant {

// What one exchange sends from this rank to others.
struct Traffic {
  std::int64_t messages = 0, partners = 0, bytes = 0;
};

// One exchange at a time: start, progress as often as wanted, receive, and finish_sends or
// leave_sends. What the rank sends to itself is moved by forwarding alone. The flow has been
// prepared for the backend; it and the buffers stay until then. `log` hears of every message.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Traffic start(const Flow& flow, const std::byte* send, std::byte* receive,
                        std::size_t item_bytes, MessageLog& log) = 0;
  virtual void progress() = 0;
  // Waits until the receive buffer is filled.
  virtual void receive(MessageLog& log) = 0;
  // Waits until the send buffer is free, or leaves what has not gone to the queue. A backend that
  // does not send from the caller's buffer after receive() has nothing to do.
  virtual void finish_sends(MessageLog&) {}
  virtual void leave_sends(DrainQueue&) {}
};

std::unique_ptr<Transport> make_transport(Backend backend, int tag);

}  // namespace octant
