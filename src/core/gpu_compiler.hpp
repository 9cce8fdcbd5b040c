// What differs between a host's compiler and one of kernels for a GPU.
//
// OCTANT_GPU_COMPILER is defined where a compiler of kernels for a GPU reads a source, be it the
// device's part or the host's: nvcc, or clang for AMD's; and where cores stand for a device
// (core/device_memory.hpp). There are no packs then, and no pragmas of a host's compiler.
#pragma once

#include <Kokkos_Macros.hpp>

#if defined(__CUDACC__) || defined(__HIP__) || defined(OCTANT_MEMORY_APART)
#define OCTANT_GPU_COMPILER
#endif

// A function that hosts inline, and that a GPU calls: inlined there as well, it would take more
// registers than a thread has.
#if defined(OCTANT_GPU_COMPILER)
#define OCTANT_INLINE_ON_HOST KOKKOS_FUNCTION __attribute__((noinline))
#else
#define OCTANT_INLINE_ON_HOST KOKKOS_FORCEINLINE_FUNCTION
#endif
