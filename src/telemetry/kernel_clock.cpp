#include "telemetry/kernel_clock.hpp"

#include <utility>

#include "core/error.hpp"

namespace octant::telemetry {

KernelClock::KernelClock(std::unique_ptr<KernelEvents> events, Tell tell)
    : events_(std::move(events)), tell_(std::move(tell)), is_open_(events_->pairs()) {}

std::uint64_t KernelClock::begin() {
  if (next_ - oldest_ == is_open_.size()) {
    const int pair = pair_of(oldest_);
    OCTANT_REQUIRE(!is_open_[pair], "kernels begin inside of {} others", is_open_.size());
    events_->wait_for(pair);
    tell_of_oldest();
  }
  const int pair = pair_of(next_);
  is_open_[pair] = true;
  events_->begin(pair);
  return next_++;
}

void KernelClock::end(std::uint64_t launch) {
  events_->end(pair_of(launch));
  is_open_[pair_of(launch)] = false;
}

void KernelClock::look() {
  while (oldest_ < next_ && !is_open_[pair_of(oldest_)] && events_->has_passed(pair_of(oldest_)))
    tell_of_oldest();
}

void KernelClock::finish() {
  while (oldest_ < next_) {
    OCTANT_REQUIRE(!is_open_[pair_of(oldest_)], "a kernel has begun and not ended");
    events_->wait_for(pair_of(oldest_));
    tell_of_oldest();
  }
  events_->align();
}

void KernelClock::tell_of_oldest() { tell_(events_->span(pair_of(oldest_++))); }

}  // namespace octant::telemetry
