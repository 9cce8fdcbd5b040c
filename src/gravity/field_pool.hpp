// Memory of the solver's working fields, used again from solve to solve and level to level: fresh
// memory costs a page fault per 512 cells, a fifth of a solve's time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mesh/device.hpp"

namespace octant::gravity {

class FieldPool {
 public:
  // Memory for `count` values, which may hold anything; it returns to the pool when nobody refers
  // to it any more. Where all that is free is too small, it takes the place of the largest of that:
  // levels take turns in the memory of the largest one.
  mesh::DeviceArray<double> allocate(const std::string& label, std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    if (size == 0) return {};
    auto best = arrays_.end();
    for (auto array = arrays_.begin(); array != arrays_.end(); ++array) {
      if (array->use_count() > 1) continue;
      const bool better =
          best == arrays_.end() ||
          (best->size() < size ? array->size() > best->size()
                               : array->size() >= size && array->size() < best->size());
      if (better) best = array;
    }
    if (best == arrays_.end()) best = arrays_.insert(best, mesh::DeviceArray<double>());
    if (best->size() < size) {
      *best = {};
      *best = mesh::uninitialised<double>(label, count);
    }
    return Kokkos::subview(*best, std::pair(std::size_t{0}, size));
  }

 private:
  std::vector<mesh::DeviceArray<double>> arrays_;
};

}  // namespace octant::gravity
