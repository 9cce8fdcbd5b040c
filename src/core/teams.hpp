// How many threads the teams of a kernel have.
#pragma once

#include <algorithm>

#include <Kokkos_Core.hpp>

namespace octant {

#ifdef OCTANT_MEMORY_APART

// Cores stand for a device, whose teams have many threads: two show what they do to each other.
inline int team_threads(int most = 2) {
  return std::min({most, 2, Kokkos::DefaultExecutionSpace().concurrency()});
}

#else

// As many as suit the kernel, which is one on cores; or a number of them.
inline auto team_threads() { return Kokkos::AUTO; }
inline int team_threads(int threads) { return threads; }

#endif

}  // namespace octant
