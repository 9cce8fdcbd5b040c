// Gravity in the time step: kicks of gas and particles, solutions for the potential, and the energy
// budget of an expanding box.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "amr/energy_budget.hpp"
#include "amr/level_loop.hpp"
#include "amr/matter.hpp"
#include "amr/step_context.hpp"
#include "gravity/gravity.hpp"

namespace octant {

// All functions are collective. Tasks require a solver, gravity.enabled.
class GravityStep : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::gravity;

  using SumsOfKinds = std::vector<particles::Particles::MassSums>;

  GravityStep(StepContext& context, Matter& matter);

  // Null without self-gravity.
  gravity::Gravity* solver() { return solver_.get(); }
  const gravity::Gravity* solver() const { return solver_.get(); }

  // --- tasks
  void kick_first_half(const LevelStep& step);
  void solve(const LevelStep& step);  // on all levels from that of the step on
  void kick_second_half(const LevelStep& step);
  void restrict_gas(const LevelStep& step);

  // --- between steps
  // Maps potentials to a changed mesh, and solves for those of new blocks.
  void follow_mesh();
  // Adds the cycles that the solver counted for blocks to the meter's counters of gravity.
  void report_costs();
  // Continues after a restart with the potentials of the checkpoint. `moved`: blocks changed ranks.
  void resume(bool moved);
  // Returns the potential of a level as a field for particles.
  particles::VectorField potential(int level) const;
  // Returns -1/2 times the self-potential of a cloud of unit mass in cells of the base level; times
  // a squared mass it is the contribution to the potential energy, with opposite sign.
  double own_potential_of_base() const;
  // Potential energy of all matter, computed once per state. In an expanding box it excludes the
  // part without forces, because the energy equation contains the work of forces.
  double potential_energy();
  // Invalidates the potential energy after changes of the state.
  void invalidate_energy() { potential_energy_.reset(); }

  // --- the energy budget of an expanding box
  EnergyBudget& energy() { return energy_; }
  const EnergyBudget& energy() const { return energy_; }
  bool has_budget() const { return solver_ && context_.options.universe; }
  // Sums over particles of their masses times the potential, on levels from `coarsest` on.
  SumsOfKinds sums_in_potential(int coarsest);
  // Accounts for the change of cloud sizes when particles change level.
  void count_redistribution(int coarsest, const SumsOfKinds& before, const SumsOfKinds& after);

 private:
  void solve_levels(int coarsest, double time);
  void kick(int level, double half_step, gravity::Half half);
  std::vector<double> potential_energies(std::initializer_list<SumsOfKinds> states, double time);

  StepContext& context_;
  mesh::Mesh& mesh_;
  Matter& matter_;
  std::unique_ptr<gravity::Gravity> solver_;
  EnergyBudget energy_;
  std::optional<double> potential_energy_;  // empty until computed
};

}  // namespace octant
