// Interpolation between levels that keeps density and internal energy positive.
#pragma once

#include <memory>

#include "hydro/hydro_options.hpp"
#include "mesh/interpolation.hpp"

namespace octant::hydro {

// Conservative linear interpolation of conserved variables; where one of a cell's eight children
// would get a density or an internal energy below a tenth of its parent's, all of them get the
// parent's value.
//
// With DualEnergy::overwrite the internal energy is interpolated in place of the total one, whose
// conservation that gives up. Cold gas, whose children would get less than no internal energy
// almost everywhere, keeps the slopes of its velocity: of children that are all alike, jumps at
// their parents' faces make shocks and heat.
std::unique_ptr<mesh::Interpolation> make_interpolation(DualEnergy dual_energy);

}  // namespace octant::hydro
