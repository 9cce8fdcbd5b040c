// Wall time.
#pragma once

#include <chrono>

namespace octant {

// Counts seconds from its construction or last restart; never runs backwards.
class Clock {
 public:
  double seconds() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  // Returns the seconds so far, and counts from zero again.
  double restart() {
    const double elapsed = seconds();
    start_ = Steady::now();
    return elapsed;
  }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_ = Steady::now();
};

}  // namespace octant
