// Barotropic gas in a sweep and in the stored state.
//
// Cells store the total energy of a gas with the pressure p(rho), or p(rho, position) in locally
// isothermal gas, and with the internal energy p / (gamma - 1). The gas is thus an ideal gas whose
// temperature is a function of its density, by exchange of energy with its surroundings. A sweep
// advances this energy with its flux, as for any gas; then close_energy() resets it from the
// pressure p(rho). The difference is the exchanged energy. All functions that take the pressure of
// a cell from its energy thus work unchanged.
#pragma once

#include "comm/reproducible_sum.hpp"
#include "hydro/hydro_options.hpp"
#include "mesh/fields.hpp"

namespace octant::hydro {

struct SchemeOps;

// Replaces the fluxes of a scheme by those of a barotropic gas.
void set_barotropic_fluxes(const HydroOptions& options, SchemeOps& ops);
// Sets the states of Godunov schemes for isothermal gas, whose pressures follow from the densities.
void set_isothermal_states(const HydroOptions& options, SchemeOps& ops);

// Sets the total energy of all cells of a range with a density of at least the floor to that of the
// pressure p(rho). Adds the change in leaf cells, times `weight`, to `exchanged`. Returns the
// largest |vx| + |vy| + |vz| + 3 c of all cells, with the sound speed of the equation of state.
// Local.
double close_energy(const HydroOptions& options, const mesh::BlockLayout& layout, double* blocks,
                    const mesh::CellRange& cells, double weight, ReproducibleSum& exchanged);

// Returns the largest |vx| + |vy| + |vz| + 3 c of all cells, at least 0. Local.
double fastest_barotropic_signal(const HydroOptions& options, const mesh::BlockLayout& layout,
                                 const double* blocks, const mesh::CellRange& cells);

}  // namespace octant::hydro
