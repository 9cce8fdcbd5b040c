// What a rank sent and received in a step, and for whom it waited.
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "core/observer.hpp"
#include "telemetry/measured_rows.hpp"

namespace octant::telemetry {

class MessageTable {
 public:
  // Adds a message; returns its number among those of this component, level, peer and direction
  // since the run began: the same at both ends. -1 without a peer.
  std::int64_t add(std::int32_t component, int level, const MessageReport& message);

  // Calls take(row) for every component, peer and direction of the step, with step and rank unset;
  // then forgets them.
  template <class Take>
  void take_rows(const Take& take) {
    for (const auto& [key, row] : rows_) take(row);
    rows_.clear();
  }

 private:
  struct Key {
    std::int32_t component, peer;
    bool received;
    auto operator<=>(const Key&) const = default;
  };
  struct Channel {
    Key key;
    int level;
    auto operator<=>(const Channel&) const = default;
  };
  std::map<Key, MessageRow> rows_;
  std::map<Channel, std::int64_t> counts_;
};

}  // namespace octant::telemetry
