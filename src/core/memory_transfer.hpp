// Copies between host and device memory, the only ones in the program. Each has a kind and is
// reported to the observer (core/observer.hpp). If kernels run on the host, both memories are the
// same, and a view replaces a copy where possible; the copy that a device would require is reported
// all the same.
//
// Functions that copy between host and device wait for kernels launched before and for the end of
// the copy, except queue_to_device().
#pragma once

#include <span>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "core/device_memory.hpp"
#include "core/observer.hpp"

namespace octant {

// Host values as a view, for copies.
template <class T>
auto host_view(T* values, std::size_t count) {
  return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values, count);
}
// Values of a vector as a view.
template <class T>
auto host_view(std::vector<T>& values) {
  return host_view(values.data(), values.size());
}
// Values of a vector as a view, for reading.
template <class T>
auto host_view(const std::vector<T>& values) {
  return host_view(values.data(), values.size());
}

// Size of the contents of a view in bytes.
template <class View>
std::int64_t bytes_of(const View& view) {
  return static_cast<std::int64_t>(view.size() * sizeof(typename View::value_type));
}

// Copies from the device to the host, between views of equal length.
template <class HostView, class DeviceView>
void copy_to_host(TransferKind transfer, const HostView& to, const DeviceView& from) {
  observe_copy(transfer, TransferDirection::to_host, bytes_of(from));
  Kokkos::deep_copy(to, from);
}
// Copies from the host to the device, between views of equal length.
template <class DeviceView, class HostView>
void copy_to_device(TransferKind transfer, const DeviceView& to, const HostView& from) {
  observe_copy(transfer, TransferDirection::to_device, bytes_of(to));
  Kokkos::deep_copy(to, from);
}

// Copies from the host to the device in the order of kernels, without waiting if the host memory is
// pinned. The host memory must not change until the host has waited for kernels.
template <class DeviceView, class HostView>
void queue_to_device(TransferKind transfer, const DeviceView& to, const HostView& from) {
  observe_copy(transfer, TransferDirection::to_device, bytes_of(to));
  Kokkos::deep_copy(Kokkos::DefaultExecutionSpace(), to, from);
}

// Returns the contents of a view on the host: the view itself if the host can read it.
template <class DeviceView>
auto on_host(TransferKind transfer, const DeviceView& view) {
  observe_copy(transfer, TransferDirection::to_host, bytes_of(view));
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
}

// Returns the contents of a one-dimensional view as a vector on the host.
template <class DeviceView>
auto to_vector(TransferKind transfer, const DeviceView& view) {
  std::vector<typename DeviceView::non_const_value_type> values(view.size());
  copy_to_host(transfer, host_view(values), view);
  return values;
}

// Copies a vector to device memory; empty vectors take no memory.
template <class T>
Kokkos::View<T*, DeviceMemory> on_device(TransferKind transfer, const std::string& label,
                                         const std::vector<T>& values) {
  if (values.empty()) return {};
  const Kokkos::View<T*, DeviceMemory> copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                                            values.size());
  copy_to_device(transfer, copy, host_view(values));
  return copy;
}

// --- copies within the device: in the order of kernels, without waiting --------------------------
// Copies between device views of equal length.
template <class To, class From>
void copy_within(const To& to, const From& from) {
  Kokkos::deep_copy(Kokkos::DefaultExecutionSpace(), to, from);
}
// Sets all values of a device view.
template <class View>
void fill(const View& view, typename View::const_value_type& value) {
  Kokkos::deep_copy(Kokkos::DefaultExecutionSpace(), view, value);
}

}  // namespace octant
