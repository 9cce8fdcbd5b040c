// Small helpers between host vectors and device arrays.
#pragma once

#include <string>
#include <vector>

#include "core/residency.hpp"
#include "mesh/tiles.hpp"

namespace octant::mesh {

// A device copy of a host vector: of a table, if nothing else is said.
template <class T>
DeviceArray<const T> to_device(const std::string& label, const std::vector<T>& values,
                               Cargo cargo = Cargo::tables) {
  return on_device(cargo, label, values);
}

// Device memory for `count` values that nobody has touched yet.
template <class T>
DeviceArray<T> uninitialised(const std::string& label, std::int64_t count) {
  return DeviceArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                        static_cast<std::size_t>(count));
}

}  // namespace octant::mesh
