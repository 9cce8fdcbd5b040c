#include "comm/message_log.hpp"

#include "comm/mpi_layer.hpp"

namespace octant {

void MessageLog::begin() {
  kept_ = Observer::current() != nullptr;
  messages_.clear();
  if (kept_) started_ = still_since_ = Observer::now();
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

void MessageLog::stand_still() {
  if (kept_) still_since_ = Observer::now();
}

void MessageLog::done(std::size_t number) {
  if (!kept_) return;
  MessageReport& message = messages_[number];
  message.done_ns = Observer::now();
  message.waited_ns = message.done_ns - still_since_;
  still_since_ = message.done_ns;
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

}  // namespace octant
