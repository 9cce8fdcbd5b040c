// Timing of kernels, which a GPU may still execute after the launching call has returned.
#pragma once

#include "core/clock.hpp"

namespace octant::bench {

// Waits for all kernels launched so far; returns the seconds of the clock.
double seconds_with_kernels(const Clock& clock);

}  // namespace octant::bench
