// Costs of a sweep per cell: bytes that each kernel must read and write, each value once, and
// operations as counted in the bodies of the scheme.
#pragma once

#include "core/observer.hpp"
#include "hydro/sweep.hpp"

namespace octant::hydro {

// Costs of the kernels of batches, and of the CPU kernel. Operations are 0 if unknown: for schemes
// with their own fluxes, for the exact Riemann solver, whose number of iterations depends on the
// states, for equations of state other than the ideal gas, and in runs with one or two dimensions.
struct SweepCosts {
  KernelCost gather, states, fluxes, update, sweep;
};
// Returns the costs of a sweep with these options.
SweepCosts sweep_costs(const HydroOptions& options, const SweepArguments& arguments);

// Records a sweep before its launch, with the number of cells that it advances (tiles may contain
// other cells, too).
void record_sweep(const HydroOptions& options, const SweepArguments& arguments, std::int64_t cells);

// Cost of testing whether a stored cell is physical; 0 without a callback for kernel work.
KernelCost cost_of_validation(const Gas& gas);

// Records the states and fluxes that a repair of this many cells recomputes.
void record_repair(const HydroOptions& options, const SweepArguments& arguments,
                   std::int64_t cells);

}  // namespace octant::hydro
