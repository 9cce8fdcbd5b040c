#include "comm/transport.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "comm/communicator.hpp"
#include "comm/rank_tree.hpp"

namespace octant {

namespace {

using Copy = ForwardingSchedule::Copy;
using Message = ForwardingSchedule::Message;
using Stage = ForwardingSchedule::Stage;

// Description of a segment in a message. Segments of a message are sorted by destination and
// source, which keeps those for one child of the next level together.
struct Header {
  int source, destination;
  std::int64_t count;
};

// Position of a segment on this rank.
struct Held {
  Header header;
  std::int64_t begin;
  bool own;  // true if it is in the caller's send buffer, false if it is in the transit buffer
};

bool before(const Held& a, const Held& b) {
  return std::tie(a.header.destination, a.header.source) <
         std::tie(b.header.destination, b.header.source);
}

// Returns the segments for a range of ranks, from all segments in the order of ranks.
std::span<const Held> destined_for(RankRange ranks, std::span<const Held> held) {
  const auto by_destination = [](const Held& h, int rank) { return h.header.destination < rank; };
  const auto begin = std::lower_bound(held.begin(), held.end(), ranks.first, by_destination);
  const auto end = std::lower_bound(begin, held.end(), ranks.end(), by_destination);
  return {begin, end};
}

// Appends a copy, merged with the last one if both ranges continue.
void append(std::vector<Copy>& copies, const Copy& copy) {
  if (!copies.empty()) {
    Copy& last = copies.back();
    if (last.from + last.count == copy.from && last.to + last.count == copy.to) {
      last.count += copy.count;
      return;
    }
  }
  copies.push_back(copy);
}

// Plans consecutive copies of the segments to position `to`; returns the end position.
std::int64_t append_all(std::span<const Held> held, std::int64_t to, std::vector<Copy>& own,
                        std::vector<Copy>& transit) {
  for (const Held& h : held) {
    append(h.own ? own : transit, {h.begin, to, h.header.count});
    to += h.header.count;
  }
  return to;
}

std::vector<Held> own_segments(int rank, std::span<const Segment> sends) {
  std::vector<Held> held;
  std::int64_t begin = 0;
  for (const Segment& segment : sends) {
    if (segment.count > 0) held.push_back({{rank, segment.rank, segment.count}, begin, true});
    begin += segment.count;
  }
  return held;
}

// Headers of a message, after one whose count holds the sender's flags.
std::vector<Header> headers_of(std::int64_t flags, std::span<const Held> held) {
  std::vector<Header> headers{{-1, -1, flags}};
  for (const Held& h : held) headers.push_back(h.header);
  return headers;
}

std::vector<Header> receive_headers(const Communicator& communicator, int partner) {
  return items_of<Header>(
      mpi::receive_any_length(communicator.handle(), partner, mpi::k_setup_tag));
}

void grow(std::vector<std::byte>& buffer, std::size_t bytes) {
  if (buffer.size() < bytes) buffer.resize(bytes);
}

}  // namespace

// Flags reach all ranks: at each level, a rank of every child receives those of every sibling.
ForwardingSchedule::ForwardingSchedule(const Communicator& communicator,
                                       std::span<const Segment> sends, std::int64_t flags)
    : flags_(flags) {
  const int rank = communicator.rank();
  const RankTree tree(communicator.size());
  std::vector<Held> held = own_segments(rank, sends);

  for (int level = 0; level < tree.levels(); ++level) {
    Stage& stage = stages_.emplace_back();
    std::vector<std::vector<Header>> headers;
    headers.reserve(static_cast<std::size_t>(tree.factor(level)));
    mpi::Requests requests;
    const std::int64_t known_flags = flags_;
    const int own_child = tree.child_index(level, rank);
    for (int child = 0; child < tree.factor(level); ++child) {
      const RankRange sibling = tree.child(level, rank, child);
      if (child == own_child || sibling.count == 0) continue;
      const int partner = tree.partner(level, rank, child);
      const auto outgoing = destined_for(sibling, held);
      const std::int64_t begin = outgoing_items_;
      outgoing_items_ = append_all(outgoing, begin, stage.from_own, stage.from_transit);
      stage.sends.push_back({partner, begin, outgoing_items_ - begin});
      headers.push_back(headers_of(known_flags, outgoing));
      requests.send(communicator.handle(), std::as_bytes(std::span(headers.back())), partner,
                    mpi::k_setup_tag);
    }

    const auto kept = destined_for(tree.group(level + 1, rank), held);
    std::vector<Held> next(kept.begin(), kept.end());
    for (int child = 0; child < tree.factor(level); ++child) {
      if (child == own_child) continue;
      for (const int sender : tree.senders(level, rank, child)) {
        const std::int64_t begin = transit_items_;
        const std::vector<Header> received = receive_headers(communicator, sender);
        flags_ |= received.front().count;
        for (const Header& header : std::span(received).subspan(1)) {
          next.push_back({header, transit_items_, false});
          transit_items_ += header.count;
        }
        stage.receives.push_back({sender, begin, transit_items_ - begin});
      }
    }
    std::sort(next.begin(), next.end(), before);
    held = std::move(next);
    requests.wait();
  }

  append_all(held, 0, final_copies_from_own_, final_copies_from_transit_);
  for (const Held& h : held) receives_.push_back({h.header.source, h.header.count});
}

void Forwarder::start(const Communicator& communicator, const ForwardingSchedule& schedule,
                      const std::byte* send, std::byte* receive, std::size_t item_bytes,
                      MessageLog& log) {
  log_ = &log;
  communicator_ = &communicator;
  schedule_ = &schedule;
  send_ = send;
  receive_ = receive;
  item_bytes_ = item_bytes;
  stage_ = 0;
  draining_.wait();
  grow(outgoing_, static_cast<std::size_t>(schedule.outgoing_items()) * item_bytes);
  grow(transit_, static_cast<std::size_t>(schedule.transit_items()) * item_bytes);
  arrivals_.resize(schedule.stages().size());
  arrival_numbers_.assign(schedule.stages().size(), {});
  for (std::size_t stage = 0; stage < arrivals_.size(); ++stage) {
    for (const Message& message : schedule.stages()[stage].receives) {
      arrival_numbers_[stage].push_back(
          log.post(communicator, message.partner, true,
                   static_cast<std::size_t>(message.count) * item_bytes));
      arrivals_[stage].receive(communicator.handle(),
                               {transit_.data() + message.begin * item_bytes,
                                static_cast<std::size_t>(message.count) * item_bytes},
                               message.partner, tag_);
    }
  }
  send_stage();
}

void Forwarder::progress() {
  while (stage_ < arrivals_.size() && arrivals_[stage_].test()) {
    ++stage_;
    send_stage();
  }
}

void Forwarder::finish() {
  while (stage_ < arrivals_.size()) {
    wait_for_stage();
    ++stage_;
    send_stage();
  }
  copy(schedule_->final_copies_from_own(), send_, receive_);
  copy(schedule_->final_copies_from_transit(), transit_.data(), receive_);
  draining_.add(outgoing_.data(), departures_);
}

void Forwarder::wait_for_stage() {
  mpi::Requests& requests = arrivals_[stage_];
  if (!log_->is_kept()) return requests.wait();
  log_->start_waiting();
  requests.wait([&](std::size_t n) { log_->done(arrival_numbers_[stage_][n]); });
}

void Forwarder::copy(std::span<const Copy> copies, const std::byte* from, std::byte* to) const {
  for (const Copy& c : copies) {
    copy_payload(to + c.to * item_bytes_, from + c.from * item_bytes_,
                 static_cast<std::size_t>(c.count) * item_bytes_);
  }
}

void Forwarder::send_stage() {
  if (stage_ == schedule_->stages().size()) return;
  const Stage& stage = schedule_->stages()[stage_];
  copy(stage.from_own, send_, outgoing_.data());
  copy(stage.from_transit, transit_.data(), outgoing_.data());
  for (const Message& message : stage.sends) {
    log_->post(*communicator_, message.partner, false,
               static_cast<std::size_t>(message.count) * item_bytes_);
    departures_.send(communicator_->handle(),
                     {outgoing_.data() + message.begin * item_bytes_,
                      static_cast<std::size_t>(message.count) * item_bytes_},
                     message.partner, tag_);
  }
}

}  // namespace octant
