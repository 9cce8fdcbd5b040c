// Radiation within the step of a level: substeps of transport and exchange with the gas.
#pragma once

#include <array>

#include "amr/gas_solver.hpp"
#include "amr/level_loop.hpp"
#include "amr/step_context.hpp"
#include "radiation/moment_transport.hpp"

namespace octant {

// Sums over the domain: energy of the radiation, and its momentum F / (c times reduced c).
struct RadiationTotals {
  double energy = 0.0;
  std::array<double, 3> momentum{};
};

// Radiation of all levels. All functions are collective unless they are const.
class RadiationStep : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::radiation;

  RadiationStep(StepContext& context, GasSolver& gas);

  // --- tasks
  // Advances the radiation of a level, after its gas, by the step of the level.
  void advance(const LevelStep& step);

  // --- between steps
  // Throws InputError, on all ranks, if an initial energy is negative or an initial flux exceeds c
  // times the energy anywhere.
  void check_initial_state() const;
  // Longest step of a level: radiation.max_substeps substeps. Infinite without radiation. Local.
  double longest_step(int level) const;
  // Returns the sums over the leaf cells of all ranks, and tells the gas how fast waves of
  // radiation pressure are.
  RadiationTotals measure();

 private:
  void stage(const LevelStep& step, int substep, int substeps, int source, int target);

  StepContext& context_;
  mesh::Mesh& mesh_;
  const radiation::RadiationOptions& options_;
  GasSolver& gas_;
};

}  // namespace octant
