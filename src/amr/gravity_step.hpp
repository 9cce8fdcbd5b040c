// Gravity in the time step: kicks of gas and particles, solutions for the potential, and the energy
// budget of an expanding box.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "amr/energy_budget.hpp"
#include "amr/level_loop.hpp"
#include "amr/matter.hpp"
#include "amr/step_context.hpp"
#include "comm/joint_sums.hpp"
#include "gravity/gravity.hpp"

namespace octant {

// Gravity in the tasks of a step. All functions are collective. Tasks require a solver:
// gravity.enabled.
class GravityStep : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::gravity;

  using SumsOfKinds = std::vector<particles::Particles::MassSums>;

  GravityStep(StepContext& context, Matter& matter);

  // Null without self-gravity.
  gravity::Gravity* solver() { return solver_.get(); }
  // Potential and forces, for reading; null without self-gravity.
  const gravity::Gravity* solver() const { return solver_.get(); }

  // --- tasks
  // Kicks gas and particles of a level for the first half of its step.
  void kick_first_half(const LevelStep& step);
  // Solves for the potential on the level of the step and all finer levels.
  void solve(const LevelStep& step);
  // Kicks gas and particles of a level for the second half of its step.
  void kick_second_half(const LevelStep& step);
  // Restricts the gas from the finest level to the level of the step.
  void restrict_gas(const LevelStep& step);

  // --- between steps
  // Maps potentials to a changed mesh, and solves for those of new blocks. `regridded` is true if
  // blocks were created or removed, false if they only changed ranks. A solver that solves all
  // levels together then solves for all of them, because forces on two meshes would not add up to
  // zero.
  void follow_mesh(bool regridded);
  // Adds the cycles that the solver counted for blocks to the meter's counters of gravity.
  void report_costs();
  // Continues after a restart with the potentials of the checkpoint. `moved` is true if blocks
  // changed ranks.
  void resume(bool moved);
  // Returns the potential of a level as a field for particles.
  particles::VectorField potential(int level) const;
  // Returns minus half the self-potential of a cloud of unit mass in cells of the base level. Times
  // a particle's squared mass, it is minus the contribution to the potential energy.
  double self_potential_of_base() const;
  // Potential energy of all matter, computed once per state. In an expanding box it excludes the
  // part without forces, because the energy equation contains only the work of forces.
  double potential_energy();
  // Passes the terms of potential_energy() to `joint` unless the energy is known. After the
  // reduction, potential_energy() returns it without one. Collective.
  void add_potential_energy(JointSums& joint);
  // Invalidates the potential energy after changes of the state.
  void invalidate_energy() { potential_energy_.reset(); }

  // --- the energy budget of an expanding box
  EnergyBudget& energy() { return energy_; }
  // Energy budget, for reading.
  const EnergyBudget& energy() const { return energy_; }
  // True in an expanding box with self-gravity.
  bool has_budget() const { return solver_ && context_.options.universe; }
  // Sums over particles of mass times potential, by kind, on levels >= `coarsest`.
  SumsOfKinds sums_in_potential(int coarsest);
  // Records the potential energies of particles before and after they changed level, on levels >=
  // `coarsest`. Local.
  void record_redistribution_energy(int coarsest, SumsOfKinds before, SumsOfKinds after);
  // Passes the budgets since the last call to `joint`, whose reduction adds them to energy(): the
  // changes by record_redistribution_energy() and the withheld work. Local.
  void add_budgets(JointSums& joint);

 private:
  void solve_levels(int coarsest, double time);
  void kick(int level, double half_step, gravity::Half half);
  double particle_energy(const SumsOfKinds& kinds, double time,
                         std::span<const ReproducibleSum>& totals) const;

  StepContext& context_;
  mesh::Mesh& mesh_;
  Matter& matter_;
  std::unique_ptr<gravity::Gravity> solver_;
  EnergyBudget energy_;
  // Particles before and after they changed level, at a common time of levels >= `coarsest`.
  struct Redistribution {
    int coarsest;
    double time;
    SumsOfKinds before, after;
  };
  std::vector<Redistribution> redistributions_;  // since the last add_budgets()
  std::optional<double> potential_energy_;       // empty until computed
};

}  // namespace octant
