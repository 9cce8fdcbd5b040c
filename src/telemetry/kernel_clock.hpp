// Times kernels where they run, which may be behind the thread that launches them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "telemetry/kernel_events.hpp"

namespace octant::telemetry {

// Launches are numbered from 0 on, and told of in that order. Those that nobody has been told of
// yet are at most as many as there are pairs of marks; then the next one waits for the oldest.
class KernelClock {
 public:
  using Tell = std::function<void(const KernelEvents::Span&)>;

  // `tell` is called for each kernel, once it has ended, by the functions below.
  KernelClock(std::unique_ptr<KernelEvents> events, Tell tell);

  // Around a launch, which may lie inside of another one. Returns its number.
  std::uint64_t begin();
  void end(std::uint64_t launch);

  // Tells of those that have ended, and waits for none.
  void look();
  // Waits for all, and sets the device's time by that of the host. No launch may be under way.
  void finish();

 private:
  int pair_of(std::uint64_t launch) const { return static_cast<int>(launch % is_open_.size()); }
  void tell_of_oldest();

  std::unique_ptr<KernelEvents> events_;
  Tell tell_;
  std::vector<bool> is_open_;  // whether a pair's launch has not ended yet
  std::uint64_t oldest_ = 0, next_ = 0;
};

}  // namespace octant::telemetry
