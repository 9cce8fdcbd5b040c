// Prolongation that keeps density and internal energy positive.
#pragma once

#include <memory>

#include "hydro/hydro_options.hpp"
#include "mesh/interpolation.hpp"

namespace octant::hydro {

// Conservative linear interpolation of conserved variables; if one of a cell's eight children would
// get a density or an internal energy below a tenth of its parent's, all children get the parent's
// value.
//
// Well-balanced schemes add limited slopes to those of the hydrostatic profile through the parent.
//
// With DualEnergy::overwrite, slopes are kept in cold gas in a smooth flow even if the parent has
// less energy than the children's motion: density, velocity, entropy and scalars are linear per
// mass, so that children conserve mass, momentum and scalars, and lie between the neighbours. With
// equal children, jumps at their parents' faces would create shocks. The children's energy follows
// from velocity and entropy; it exceeds the parent's, which lacks the motion within the cell.
std::unique_ptr<mesh::Interpolation> make_interpolation(const HydroOptions& options);

}  // namespace octant::hydro
