// What remains of cells that a level jump's flux correction has broken.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/options.hpp"
#include "mesh/transfer.hpp"

namespace octant::hydro {

// What the restored cells of a block gained, in units of the stored densities times cells.
struct RestoredCells {
  std::int64_t cells = 0;
  double mass = 0.0, energy = 0.0;
};

// Corrected cells whose state in `now` is below the floors of density or pressure get their state
// in `old` back. By corrected block; empty if nothing was broken on this rank.
std::vector<RestoredCells> restore_broken_cells(const HydroOptions& options,
                                                const mesh::BlockLayout& layout,
                                                const mesh::Corrections& corrected,
                                                const double* old, double* now);

}  // namespace octant::hydro
