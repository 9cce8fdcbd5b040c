// Kernels of schemes for real gas (real_gas.hpp): those of an ideal gas, compiled with the type Gas
// instead of IdealGas.
#pragma once

#include "hydro/hydro_options.hpp"

namespace octant::hydro {

struct SchemeOps;

// Sets the states of Godunov schemes for real gas.
void set_real_states(const HydroOptions& options, SchemeOps& ops);
// Replaces the fluxes of a Riemann solver by those for real gas.
void set_real_fluxes(const HydroOptions& options, SchemeOps& ops);

}  // namespace octant::hydro
