#pragma once

#include <cstdint>

#include <Kokkos_Macros.hpp>

#if defined(__x86_64__) && !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
#include <x86intrin.h>
#endif

// Differences between host and GPU compilers.
//
// OCTANT_GPU_COMPILER is defined if a GPU compiler (nvcc, or clang for AMD GPUs) compiles a source,
// for the device or the host, and for the emulated device (core/device_memory.hpp). The code then
// uses no SIMD types and no pragmas of a host compiler.
#if defined(__CUDACC__) || defined(__HIP__) || defined(OCTANT_MEMORY_APART)
#define OCTANT_GPU_COMPILER
#endif

// Marks a function that is inlined on the host but called on a GPU, where inlining would need too
// many registers.
#if defined(OCTANT_GPU_COMPILER)
#define OCTANT_INLINE_ON_HOST KOKKOS_FUNCTION __attribute__((noinline))
#else
#define OCTANT_INLINE_ON_HOST KOKKOS_FORCEINLINE_FUNCTION
#endif

// OCTANT_UNROLL(n) before a loop of at most n passes unrolls the loop completely, which keeps
// arrays that are indexed in it in registers. OCTANT_UNROLL(1) prevents unrolling by the compiler.
#define OCTANT_PRAGMA(text) _Pragma(#text)
#if defined(__CUDA_ARCH__) || defined(__clang__)
#define OCTANT_UNROLL(passes) OCTANT_PRAGMA(unroll passes)
#else
#define OCTANT_UNROLL(passes) OCTANT_PRAGMA(GCC unroll passes)
#endif

namespace octant {

// Returns the cycle counter of the processor, for intervals too short for a clock.
//
// The rate of the counter is unknown. Only differences on the same processor (GPU: multiprocessor)
// are meaningful. Returns 0 if there is no such counter.
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
