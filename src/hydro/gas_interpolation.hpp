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
// Well-balanced schemes add limited slopes to those of the hydrostatic profile through the parent,
// whose halves children are.
//
// With DualEnergy::overwrite, children of cold gas in a smooth flow, whose parent has less energy
// than their motion would have, get density, velocity, entropy and scalars all the same: linear per
// mass, so that children keep mass, momentum and scalars together, and lie between the neighbours.
// Of children that are all alike, jumps at their parents' faces would make shocks. Their energy is
// that of motion and entropy: more than the parent had, which did not know of the motion in it.
std::unique_ptr<mesh::Interpolation> make_interpolation(const HydroOptions& options);

}  // namespace octant::hydro
