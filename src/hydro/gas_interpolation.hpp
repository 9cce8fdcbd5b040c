// Interpolation between levels that keeps density and internal energy positive.
#pragma once

#include <memory>

#include "hydro/hydro_options.hpp"
#include "mesh/interpolation.hpp"

namespace octant::hydro {

// Conservative linear interpolation of conserved variables; where one of a cell's eight children
// would get a density or an internal energy below a tenth of its parent's, all of them get the
// parent's value.
std::unique_ptr<mesh::Interpolation> make_interpolation();

}  // namespace octant::hydro
