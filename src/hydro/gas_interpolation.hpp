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
// With HydroOptions::spin(), children conserve the angular momentum of their parent: their spin is
// that of the parent minus the angular momentum of their momenta about its centre.
//
// Well-balanced schemes add limited slopes to those of the hydrostatic profile through the parent.
//
// With DualEnergy::overwrite, slopes are kept in cold gas in a smooth flow even if the parent has
// less energy than the children's motion: density is linear, and so are velocity, entropy and
// scalars per mass, so that children conserve mass, momentum and scalars, and lie between the
// neighbours. Equal children would create shocks at the faces of their parents. The children's
// energy follows from velocity and entropy; it exceeds the parent's energy, which lacks the motion
// within the cell.
std::unique_ptr<mesh::Interpolation> make_interpolation(const HydroOptions& options);

}  // namespace octant::hydro
