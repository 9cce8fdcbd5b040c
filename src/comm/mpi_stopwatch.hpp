// How much processor time the MPI library takes.
#pragma once

#include <cstdint>

namespace octant {

// Adds up, while it lives, the processor time that the main thread spends inside of blocking MPI
// calls, this program's own and those of its libraries: waiting is spinning, which is no work.
class MpiStopwatch {
 public:
  MpiStopwatch();
  ~MpiStopwatch();
  MpiStopwatch(const MpiStopwatch&) = delete;
  MpiStopwatch& operator=(const MpiStopwatch&) = delete;

  std::int64_t cpu_ns() const;  // so far

 private:
  std::int64_t before_;
};

}  // namespace octant
