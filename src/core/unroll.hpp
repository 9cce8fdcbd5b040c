// OCTANT_UNROLL(passes), before a loop, has all of its passes written out: an array that it indexes
// then lies in registers. Compilers do so by themselves where passes are few and short; one pass
// keeps them from it.
#pragma once

#define OCTANT_PRAGMA(text) _Pragma(#text)
#if defined(__CUDA_ARCH__) || defined(__clang__)
#define OCTANT_UNROLL(passes) OCTANT_PRAGMA(unroll passes)
#else
#define OCTANT_UNROLL(passes) OCTANT_PRAGMA(GCC unroll passes)
#endif
