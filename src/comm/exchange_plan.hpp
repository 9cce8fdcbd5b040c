// Communication pattern: partners and amounts. An Exchanger (exchanger.hpp) moves the items.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.hpp"

namespace octant {

// Number of items sent to, or received from, one rank; for the rank itself, a local copy.
struct Segment {
  int rank;
  std::int64_t count;

  bool operator==(const Segment&) const = default;
};

// Adds items for a rank to the last segment, or to a new one if that is of another rank.
inline void count_items(std::vector<Segment>& segments, int rank, std::int64_t count = 1) {
  if (segments.empty() || segments.back().rank != rank) segments.push_back({rank, 0});
  segments.back().count += count;
}

// Direction of an exchange: forward, from send segments to receive segments; or reverse, for
// example to add received contributions at their origin (the plan only moves data; the caller
// adds).
enum class Direction { forward, reverse };

class DirectedPlan;

// Segments of this rank, each list by ascending rank. The send buffer contains the send segments
// one after the other, and the receive buffer the receive segments. A plan works for any type and
// number of values per item and for any number of exchanges, and must outlive them. All ranks
// create and destroy their plans in the same order. Memory: proportional to this rank's partners
// (k-section: to the segments that it forwards).
class ExchangePlan {
 public:
  // Local. Segments must match: each rank receives exactly what its partners send.
  ExchangePlan(const Communicator& communicator, std::vector<Segment> sends,
               std::vector<Segment> receives);
  // Determines the receive segments from the send segments of all ranks. Collective.
  static ExchangePlan from_sends(const Communicator& communicator, std::vector<Segment> sends);

  ~ExchangePlan();
  ExchangePlan(ExchangePlan&&) noexcept;
  ExchangePlan& operator=(ExchangePlan&&) noexcept;

  // Communicator of the plan.
  const Communicator& communicator() const;
  // Partners and numbers of items that this rank sends, in the order of the send buffer.
  const std::vector<Segment>& sends() const;
  // Partners and numbers of items that this rank receives, in the order of the receive buffer.
  const std::vector<Segment>& receives() const;
  std::int64_t items_sent() const;      // length of the send buffer in items
  std::int64_t items_received() const;  // length of the receive buffer in items

  // Throws RunError on every rank unless all ranks' segments match. Collective; for tests.
  void check() const;

  const DirectedPlan& flow(Direction direction) const;  // data of one direction, for comm/ only

 private:
  std::unique_ptr<DirectedPlan> forward_;
  mutable std::unique_ptr<DirectedPlan> reverse_;  // created at the first use
};

}  // namespace octant
