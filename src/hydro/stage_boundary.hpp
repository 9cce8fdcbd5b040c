// Coarse cells beside a finer level in Runge-Kutta steps.
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

// Withholds from a stage's new state, `arguments.next`, what later stages and finer levels must not
// take out of cells at coarse-fine boundaries, and gives back what the stage before has withheld.
// Call it after each sweep of a level with a finer one, before anything else reads the new state. A
// repair changes coarse fluxes, too: give_back_inflow() before it, and call this again after it,
// with `is_repaired`.
//
// The coarse flux through a face between levels brings mass into a coarse cell in one stage, and
// the next stages carry part of it on, or finer cells that the step's new state is interpolated
// to. Refluxing then replaces that flux by the fine one, which may have brought less: the cell
// would be left with less than nothing. Later stages and finer levels may therefore take no more
// than the cell holds without those fluxes.
//
// - Gas: what is left must be physical, in mass and in internal energy. A cell that has gained more
//   than that allows moves back to its state before the step, all the way at twice as much.
// - Fractions: amounts that would bring a fraction out of its range are withheld, those of a
//   mixture in one proportion, which keeps their sum.
//
// Withheld amounts stay outside of the state and take part in the sums of Runge-Kutta stages:
// all is conserved.
void withhold_inflow(const HydroOptions& options, const mesh::BlockLayout& layout,
                     const SweepArguments& arguments, const Stage& stage,
                     const CoarseFineBoundary& boundary, bool is_repaired);

// Gives back to a level's new state what its last stage has withheld: before refluxing, or before a
// repair.
void give_back_inflow(const mesh::BlockLayout& layout, const CoarseFineBoundary& boundary,
                      double* next);

}  // namespace octant::hydro
