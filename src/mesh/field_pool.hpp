// Memory of working fields that last from one call to the next at most, used again by whoever comes
// next: fresh memory costs a page fault per 512 cells, a fifth of a solve for the potential.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mesh/cell_range.hpp"
#include "mesh/device.hpp"

namespace octant::mesh {

class FieldPool {
 public:
  // Memory for `count` values, which may hold anything; it returns to the pool when nobody refers
  // to it any more. Where all that is free is too small, it takes the place of the largest of that:
  // fields take turns in the memory of the largest one.
  DeviceArray<double> allocate(const std::string& label, std::int64_t count) {
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
    if (best == arrays_.end()) best = arrays_.insert(best, DeviceArray<double>());
    if (best->size() < size) {
      *best = {};
      *best = uninitialised<double>("working memory (" + label + ")", count);
    }
    return Kokkos::subview(*best, std::pair(std::size_t{0}, size));
  }

 private:
  std::vector<DeviceArray<double>> arrays_;
};

// A field of blocks; where it was made for the asker alone, with the memory that it lies in.
struct LentField {
  BlockField field;
  DeviceArray<double> memory = {};

  LentField(const BlockField& lasting) : field(lasting) {}
  LentField(const BlockField& made, DeviceArray<double> in) : field(made), memory(std::move(in)) {}
};

}  // namespace octant::mesh
