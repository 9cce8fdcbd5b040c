// Number of threads of kernels.
#pragma once

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "core/guarded_memory.hpp"

namespace octant {

#ifdef OCTANT_MEMORY_APART

// Team size for the emulated device: two threads suffice to reveal races within a team.
inline int team_threads(int most = 2) {
  return std::min({most, 2, Kokkos::DefaultExecutionSpace().concurrency()});
}

#else

// Team size chosen by Kokkos for the kernel; one on CPUs.
inline auto team_threads() { return Kokkos::AUTO; }
// Team size as given.
inline int team_threads(int threads) { return threads; }

#endif

// Calls body(n) for n = 0 .. count - 1 on host threads, which take `chunk` items at a time. Returns
// when all calls have ended.
template <class Body>
void for_items_on_host(const char* name, std::int64_t count, int chunk, const Body& body) {
  using Policy =
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
  const HostKernels here;
  Kokkos::parallel_for(name, Policy(0, count).set_chunk_size(chunk), body);
  Kokkos::fence();
}

}  // namespace octant
