// Time that kernels take, which a GPU may still run when the call that launched them has returned.
#pragma once

#include "core/clock.hpp"

namespace octant::bench {

// The seconds that a clock has counted when all kernels launched so far are done.
double seconds_with_kernels(const Clock& clock);

}  // namespace octant::bench
