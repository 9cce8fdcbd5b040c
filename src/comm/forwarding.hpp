// The hierarchical k-section exchange (cuRAMSES paper, section 3.1.3). Internal to comm/.
//
// At each level of the rank tree, a rank sends one message to its partner in every sibling of its
// child of the tree: all that it holds for the ranks of that sibling, be it its own or received
// before. After the last level each rank holds what is meant for it. Every rank sends as many
// messages as the tree says, sum(k_l - 1), empty ones included, whatever the pattern of the
// exchange. The paper pairs the siblings in k - 1 steps; the messages of one level do not depend on
// each other, so here all of them are under way at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/drain_queue.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/message_log.hpp"

namespace octant {

// Which contiguous runs of items go into which message, worked out once for a set of send segments.
// Positions and counts are in items. Stages write their messages into one outgoing buffer, and
// receive theirs into one transit buffer.
class ForwardingSchedule {
 public:
  struct Copy {
    std::int64_t from, to, count;
  };
  struct Message {
    int partner;
    std::int64_t begin, count;
  };
  struct Stage {
    std::vector<Copy> from_own, from_transit;  // into the outgoing buffer
    std::vector<Message> sends, receives;
  };

  // Ranks tell each other along the tree what they will send. Collective.
  ForwardingSchedule(const Communicator& communicator, std::span<const Segment> sends);

  const std::vector<Stage>& stages() const { return stages_; }
  // What the last stage leaves to do: copies into the caller's receive buffer.
  const std::vector<Copy>& delivered_own() const { return delivered_own_; }
  const std::vector<Copy>& delivered_transit() const { return delivered_transit_; }
  // Who sends to this rank: the segments of the receive buffer, none empty.
  const std::vector<Segment>& receives() const { return receives_; }

  std::int64_t outgoing_items() const { return outgoing_items_; }
  std::int64_t transit_items() const { return transit_items_; }

 private:
  std::vector<Stage> stages_;
  std::vector<Copy> delivered_own_, delivered_transit_;
  std::vector<Segment> receives_;
  std::int64_t outgoing_items_ = 0, transit_items_ = 0;
};

// Carries out a schedule. The buffers are kept from one exchange to the next; what has not left
// them when an exchange ends does so until the next one starts.
class Forwarder {
 public:
  explicit Forwarder(int tag) : tag_(tag) {}

  // The schedule, the caller's buffers and the log must stay until finish.
  void start(const Communicator& communicator, const ForwardingSchedule& schedule,
             const std::byte* send, std::byte* receive, std::size_t item_bytes, MessageLog& log);
  void progress();
  void finish();

 private:
  void copy(std::span<const ForwardingSchedule::Copy> copies, const std::byte* from,
            std::byte* to) const;
  void send_stage();
  void wait_for_stage();

  int tag_;
  std::vector<std::byte> outgoing_, transit_;
  std::vector<mpi::Requests> arrivals_;  // by stage
  mpi::Requests departures_;
  DrainQueue draining_;
  std::vector<std::vector<std::size_t>> arrival_numbers_;  // by stage: in the log

  // The exchange under way.
  MessageLog* log_ = nullptr;
  const Communicator* communicator_ = nullptr;
  const ForwardingSchedule* schedule_ = nullptr;
  const std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
  std::size_t item_bytes_ = 0;
  std::size_t stage_ = 0;  // whose messages are under way
};

}  // namespace octant
