// Wall-clock and CPU time.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace octant {

// Monotonic wall-clock timer: counts seconds from its construction or last restart.
class Clock {
 public:
  // Elapsed seconds.
  double seconds() const { return std::chrono::duration<double>(Steady::now() - start_).count(); }
  // Returns the elapsed seconds and restarts the timer.
  double restart() {
    const double elapsed = seconds();
    start_ = Steady::now();
    return elapsed;
  }

 private:
  using Steady = std::chrono::steady_clock;
  Steady::time_point start_ = Steady::now();
};

namespace detail {

// Reads a clock of the operating system, in nanoseconds.
inline std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

}  // namespace detail

// CPU time of this thread in nanoseconds.
inline std::int64_t thread_cpu_ns() { return detail::read_clock(CLOCK_THREAD_CPUTIME_ID); }
// CPU time of all threads of this process in nanoseconds.
inline std::int64_t process_cpu_ns() { return detail::read_clock(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace octant
