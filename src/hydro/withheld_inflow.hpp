// Coarse cells beside a finer level: amounts that Runge-Kutta steps withhold there.
#pragma once

#include <cstdint>

#include "hydro/hydro_options.hpp"
#include "hydro/sweep.hpp"
#include "mesh/transfer.hpp"

namespace octant::hydro {

// Coarse cells of a level at coarse-fine boundaries, which refluxing will correct. Arrays lie in
// device memory.
struct RefluxedLevel {
  mesh::Corrections corrections;
  const double* coarse_fluxes;  // flux registers, indexed by CorrectionTask::coarse
  double inverse_cell_size;
  double* withheld;  // withheld_values() amounts, kept until refluxing
};

// Number of withheld amounts (doubles) for this many registers.
std::int64_t withheld_values(const mesh::BlockLayout& layout, std::int64_t registers);

// Withholds from a stage's new state, `arguments.next`, what later stages and finer levels must not
// remove from cells at coarse-fine boundaries, and adds back what the previous stage has withheld.
// Must be called after each sweep of a level with a finer one, before the new state is read. A
// repair also changes coarse fluxes: call give_back_inflow() before it, and this function again
// after it, with `is_repaired`.
//
// The coarse flux through a coarse-fine face may bring mass into a coarse cell in one stage, and
// later stages, or finer cells interpolated from the new state, transport part of that mass
// further. Refluxing then replaces that flux by the fine one, which may have brought less: the
// cell's mass could become negative. Later stages and finer levels may therefore remove no more
// than the cell contains without those fluxes.
//
// - Gas: the remainder must be physical, in mass and in internal energy. A cell with a larger gain
//   moves back towards its state before the step, fully at twice the allowed gain.
// - Fractions: amounts that would move a fraction out of its range are withheld. All fractions
//   of a mixture are withheld in one proportion, which preserves their sum.
//
// Withheld amounts are stored outside the state and enter the sums of Runge-Kutta stages, so that
// everything is conserved.
void withhold_inflow(const HydroOptions& options, const mesh::BlockLayout& layout,
                     const SweepArguments& arguments, const Stage& stage,
                     const RefluxedLevel& boundary, bool is_repaired);

// Adds to a level's new state what its last stage has withheld: before refluxing or a repair.
void give_back_inflow(const mesh::BlockLayout& layout, const RefluxedLevel& boundary, double* next);

}  // namespace octant::hydro
