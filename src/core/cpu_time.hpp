// Processor time, in nanoseconds: of this thread, and of all threads of this process.
#pragma once

#include <cstdint>
#include <ctime>

namespace octant {

namespace detail {

inline std::int64_t read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

}  // namespace detail

inline std::int64_t thread_cpu_ns() { return detail::read_clock(CLOCK_THREAD_CPUTIME_ID); }
inline std::int64_t process_cpu_ns() { return detail::read_clock(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace octant
