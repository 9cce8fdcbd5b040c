// Measurement of the state: totals, unphysical cells, time-step constraints, outflow.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "amr/gas_solver.hpp"
#include "amr/gravity_step.hpp"
#include "amr/level_loop.hpp"
#include "amr/matter.hpp"
#include "amr/particle_step.hpp"
#include "amr/process_step.hpp"
#include "amr/radiation_step.hpp"
#include "amr/step_context.hpp"
#include "comm/reproducible_sum.hpp"
#include "core/number_file.hpp"
#include "mesh/mesh.hpp"

namespace octant {

// Cumulative outflow of gas: mass, momentum, angular momentum about the origin (including the spin
// variables, if any), total energy with pressure work, and potential energy. The latter is the full
// potential times the mass, without a factor 1/2, because the remaining matter loses the same
// binding energy. Further terms are the energy of grey radiation and the number of photons.
struct Outflow {
  // Indices of the terms.
  enum {
    mass,
    momentum,
    angular_momentum = momentum + 3,
    energy = angular_momentum + 3,
    potential,
    radiation,
    photons,
    terms
  };
  std::array<double, terms> amount{};

  // Adds columns for all terms of the gas except the potential energy.
  void add_columns(Columns& columns) const;
};

// Cell potentials of a level before and after its last step; no data without gravity.
struct PotentialsOfStep {
  mesh::BlockField before, after;
};

// Adds the outflow through the domain boundaries of a level on this rank to `terms`, and sets the
// registers of boundary fluxes to zero. `spin`: index of the first variable of the angular momentum
// within a cell (hydro::spin_variables()), -1 if there is none.
void collect_outflow(mesh::Mesh& mesh, int level, int spin,
                     const radiation::RadiationOptions& radiation,
                     const PotentialsOfStep& potentials,
                     std::array<ReproducibleSum, Outflow::terms>& terms);

// Totals over the leaf cells of the domain in code units, with the same bits on any number of
// ranks.
struct Totals {
  // Gas.
  double mass = 0, momentum[3] = {0, 0, 0}, total_energy = 0, kinetic_energy = 0;
  double absolute_momentum = 0;
  std::int64_t outside_table = 0;  // leaf cells outside the table of the equation of state
  RadiationTotals radiation;
  std::vector<particles::ParticleTotals> particles;  // totals by particle kind
  double potential_energy = 0;                       // potential energy of all matter
  std::vector<std::int64_t> blocks, leaf_cells;      // by level
  std::vector<double> integrals;                     // values of output.integrals

  Totals(int levels, std::size_t kinds)
      : particles(kinds), blocks(levels, 0), leaf_cells(levels, 0) {}
  // Internal energy of the gas: total minus kinetic energy.
  double internal_energy() const { return total_energy - kinetic_energy; }
  // Mass of all particles, added in the order of the kinds.
  double particle_mass() const;
  // Kinetic energy of all particles, added in the order of the kinds.
  double particle_kinetic_energy() const;
};

// Measurement of the state after each step. All functions are collective unless they are const.
class Measurement : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::measurement;

  Measurement(StepContext& context, Matter& matter, GasSolver& gas, RadiationStep& radiation,
              GravityStep& gravity, ParticleStep& particles, ProcessStep& processes);

  // Measures totals and constraints of the next step, unless they are known. Throws RunError with
  // level, position and values if a density or energy is NaN or not positive.
  void measure();
  // Invalidates the measurement after changes of the state.
  void invalidate() { measured_ = false; }

  // --- tasks
  // Adds the work of gravity on the gas to the budgets.
  void count_work(const LevelStep& step);
  // Distributes the time of the step over the costs of blocks.
  void count_costs(const LevelStep& step);
  // Measures the state if the last sweep awaits validation.
  void validate(const LevelStep& step);
  // Adds the step's outflow of gas and particles through the domain boundaries.
  void collect_outflow(const LevelStep& step);

  // --- regridding, for the energy budget
  // Measures the energies before a regrid, if the run has a budget.
  void before_regrid();
  // Adds the energy changes of the regrid to the budget.
  void after_adapt(bool regridded);

  double stable_dt() const;  // valid after measure()
  // Totals at the last measure().
  const Totals& totals() const { return totals_; }
  // Outflow since the start of the run.
  const Outflow& outflow() const { return outflow_; }
  // Sets outflow() after a restart.
  void resume(const Outflow& outflow) { outflow_ = outflow; }

 private:
  void measure_cells();
  void report_outside_table(std::int64_t before) const;
  std::vector<std::int64_t> count_cells();
  void measure_integrals();
  void measure_limits();

  StepContext& context_;
  mesh::Mesh& mesh_;
  const AmrOptions& options_;
  Matter& matter_;
  GasSolver& gas_;
  RadiationStep& radiation_;
  GravityStep& gravity_;
  ParticleStep& particles_;
  ProcessStep& processes_;
  Totals totals_;
  Outflow outflow_;
  std::vector<double> limits_;  // by level: time-step constraints other than signals
  bool measured_ = false;       // false after changes of the state
  // Energies before a regrid: potential energy, and gas energy until the change by the regrid is
  // known.
  std::optional<double> potential_before_regrid_, gas_energy_before_regrid_;
};

}  // namespace octant
