// Messages of an exchange, and the ways in which backends move them. Internal to comm/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "comm/comm_options.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/mpi_layer.hpp"
#include "core/observer.hpp"

namespace octant {

// Records the messages of an exchange and this rank's waiting time for each, for the observer of
// the run. Does nothing in a run without observer.
class MessageLog {
 public:
  // Begins an exchange.
  void begin();
  // Records a posted message; returns its index. `peer` is a rank of `communicator`; < 0: unknown.
  std::size_t post(const Communicator& communicator, int peer, bool received, std::size_t bytes);
  // Starts the waiting time of the next completed message.
  void start_waiting();
  // Records the completion of the message with this index.
  void done(std::size_t number);
  // Records the completion of all remaining messages, without waiting times.
  void all_done();
  // Ends the exchange and reports to the observer.
  void report(std::string_view component, int level);

  // True if messages are recorded.
  bool is_kept() const { return kept_; }

 private:
  bool kept_ = false;
  std::int64_t started_ = 0, waiting_since_ = 0;
  std::vector<MessageReport> messages_;
};

// Pending sends of exchanges that have ended.
class PendingSends {
 public:
  PendingSends() = default;
  // Waits for the sends, except after an error: the other ranks may then never receive them.
  ~PendingSends();
  PendingSends(const PendingSends&) = delete;
  PendingSends& operator=(const PendingSends&) = delete;

  // Takes the pending sends from `buffer`; `requests` is empty afterwards. Does not wait.
  void add(const void* buffer, mpi::Requests& requests);
  // Returns true if no send from the buffer is pending. Does not wait.
  bool is_free(const void* buffer);
  // Waits until no send is pending from any buffer.
  void wait();

 private:
  struct Departure {
    const void* buffer;
    mpi::Requests requests;
  };
  std::vector<Departure> departures_;
};

// The hierarchical k-section exchange (cuRAMSES paper, section 3.1.3).
//
// At each level of the rank tree, a rank sends one message to its partner in every sibling of its
// child of the tree: all items for the ranks of that sibling, own and forwarded ones. After the
// last level each rank has the items sent to it. Every rank sends sum(k_l - 1) messages, including
// empty ones, for any communication pattern. The paper pairs the siblings in k - 1 steps; messages
// of one level are independent, so here they are all active at once.
//
// Messages of a k-section exchange as contiguous ranges of items, computed once for a set of send
// segments. Positions and counts are in items. Stages write their messages into one outgoing
// buffer, and receive into one transit buffer.
class ForwardingSchedule {
 public:
  // Copy of `count` items between positions of buffers.
  struct Copy {
    std::int64_t from, to, count;
  };
  // Message to, or from, a rank.
  struct Message {
    int partner;
    std::int64_t begin, count;
  };
  // Messages of one level of the tree.
  struct Stage {
    std::vector<Copy> from_own, from_transit;  // into the outgoing buffer
    std::vector<Message> sends, receives;
  };

  // Exchanges the sizes along the tree, and `flags`, whose bitwise or over all ranks is flags().
  // Collective.
  ForwardingSchedule(const Communicator& communicator, std::span<const Segment> sends,
                     std::int64_t flags = 0);

  // Stages, from the root of the tree on.
  const std::vector<Stage>& stages() const { return stages_; }
  // Copies from the caller's send buffer to its receive buffer after the last stage.
  const std::vector<Copy>& final_copies_from_own() const { return final_copies_from_own_; }
  // Copies from the transit buffer to the receive buffer after the last stage.
  const std::vector<Copy>& final_copies_from_transit() const { return final_copies_from_transit_; }
  // Segments of the receive buffer, none empty.
  const std::vector<Segment>& receives() const { return receives_; }
  // Bitwise or of the flags of all ranks.
  std::int64_t flags() const { return flags_; }

  // Length of the outgoing buffer in items.
  std::int64_t outgoing_items() const { return outgoing_items_; }
  // Length of the transit buffer in items.
  std::int64_t transit_items() const { return transit_items_; }

 private:
  std::vector<Stage> stages_;
  std::vector<Copy> final_copies_from_own_, final_copies_from_transit_;
  std::vector<Segment> receives_;
  std::int64_t flags_;
  std::int64_t outgoing_items_ = 0, transit_items_ = 0;
};

// Execution of a schedule. Buffers are reused by successive exchanges; pending sends complete
// before the next exchange starts.
class Forwarder {
 public:
  explicit Forwarder(int tag) : tag_(tag) {}

  // The schedule, the caller's buffers and the log must remain valid until finish.
  void start(const Communicator& communicator, const ForwardingSchedule& schedule,
             const std::byte* send, std::byte* receive, std::size_t item_bytes, MessageLog& log);
  // Advances the exchange without waiting.
  void progress();
  // Completes the exchange.
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
  PendingSends draining_;
  std::vector<std::vector<std::size_t>> arrival_numbers_;  // by stage: numbers in the log

  // State of the current exchange.
  MessageLog* log_ = nullptr;
  const Communicator* communicator_ = nullptr;
  const ForwardingSchedule* schedule_ = nullptr;
  const std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
  std::size_t item_bytes_ = 0;
  std::size_t stage_ = 0;  // current stage, whose messages are active
};

// Non-empty segment of another rank and its position in the buffer, in items.
struct RemoteSegment {
  int rank;
  std::int64_t begin, count;
};

// Segment that a rank sends to itself: offsets in the send and receive buffers, in items.
struct OwnSegment {
  std::int64_t send_begin = 0, receive_begin = 0, count = 0;
};

// One direction of an exchange plan, with the data of each backend.
class DirectedPlan {
 public:
  // Throws RunError unless ranks exist and ascend, counts are not negative, and the own rank sends
  // as much to itself as it receives.
  DirectedPlan(const Communicator& communicator, std::vector<Segment> sends,
               std::vector<Segment> receives);

  // Communicator of the plan.
  const Communicator& communicator() const { return communicator_; }
  // Send segments by ascending rank.
  const std::vector<Segment>& sends() const { return sends_; }
  // Receive segments by ascending rank.
  const std::vector<Segment>& receives() const { return receives_; }
  // Non-empty send segments to other ranks.
  const std::vector<RemoteSegment>& remote_sends() const { return remote_sends_; }
  // Non-empty receive segments from other ranks.
  const std::vector<RemoteSegment>& remote_receives() const { return remote_receives_; }
  // Segment that this rank sends to itself.
  const OwnSegment& own() const { return own_; }
  // Length of the send buffer in items.
  std::int64_t items_sent() const { return items_sent_; }
  // Length of the receive buffer in items.
  std::int64_t items_received() const { return items_received_; }

  // Prepares the data that the backend needs before its first exchange. Collective, on all ranks.
  void prepare(Backend backend) const;

  // schedule of the k-section backend; valid after prepare(ksection)
  const ForwardingSchedule& schedule() const { return *schedule_; }

 private:
  void prepare_schedule() const;

  Communicator communicator_;
  std::vector<Segment> sends_, receives_;
  std::vector<RemoteSegment> remote_sends_, remote_receives_;
  OwnSegment own_;
  std::int64_t items_sent_ = 0, items_received_ = 0;
  mutable std::unique_ptr<const ForwardingSchedule> schedule_;
};

// Amount of data sent from this rank to others in one exchange.
struct Traffic {
  std::int64_t messages = 0, partners = 0, bytes = 0;
};

// Executes one exchange at a time: start, progress any number of times, receive, and finish_sends
// or leave_sends. Only the k-section backend moves data from the rank to itself. `flow` must be
// prepared for the backend; the flow and the buffers must remain valid until the end. All messages
// are recorded in `log`.
class Transport {
 public:
  virtual ~Transport() = default;
  // Starts an exchange. Returns the amount of data that this rank sends.
  virtual Traffic start(const DirectedPlan& flow, const std::byte* send, std::byte* receive,
                        std::size_t item_bytes, MessageLog& log) = 0;
  // Advances the exchange without waiting.
  virtual void progress() = 0;
  // Waits until the receive buffer is filled.
  virtual void receive(MessageLog& log) = 0;
  // Waits until the send buffer is free. Backends that do not send from the caller's buffer after
  // receive() have nothing to do.
  virtual void finish_sends(MessageLog&) {}
  // Moves pending sends to a queue instead of waiting for them.
  virtual void leave_sends(PendingSends&) {}
};

// Creates the transport of a backend, whose messages have this tag.
std::unique_ptr<Transport> make_transport(Backend backend, int tag);

}  // namespace octant
