// Copies between the memory of the host and that of the device: the only ones in the program. Each
// says what it moves and is told to whoever observes (core/observer.hpp). Where kernels run on the
// host, both memories are the same and nothing is copied where a view would do, but what would
// travel to a device and back is told all the same.
//
// Functions that copy between them wait until the copy is done, and for kernels launched before,
// but for queue_to_device().
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "core/device_memory.hpp"
#include "core/observer.hpp"

namespace octant {

// Values on the host as a view, for copies.
template <class T>
auto host_view(T* values, std::size_t count) {
  return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values, count);
}
template <class T>
auto host_view(std::vector<T>& values) {
  return host_view(values.data(), values.size());
}
template <class T>
auto host_view(const std::vector<T>& values) {
  return host_view(values.data(), values.size());
}

template <class View>
std::int64_t bytes_of(const View& view) {
  return static_cast<std::int64_t>(view.size() * sizeof(typename View::value_type));
}

// Of views that are as long as each other.
template <class HostView, class DeviceView>
void copy_to_host(Cargo cargo, const HostView& to, const DeviceView& from) {
  observe_copy(cargo, Way::to_host, bytes_of(from));
  Kokkos::deep_copy(to, from);
}
template <class DeviceView, class HostView>
void copy_to_device(Cargo cargo, const DeviceView& to, const HostView& from) {
  observe_copy(cargo, Way::to_device, bytes_of(to));
  Kokkos::deep_copy(to, from);
}

// In the order of kernels, without a wait where the host's memory is pinned. That must stay as it
// is until the host has waited for kernels.
template <class DeviceView, class HostView>
void queue_to_device(Cargo cargo, const DeviceView& to, const HostView& from) {
  observe_copy(cargo, Way::to_device, bytes_of(to));
  Kokkos::deep_copy(Kokkos::DefaultExecutionSpace(), to, from);
}

// What a view holds, for the host: the view itself where that can read it.
template <class DeviceView>
auto on_host(Cargo cargo, const DeviceView& view) {
  observe_copy(cargo, Way::to_host, bytes_of(view));
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
}

template <class DeviceView>
auto to_vector(Cargo cargo, const DeviceView& view) {
  std::vector<typename DeviceView::non_const_value_type> values(view.size());
  copy_to_host(cargo, host_view(values), view);
  return values;
}

// A copy of a vector in memory of the device, which takes none for nothing.
template <class T>
Kokkos::View<T*, DeviceMemory> on_device(Cargo cargo, const std::string& label,
                                         const std::vector<T>& values) {
  if (values.empty()) return {};
  const Kokkos::View<T*, DeviceMemory> copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                            values.size());
  copy_to_device(cargo, copy, host_view(values));
  return copy;
}

// --- within the device, where nothing travels: in the order of kernels, and not waited for -------

template <class To, class From>
void copy_within(const To& to, const From& from) {
  Kokkos::deep_copy(Kokkos::DefaultExecutionSpace(), to, from);
}
template <class View>
void fill(const View& view, typename View::const_value_type& value) {
  Kokkos::deep_copy(Kokkos::DefaultExecutionSpace(), view, value);
}

}  // namespace octant
