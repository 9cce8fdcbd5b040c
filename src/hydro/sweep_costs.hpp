// What a sweep costs a cell: bytes by what each kernel must read and write, each value once, and
// operations as they are counted in the bodies of the scheme.
#pragma once

#include "core/kernel_work.hpp"
#include "hydro/kernel_arguments.hpp"

namespace octant::hydro {

// Of the kernels of batches, and of the one that sweeps on cores. Operations are 0 where they are
// not known: of schemes that bring fluxes of their own, of the exact Riemann solver, whose number
// of steps the states decide, and where the gas does not change along all axes.
struct SweepCosts {
  KernelCost gather, states, fluxes, update, sweep;
};
SweepCosts sweep_costs(const HydroOptions& options, const KernelArguments& arguments);

// Tells of a sweep that is about to be launched.
void announce_sweep(const HydroOptions& options, const KernelArguments& arguments);

}  // namespace octant::hydro
