#include "comm/exchange_plan.hpp"

#include <algorithm>
#include <utility>

#include "comm/transport.hpp"
#include "core/error.hpp"

namespace octant {

namespace {

void check_segments(const Communicator& communicator, const std::vector<Segment>& segments) {
  int previous = -1;
  for (const Segment& segment : segments) {
    OCTANT_REQUIRE(segment.rank > previous && segment.rank < communicator.size(),
                   "exchange plan: the segment for rank {} follows that for rank {} of {}",
                   segment.rank, previous, communicator.size());
    OCTANT_REQUIRE(segment.count >= 0, "exchange plan: the segment for rank {} has {} items",
                   segment.rank, segment.count);
    previous = segment.rank;
  }
}

std::int64_t total(const std::vector<Segment>& segments) {
  std::int64_t items = 0;
  for (const Segment& segment : segments) items += segment.count;
  return items;
}

std::vector<RemoteSegment> placed(const std::vector<Segment>& segments) {
  std::vector<RemoteSegment> result;
  std::int64_t begin = 0;
  for (const Segment& segment : segments) {
    if (segment.count > 0) result.push_back({segment.rank, begin, segment.count});
    begin += segment.count;
  }
  return result;
}

// Removes the segment of a rank from the list and returns it; an empty one if there is none.
RemoteSegment extract(int rank, std::vector<RemoteSegment>& segments) {
  const auto found = std::find_if(segments.begin(), segments.end(),
                                  [&](const RemoteSegment& s) { return s.rank == rank; });
  if (found == segments.end()) return {rank, 0, 0};
  const RemoteSegment segment = *found;
  segments.erase(found);
  return segment;
}

std::vector<Segment> without_empty(std::vector<Segment> segments) {
  std::erase_if(segments, [](const Segment& segment) { return segment.count == 0; });
  return segments;
}

}  // namespace

DirectedPlan::DirectedPlan(const Communicator& communicator, std::vector<Segment> sends,
                           std::vector<Segment> receives)
    : communicator_(communicator), sends_(std::move(sends)), receives_(std::move(receives)) {
  check_segments(communicator_, sends_);
  check_segments(communicator_, receives_);
  items_sent_ = total(sends_);
  items_received_ = total(receives_);
  remote_sends_ = placed(sends_);
  remote_receives_ = placed(receives_);
  const RemoteSegment from = extract(communicator_.rank(), remote_sends_);
  const RemoteSegment to = extract(communicator_.rank(), remote_receives_);
  OCTANT_REQUIRE(from.count == to.count,
                 "exchange plan: rank {} sends itself {} items but receives {}", from.rank,
                 from.count, to.count);
  own_ = {from.begin, to.begin, from.count};
}

void DirectedPlan::prepare(Backend backend) const {
  if (backend == Backend::ksection && !schedule_) prepare_schedule();
}

void DirectedPlan::prepare_schedule() const {
  auto schedule = std::make_unique<const ForwardingSchedule>(communicator_, sends_);
  OCTANT_REQUIRE(schedule->receives() == without_empty(receives_),
                 "exchange plan: rank {} expects {} items, but the ranks send {}",
                 communicator_.rank(), items_received_, total(schedule->receives()));
  schedule_ = std::move(schedule);
}

ExchangePlan::ExchangePlan(const Communicator& communicator, std::vector<Segment> sends,
                           std::vector<Segment> receives)
    : forward_(
          std::make_unique<DirectedPlan>(communicator, std::move(sends), std::move(receives))) {}

ExchangePlan ExchangePlan::from_sends(const Communicator& communicator,
                                      std::vector<Segment> sends) {
  check_segments(communicator, sends);
  const ForwardingSchedule schedule(communicator, sends);
  return ExchangePlan(communicator, std::move(sends), schedule.receives());
}

ExchangePlan::~ExchangePlan() = default;
ExchangePlan::ExchangePlan(ExchangePlan&&) noexcept = default;
ExchangePlan& ExchangePlan::operator=(ExchangePlan&&) noexcept = default;

const Communicator& ExchangePlan::communicator() const { return forward_->communicator(); }
const std::vector<Segment>& ExchangePlan::sends() const { return forward_->sends(); }
const std::vector<Segment>& ExchangePlan::receives() const { return forward_->receives(); }
std::int64_t ExchangePlan::items_sent() const { return forward_->items_sent(); }
std::int64_t ExchangePlan::items_received() const { return forward_->items_received(); }

void ExchangePlan::check() const {
  communicator().collective_try([&] { forward_->prepare(Backend::ksection); });
}

const DirectedPlan& ExchangePlan::flow(Direction direction) const {
  if (direction == Direction::forward) return *forward_;
  if (!reverse_) reverse_ = std::make_unique<DirectedPlan>(communicator(), receives(), sends());
  return *reverse_;
}

}  // namespace octant
