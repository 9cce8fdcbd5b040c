// Restoration of coarse cells beside a finer level that refluxing left unphysical.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/hydro_options.hpp"
#include "mesh/transfer.hpp"

namespace octant::hydro {

// Number of restored cells of a block whose mass or energy changed, and the added amounts, in units
// of the stored densities times cells. The angular momentum, including the spin variables, if any,
// is that about the lower corner of the block.
struct RestoredCells {
  std::int32_t slot = -1;
  std::int64_t cells = 0;
  double mass = 0.0, energy = 0.0, momentum[3] = {0.0, 0.0, 0.0};
  double angular_momentum[3] = {0.0, 0.0, 0.0};
};

// Restores corrected cells whose state in `now` is below the floors of density or pressure, using
// their state before the step, `old`. Without mass or energy, all of the old state is restored.
// Without pressure, mass and momentum remain, and the gas keeps its old specific internal energy;
// or, if its pressure follows the entropy (dual energy), its old specific entropy, which changes no
// conserved quantity. A lost entropy that does not determine the pressure is reset from the energy.
// With DualEnergy::overwrite, erroneous energies are first reset from the entropy. Results are by
// corrected block; empty if no mass or energy changed on this rank. `cell_size` is that of the
// level.
std::vector<RestoredCells> restore_refluxed_cells(const HydroOptions& options,
                                                  const mesh::BlockLayout& layout,
                                                  const mesh::Corrections& corrected,
                                                  double cell_size, const double* old, double* now);

}  // namespace octant::hydro
