// What Fourier transforms work through, for a profile (core/kernel_work.hpp).
#pragma once

#include <cmath>

namespace octant::pencil {

// Of each number in a line of n real ones, or of either part of one in a line of n complex ones.
// Those lines are counted as 5/2 and 5 n log2 n, as is usual, whatever a library does (Frigo &
// Johnson, Proc. IEEE 93, 216, 2005).
inline double fft_operations(int n) { return 2.5 * std::log2(static_cast<double>(n)); }

}  // namespace octant::pencil
