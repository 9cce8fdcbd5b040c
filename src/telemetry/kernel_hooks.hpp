// Kokkos' own hooks around kernels.
#pragma once

namespace octant::telemetry {

class Recorder;

// Tells a recorder of every Kokkos kernel; null: nobody. Leaves the hooks to a tool that the
// environment variable KOKKOS_TOOLS_LIBS names. Where kernels run on a device, beside the host,
// hooks would have to wait for each: there they are set only if `on_device` says so.
void watch_kernels(Recorder* recorder, bool on_device);

}  // namespace octant::telemetry
