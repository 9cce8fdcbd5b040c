// What remains of cells that a level jump's flux correction has broken.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/hydro_options.hpp"
#include "mesh/transfer.hpp"

namespace octant::hydro {

// Cells of a block whose mass or energy had to be changed, and what that added, in units of the
// stored densities times cells.
struct RestoredCells {
  std::int64_t cells = 0;
  double mass = 0.0, energy = 0.0;
};

// Mends corrected cells whose state in `now` is below the floors of density or pressure, by what
// they were before, in `old`. Where no mass or energy is left, all of the old state comes back.
// Where no pressure is left, mass and momentum stay, and the gas keeps its old specific internal
// energy; or, if its pressure follows the entropy (dual energy), its old specific entropy, which
// changes nothing that is conserved. An entropy that is lost where it does not rule comes from the
// energy. With DualEnergy::overwrite, energies that corrections have led astray are first reset
// from the entropy. By corrected block; empty if no mass or energy was changed on this rank.
std::vector<RestoredCells> restore_broken_cells(const HydroOptions& options,
                                                const mesh::BlockLayout& layout,
                                                const mesh::Corrections& corrected,
                                                const double* old, double* now);

}  // namespace octant::hydro
