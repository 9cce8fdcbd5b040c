// Who exchanges how much with whom. What moves the items is an Exchanger (exchanger.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.hpp"

namespace octant {

// Items to, or from, one rank. The own rank is allowed: a local copy.
struct Segment {
  int rank;
  std::int64_t count;

  bool operator==(const Segment&) const = default;
};

// Adds items for the rank of the last segment, or for the next rank.
inline void count_items(std::vector<Segment>& segments, int rank, std::int64_t count = 1) {
  if (segments.empty() || segments.back().rank != rank) segments.push_back({rank, 0});
  segments.back().count += count;
}

// forward: from the send segments to the receive segments. reverse: back again, so that what was
// received can be added up where it came from (the caller's unpacking adds; the plan only moves).
enum class Direction { forward, reverse };

class Flow;

// The segments of this rank, each list by ascending rank. The send buffer holds the send segments
// one after the other, the receive buffer likewise. A plan fits any type and number of values per
// item, serves any number of exchanges, and must outlive those under way. All ranks make and
// destroy their plans in the same order. Memory: proportional to this rank's partners (k-section:
// to the segments that it forwards).
class ExchangePlan {
 public:
  // Local. The ranks' segments must match: what a rank sends to another is what that one receives.
  ExchangePlan(const Communicator& communicator, std::vector<Segment> sends,
               std::vector<Segment> receives);
  // Finds the receive segments from everybody's send segments. Collective.
  static ExchangePlan from_sends(const Communicator& communicator, std::vector<Segment> sends);

  ~ExchangePlan();
  ExchangePlan(ExchangePlan&&) noexcept;
  ExchangePlan& operator=(ExchangePlan&&) noexcept;

  const Communicator& communicator() const;
  const std::vector<Segment>& sends() const;
  const std::vector<Segment>& receives() const;
  std::int64_t items_sent() const;      // length of the send buffer in items
  std::int64_t items_received() const;  // length of the receive buffer in items

  // Throws RunError on every rank unless all ranks' segments match. Collective; for tests.
  void check() const;

  const Flow& flow(Direction direction) const;  // for comm/

 private:
  std::unique_ptr<Flow> forward_;
  mutable std::unique_ptr<Flow> reverse_;  // made when first asked for
};

}  // namespace octant
