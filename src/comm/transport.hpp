// How a backend moves the items of a flow. Internal to comm/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/flow.hpp"
#include "comm/message_log.hpp"
#include "comm/options.hpp"

namespace octant {

// What one exchange sends from this rank to others.
struct Traffic {
  std::int64_t messages = 0, partners = 0, bytes = 0;
};

// One exchange at a time: start, progress as often as wanted, finish. The flow has been prepared
// for the backend; it and the buffers stay until finish. `log` hears of every message.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Traffic start(const Flow& flow, const std::byte* send, std::byte* receive,
                        std::size_t item_bytes, MessageLog& log) = 0;
  virtual void progress() = 0;
  virtual void finish(MessageLog& log) = 0;
};

std::unique_ptr<Transport> make_transport(Backend backend, int tag);

}  // namespace octant
