// The memory of Kokkos' default execution space, and host vectors on their way there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

namespace octant::pencil {

// Whether that memory is the host's, too.
inline constexpr bool k_device_is_host =
    Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                               Kokkos::DefaultExecutionSpace::memory_space>::accessible;

// Tasks 0 .. n - 1 of a kernel.
using DeviceTasks = Kokkos::RangePolicy<Kokkos::IndexType<std::int64_t>>;

template <class T>
using DeviceArray = Kokkos::View<T*>;

// Memory for `count` values that nobody has touched yet.
template <class T>
DeviceArray<T> uninitialised(const std::string& label, std::size_t count) {
  return DeviceArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), count);
}

// Waits.
template <class T>
void copy_to_device(const std::vector<T>& values, const DeviceArray<T>& copy) {
  Kokkos::deep_copy(copy, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                              values.data(), values.size()));
}

template <class T>
DeviceArray<T> on_device(const std::string& label, const std::vector<T>& values) {
  const DeviceArray<T> copy = uninitialised<T>(label, values.size());
  copy_to_device(values, copy);
  return copy;
}

// Memory that is in use during a solve alone: solvers that are given the same hold it once.
class BatchedMemory {
 public:
  void reserve(std::size_t count) {
    if (values_.size() < count) values_ = DeviceArray<double>("shared in turns", count);
  }
  double* data() const { return values_.data(); }
  std::size_t bytes() const { return values_.size() * sizeof(double); }

 private:
  DeviceArray<double> values_;
};

}  // namespace octant::pencil
