#include "comm/transport.hpp"

#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "comm/mpi_layer.hpp"

namespace octant {

void MessageLog::begin() {
  kept_ = Observer::current() != nullptr;
  messages_.clear();
  if (kept_) started_ = waiting_since_ = Observer::now();
}

std::size_t MessageLog::post(const Communicator& communicator, int peer, bool received,
                             std::size_t bytes) {
  if (!kept_) return 0;
  messages_.push_back({.peer = peer < 0 ? -1 : mpi::world_rank(communicator.handle(), peer),
                       .received = received,
                       .bytes = static_cast<std::int64_t>(bytes),
                       .started_ns = started_,
                       .posted_ns = Observer::now()});
  return messages_.size() - 1;
}

void MessageLog::start_waiting() {
  if (kept_) waiting_since_ = Observer::now();
}

void MessageLog::done(std::size_t number) {
  if (!kept_) return;
  MessageReport& message = messages_[number];
  message.done_ns = Observer::now();
  message.waited_ns = message.done_ns - waiting_since_;
  waiting_since_ = message.done_ns;
}

void MessageLog::all_done() {
  if (!kept_) return;
  const std::int64_t now = Observer::now();
  for (MessageReport& message : messages_)
    if (message.done_ns == 0) message.done_ns = now;
}

void MessageLog::report(std::string_view component, int level) {
  if (!kept_) return;
  all_done();
  if (Observer* observer = Observer::current()) observer->messages(component, level, messages_);
  kept_ = false;
}

PendingSends::~PendingSends() {
  if (std::uncaught_exceptions() == 0) wait();
}

void PendingSends::add(const void* buffer, mpi::Requests& requests) {
  if (!requests.test()) departures_.push_back({buffer, std::exchange(requests, {})});
}

bool PendingSends::is_free(const void* buffer) {
  bool free = true;
  std::erase_if(departures_, [&](Departure& departure) {
    const bool has_left = departure.requests.test();
    free = free && (has_left || departure.buffer != buffer);
    return has_left;
  });
  return free;
}

void PendingSends::wait() {
  for (Departure& departure : departures_) departure.requests.wait();
  departures_.clear();
}

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

// Waits for requests, the first of which has the number `first` in the log.
void wait(mpi::Requests& requests, std::size_t first, MessageLog& log) {
  if (!log.is_kept()) return requests.wait();
  log.start_waiting();
  requests.wait([&](std::size_t n) { log.done(first + n); });
}

// Point-to-point: one message per partner (section 3.1.2 of the cuRAMSES paper).
class PointToPoint final : public Transport {
 public:
  explicit PointToPoint(int tag) : tag_(tag) {}

  // Indices in the log: receives first, then sends.
  Traffic start(const DirectedPlan& flow, const std::byte* send, std::byte* receive,
                std::size_t item_bytes, MessageLog& log) override {
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
  void leave_sends(PendingSends& queue) override { queue.add(send_, departures_); }

 private:
  int tag_;
  mpi::Requests arrivals_, departures_;
  std::size_t first_departure_ = 0;  // in the log
  const std::byte* send_ = nullptr;
};

// All-to-all (section 3.1.1): the MPI library schedules the messages, and only the completion of
// all of them is known. Arguments are arrays over all ranks, so `auto` uses it in small runs only.
class AllToAll final : public Transport {
 public:
  Traffic start(const DirectedPlan& flow, const std::byte* send, std::byte* receive,
                std::size_t item_bytes, MessageLog& log) override {
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
    log.start_waiting();
    request_.wait();
    log.done(whole_);
  }

 private:
  mpi::Requests request_;
  std::size_t whole_ = 0;  // log entry for all messages, because the last one is unknown
};

// Forwarding through the rank tree (section 3.1.3), from a buffer of its own.
class KSection final : public Transport {
 public:
  explicit KSection(int tag) : forwarder_(tag) {}

  Traffic start(const DirectedPlan& flow, const std::byte* send, std::byte* receive,
                std::size_t item_bytes, MessageLog& log) override {
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
