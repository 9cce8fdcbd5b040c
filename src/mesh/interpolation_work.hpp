// What interpolations between levels work through, for a profile.
#pragma once

#include "core/kernel_work.hpp"
#include "mesh/halo.hpp"

namespace octant::mesh {

// Before these are carried out; `tasks` is read on the host. `blends`: between two times. Of each
// variable a value is read, two that are blended, and eight are written. A slope takes 3
// operations and its share 1, a child 3, and a blend 3, of the cell and its six neighbours. What
// limits the slopes of all variables together, or follows cold gas, is not counted.
template <class Tasks>
void announce_interpolation(const Tasks& tasks, int variables, bool blends) {
  if (!hear_of_kernel) return;
  std::int64_t cells = 0;
  for (std::size_t n = 0; n < tasks.size(); ++n) {
    const auto& [ni, nj, nk] = tasks[n].cells;
    cells += std::int64_t{ni} * nj * nk;
  }
  announce_kernel("interpolate", cells,
                  {variables * (blends ? 80.0 : 72.0), variables * (blends ? 57.0 : 36.0)});
}

}  // namespace octant::mesh
