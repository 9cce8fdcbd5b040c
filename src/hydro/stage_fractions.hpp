// Fractions in coarse cells beside a finer level, in Runge-Kutta steps.
#pragma once

#include "hydro/hydro_options.hpp"
#include "hydro/sweep.hpp"
#include "mesh/transfer.hpp"

namespace octant::hydro {

// A level whose coarse cells at coarse-fine boundaries refluxing will correct. Arrays lie in device
// memory.
struct CoarseFineBoundary {
  mesh::Corrections corrections;
  const double* coarse_fluxes;  // registers that CorrectionTask::coarse counts
  double inverse_cell_size;
  double* withheld;  // withheld_values() of them, kept until refluxing
};

// Doubles for the amounts withheld beside so many registers.
std::int64_t withheld_values(const mesh::BlockLayout& layout, std::int64_t registers);

// Withholds from a stage's new state, `arguments.next`, the part of the fractions that refluxing
// may take away again, and gives back what the stage before has withheld. Call it after each sweep
// of a level with a finer one, before anything else reads the new state.
//
// The coarse flux through a face between levels brings an amount into a coarse cell in one stage,
// and the next stages carry part of it on, or finer cells that the step's new state is interpolated
// to. Refluxing then replaces that flux by the fine one, which may have brought less: the cell
// would be left with less than nothing. Others may therefore take no more than the cell holds
// without those fluxes. The rest waits outside of the state and takes part in the sums of
// Runge-Kutta stages: amounts are conserved. The fractions of a mixture are withheld in one
// proportion, which keeps their sum.
void withhold_fractions(const HydroOptions& options, const mesh::BlockLayout& layout,
                        const SweepArguments& arguments, const Stage& stage,
                        const CoarseFineBoundary& boundary);

// Gives back to a level's state `now` what its last stage has withheld, before refluxing.
void give_back_fractions(const HydroOptions& options, const mesh::BlockLayout& layout,
                         const CoarseFineBoundary& boundary, double* now);

}  // namespace octant::hydro
