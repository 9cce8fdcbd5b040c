#include "telemetry/kernel_hooks.hpp"

#include <cstdlib>

#include <Kokkos_Core.hpp>

#include "core/device_memory.hpp"
#include "telemetry/recorder.hpp"

namespace octant::telemetry {

namespace {

#ifdef OCTANT_MEMORY_APART
constexpr bool k_hooks_are_free = false;  // that memory has them (comm/runtime.cpp)
#else
constexpr bool k_hooks_are_free = true;
#endif

Recorder* g_recorder = nullptr;  // Kokkos passes nothing to a hook that we could give it

void begin(const char* name, std::uint32_t, std::uint64_t*) {
  if (g_recorder) g_recorder->enter_kernel(name);
}

void end(std::uint64_t) {
  if (g_recorder) g_recorder->leave_kernel();
}

}  // namespace

void watch_kernels(Recorder* recorder, bool on_device) {
  if (!k_hooks_are_free || std::getenv("KOKKOS_TOOLS_LIBS") != nullptr) return;
  if (!k_device_is_host && !on_device) return;
  namespace tools = Kokkos::Tools::Experimental;
  g_recorder = recorder;
  const bool watch = recorder != nullptr;
  tools::set_begin_parallel_for_callback(watch ? begin : nullptr);
  tools::set_begin_parallel_reduce_callback(watch ? begin : nullptr);
  tools::set_begin_parallel_scan_callback(watch ? begin : nullptr);
  tools::set_end_parallel_for_callback(watch ? end : nullptr);
  tools::set_end_parallel_reduce_callback(watch ? end : nullptr);
  tools::set_end_parallel_scan_callback(watch ? end : nullptr);
}

}  // namespace octant::telemetry
