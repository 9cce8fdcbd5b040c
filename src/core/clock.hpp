// Wall time and memory of this process.
#pragma once

#include <chrono>
#include <cstdint>

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

// Resident memory of this process in bytes, now and at its highest so far. Zero where the system
// does not tell (no /proc).
struct MemoryUse {
  std::int64_t current = 0;
  std::int64_t peak = 0;
};
MemoryUse memory_use();

}  // namespace octant
