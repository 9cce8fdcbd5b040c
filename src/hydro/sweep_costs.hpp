// What a sweep costs a cell: bytes by what each kernel must read and write, each value once, and
// operations as they are counted in the bodies of the scheme.
#pragma once

#include "core/kernel_work.hpp"
#include "hydro/sweep.hpp"

namespace octant::hydro {

// Of the kernels of batches, and of the one that sweeps on cores. Operations are 0 where they are
// not known: of schemes that bring fluxes of their own, of the exact Riemann solver, whose number
// of steps the states decide, and where the gas does not change along all axes.
struct SweepCosts {
  KernelCost gather, states, fluxes, update, sweep;
};
SweepCosts sweep_costs(const HydroOptions& options, const SweepArguments& arguments);

// Tells of a sweep that is about to be launched, and of how many cells it advances: tiles may have
// others, too.
void announce_sweep(const HydroOptions& options, const SweepArguments& arguments,
                    std::int64_t cells);

// Of looking whether a stored cell is physical; nothing where nobody listens.
KernelCost cost_of_judging(const Gas& gas);

// Tells of the states and fluxes of a sweep that a repair of so many cells finds again.
void announce_repair(const HydroOptions& options, const SweepArguments& arguments,
                     std::int64_t cells);

}  // namespace octant::hydro
