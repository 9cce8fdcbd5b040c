// The processor's own counter, for times too short for a clock.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#if defined(__x86_64__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#include <x86intrin.h>
#endif

namespace octant {

// Ticks of a counter that runs steadily; its rate is not known. Only differences on the same
// processor (GPU: multiprocessor) mean something. 0 where there is no such counter.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t cycle_count() {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return static_cast<std::uint64_t>(clock64());
#elif defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return 0;
#endif
}

}  // namespace octant
