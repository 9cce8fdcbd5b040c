// Small helpers between host vectors and device arrays.
#pragma once

#include <string>
#include <vector>

#include "mesh/tiles.hpp"

namespace octant::mesh {

// A device copy of a host vector.
template <class T>
DeviceArray<const T> to_device(const std::string& label, const std::vector<T>& values) {
  DeviceArray<T> copy(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), values.size());
  Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> source(values.data(),
                                                                            values.size());
  Kokkos::deep_copy(copy, source);
  return copy;
}

// Device memory for `count` values that nobody has touched yet.
template <class T>
DeviceArray<T> uninitialised(const std::string& label, std::int64_t count) {
  return DeviceArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                        static_cast<std::size_t>(count));
}

}  // namespace octant::mesh
