// What loops over the cells of a level (mesh/cell_loop.hpp) work through, for a profile.
#pragma once

#include "core/kernel_work.hpp"
#include "mesh/cell_range.hpp"

namespace octant::mesh {

inline void announce_cells(std::string_view kernel, const CellRange& range,
                           const KernelCost& of_one) {
  announce_kernel(kernel, range.count() * std::int64_t{range.cells_per_block()}, of_one);
}

}  // namespace octant::mesh
