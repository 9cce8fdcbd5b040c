#include "comm/transport.hpp"

#include <span>
#include <vector>

namespace octant {

namespace {

std::vector<mpi::Part> in_bytes(const std::vector<RemoteSegment>& segments,
                                std::size_t item_bytes) {
  std::vector<mpi::Part> parts;
  parts.reserve(segments.size());
  for (const RemoteSegment& segment : segments) {
    parts.push_back({segment.rank, static_cast<std::size_t>(segment.begin) * item_bytes,
                     static_cast<std::size_t>(segment.count) * item_bytes});
  }
  return parts;
}

Traffic traffic_of(const std::vector<mpi::Part>& sends) {
  const auto partners = static_cast<std::int64_t>(sends.size());
  Traffic traffic{partners, partners, 0};
  for (const mpi::Part& part : sends) traffic.bytes += static_cast<std::int64_t>(part.bytes);
  return traffic;
}

// Waits for requests of which the first one has the number `first` in the log.
void wait(mpi::Requests& requests, std::size_t first, MessageLog& log) {
  if (!log.is_kept()) return requests.wait();
  log.stand_still();
  requests.wait([&](std::size_t n) { log.done(first + n); });
}

// A message per partner (section 3.1.2 of the cuRAMSES paper).
class PointToPoint final : public Transport {
 public:
  explicit PointToPoint(int tag) : tag_(tag) {}

  // The log numbers arrivals first, then departures.
  Traffic start(const Flow& flow, const std::byte* send, std::byte* receive, std::size_t item_bytes,
                MessageLog& log) override {
    const mpi::Comm& comm = flow.communicator().handle();
    const auto receives = in_bytes(flow.remote_receives(), item_bytes);
    for (const auto& part : receives) {
      log.post(flow.communicator(), part.rank, true, part.bytes);
      arrivals_.receive(comm, {receive + part.offset, part.bytes}, part.rank, tag_);
    }
    first_departure_ = receives.size();
    send_ = send;
    const auto sends = in_bytes(flow.remote_sends(), item_bytes);
    for (const auto& part : sends) {
      log.post(flow.communicator(), part.rank, false, part.bytes);
      departures_.send(comm, {send + part.offset, part.bytes}, part.rank, tag_);
    }
    return traffic_of(sends);
  }
  void progress() override { arrivals_.test(); }
  void receive(MessageLog& log) override { wait(arrivals_, 0, log); }
  void finish_sends(MessageLog& log) override { wait(departures_, first_departure_, log); }
  void leave_sends(DrainQueue& queue) override { queue.add(send_, departures_); }

 private:
  int tag_;
  mpi::Requests arrivals_, departures_;
  std::size_t first_departure_ = 0;  // in the log
  const std::byte* send_ = nullptr;
};

// One all-to-all (section 3.1.1): leaves the schedule of the messages to the MPI library, and is
// complete only as a whole. Its arguments are arrays over all ranks: `auto` takes it in small runs
// alone.
class AllToAll final : public Transport {
 public:
  Traffic start(const Flow& flow, const std::byte* send, std::byte* receive, std::size_t item_bytes,
                MessageLog& log) override {
    const auto sends = in_bytes(flow.remote_sends(), item_bytes);
    const auto receives = in_bytes(flow.remote_receives(), item_bytes);
    for (const auto& part : receives) log.post(flow.communicator(), part.rank, true, part.bytes);
    for (const auto& part : sends) log.post(flow.communicator(), part.rank, false, part.bytes);
    whole_ = log.post(flow.communicator(), -1, true, 0);
    request_.all_to_all(flow.communicator().handle(), send, sends, receive, receives);
    return traffic_of(sends);
  }
  void progress() override { request_.test(); }
  void receive(MessageLog& log) override {
    log.stand_still();
    request_.wait();
    log.done(whole_);
  }

 private:
  mpi::Requests request_;
  std::size_t whole_ = 0;  // stands for all messages in the log: whose came last is not known
};

// Forwarding through the rank tree (section 3.1.3), from a buffer of its own.
class KSection final : public Transport {
 public:
  explicit KSection(int tag) : forwarder_(tag) {}

  Traffic start(const Flow& flow, const std::byte* send, std::byte* receive, std::size_t item_bytes,
                MessageLog& log) override {
    const ForwardingSchedule& schedule = flow.schedule();
    forwarder_.start(flow.communicator(), schedule, send, receive, item_bytes, log);
    Traffic traffic;
    for (const auto& stage : schedule.stages())
      traffic.messages += static_cast<std::int64_t>(stage.sends.size());
    traffic.partners = traffic.messages;
    traffic.bytes = schedule.outgoing_items() * static_cast<std::int64_t>(item_bytes);
    return traffic;
  }
  void progress() override { forwarder_.progress(); }
  void receive(MessageLog&) override { forwarder_.finish(); }

 private:
  Forwarder forwarder_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(Backend backend, int tag) {
  switch (backend) {
    case Backend::p2p: return std::make_unique<PointToPoint>(tag);
    case Backend::alltoall: return std::make_unique<AllToAll>();
    case Backend::ksection: return std::make_unique<KSection>(tag);
  }
  return nullptr;
}

}  // namespace octant
