// Processor time, for which other people's load does not count.
#pragma once

#include <cstdint>
#include <ctime>

namespace octant::bench {

// Of all threads of this process.
inline std::int64_t cpu_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace octant::bench
