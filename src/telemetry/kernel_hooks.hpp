// Kokkos' own hooks around kernels.
#pragma once

namespace octant::telemetry {

class Recorder;

// Tells a recorder of every Kokkos kernel; null: nobody. Leaves the hooks to a tool that the
// environment variable KOKKOS_TOOLS_LIBS names. They wait for no kernel (comm/runtime.cpp).
void watch_kernels(Recorder* recorder);

}  // namespace octant::telemetry
