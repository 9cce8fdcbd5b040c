// Kernels of schemes for gas with a cold curve (cold_curve.hpp): those of an ideal gas, compiled
// with the type ColdGas instead of IdealGas.
#pragma once

#include "hydro/hydro_options.hpp"

namespace octant::hydro {

struct SchemeOps;

// Sets the states of Godunov schemes for gas with a cold curve.
void set_cold_states(const HydroOptions& options, SchemeOps& ops);
// Replaces the fluxes of a Riemann solver by those for gas with a cold curve.
void set_cold_fluxes(const HydroOptions& options, SchemeOps& ops);

}  // namespace octant::hydro
