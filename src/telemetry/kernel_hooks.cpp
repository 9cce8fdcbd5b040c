
#include <cstdlib>
#include <thread>

#include <Kokkos_Core.hpp>

#include "core/device_memory.hpp"
#include "core/observer.hpp"
#include "telemetry/recorder.hpp"

namespace octant::telemetry {

namespace {

#ifdef OCTANT_MEMORY_APART
constexpr bool k_hooks_are_free = false;  // the memory space uses them (comm/runtime.cpp)
#else
constexpr bool k_hooks_are_free = true;
#endif

// Recorder for the hooks; a global, because Kokkos passes no user data to them.
Recorder* g_recorder = nullptr;
std::thread::id g_thread;  // reporting thread; threads of a team may launch kernels, too

bool is_watched() { return g_recorder && std::this_thread::get_id() == g_thread; }

KernelPlace place_of(std::uint32_t device) {
  namespace tools = Kokkos::Tools::Experimental;
  const auto of_default = tools::DeviceTypeTraits<Kokkos::DefaultExecutionSpace>::id;
  if (tools::identifier_from_devid(device).type != of_default)
    return KernelPlace::host_beside_device;
  return k_device_is_host ? KernelPlace::host : KernelPlace::device;
}

void begin(const char* name, std::uint32_t device, std::uint64_t* launch) {
  if (is_watched()) *launch = g_recorder->begin_kernel(name, place_of(device));
}

void end(std::uint64_t launch) {
  if (is_watched()) g_recorder->end_kernel(launch);
}

void announce(std::string_view kernel, const KernelWork& work) {
  if (is_watched()) g_recorder->record_kernel_work(kernel, work);
}

}  // namespace

void watch_kernels(Recorder* recorder) {
  if (!k_hooks_are_free || std::getenv("KOKKOS_TOOLS_LIBS") != nullptr) return;
  namespace tools = Kokkos::Tools::Experimental;
  g_recorder = recorder;
  g_thread = std::this_thread::get_id();
  const bool watch = recorder != nullptr;
  kernel_work_callback = watch ? announce : nullptr;
  tools::set_begin_parallel_for_callback(watch ? begin : nullptr);
  tools::set_begin_parallel_reduce_callback(watch ? begin : nullptr);
  tools::set_begin_parallel_scan_callback(watch ? begin : nullptr);
  tools::set_end_parallel_for_callback(watch ? end : nullptr);
  tools::set_end_parallel_reduce_callback(watch ? end : nullptr);
  tools::set_end_parallel_scan_callback(watch ? end : nullptr);
}

}  // namespace octant::telemetry
