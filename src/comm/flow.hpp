// One direction of an exchange plan, with what each backend needs to know. Internal to comm/.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/comm_options.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/forwarding.hpp"

namespace octant {

// A non-empty segment of another rank and its place in the buffer, in items.
struct RemoteSegment {
  int rank;
  std::int64_t begin, count;
};

// The own rank's segment: its place in both buffers, in items.
struct OwnSegment {
  std::int64_t send_begin = 0, receive_begin = 0, count = 0;
};

class Flow {
 public:
  // Throws RunError unless ranks exist and ascend, counts are not negative, and the own rank sends
  // as much to itself as it receives.
  Flow(const Communicator& communicator, std::vector<Segment> sends, std::vector<Segment> receives);

  const Communicator& communicator() const { return communicator_; }
  const std::vector<Segment>& sends() const { return sends_; }
  const std::vector<Segment>& receives() const { return receives_; }
  const std::vector<RemoteSegment>& remote_sends() const { return remote_sends_; }
  const std::vector<RemoteSegment>& remote_receives() const { return remote_receives_; }
  const OwnSegment& own() const { return own_; }
  std::int64_t items_sent() const { return items_sent_; }
  std::int64_t items_received() const { return items_received_; }

  // Makes what the backend needs before its first exchange. Collective, also when there is nothing
  // to make on this rank.
  void prepare(Backend backend) const;

  const ForwardingSchedule& schedule() const { return *schedule_; }  // after prepare(ksection)

 private:
  void prepare_schedule() const;

  Communicator communicator_;
  std::vector<Segment> sends_, receives_;
  std::vector<RemoteSegment> remote_sends_, remote_receives_;
  OwnSegment own_;
  std::int64_t items_sent_ = 0, items_received_ = 0;
  mutable std::unique_ptr<const ForwardingSchedule> schedule_;
};

}  // namespace octant
