// Memory of the solver's working fields, used again from solve to solve and level to level: fresh
// memory costs a page fault per 512 cells, a fifth of a solve's time.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mesh/device.hpp"

namespace octant::gravity {

class FieldPool {
 public:
  // Memory for `count` values, which may hold anything; it returns to the pool when nobody refers
  // to it any more.
  mesh::DeviceArray<double> allocate(const std::string& label, std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    const auto fits = std::find_if(arrays_.begin(), arrays_.end(), [&](const auto& array) {
      return array.use_count() == 1 && array.size() >= size && array.size() <= 2 * size;
    });
    if (fits == arrays_.end()) {
      arrays_.push_back(mesh::uninitialised<double>(label, count));
      return arrays_.back();
    }
    return Kokkos::subview(*fits, std::pair(std::size_t{0}, size));
  }

  // Gives back to the machine what nobody uses.
  void release() {
    std::erase_if(arrays_, [](const auto& array) { return array.use_count() == 1; });
  }

 private:
  std::vector<mesh::DeviceArray<double>> arrays_;
};

}  // namespace octant::gravity
