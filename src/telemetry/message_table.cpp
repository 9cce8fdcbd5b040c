#include "telemetry/message_table.hpp"

namespace octant::telemetry {

std::int64_t MessageTable::add(std::int32_t component, int level, const MessageReport& message) {
  const Key key{component, message.peer, message.received};
  MessageRow& row = rows_[key];
  row.component = component;
  row.peer = message.peer;
  row.received = message.received;
  row.wait_ns += message.waited_ns;
  if (message.peer < 0) return -1;
  row.messages += 1;
  row.bytes += message.bytes;
  row.post_ns += message.posted_ns - message.started_ns;
  return counts_[{key, level}]++;
}

}  // namespace octant::telemetry
