// Particles in the time step: drift, redistribution over blocks, mass deposition, outflow.
#pragma once

#include "amr/gas_solver.hpp"
#include "amr/gravity_step.hpp"
#include "amr/level_loop.hpp"
#include "amr/matter.hpp"
#include "amr/step_context.hpp"

namespace octant {

// Particles in the tasks of a step. All functions are collective unless they are const.
class ParticleStep : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::particles;

  ParticleStep(StepContext& context, Matter& matter, GravityStep& gravity, GasSolver& gas)
      : context_(context), mesh_(context.mesh), matter_(matter), gravity_(gravity), gas_(gas) {}

  // --- tasks
  // Moves the particles of a level. Local unless the gas carries particles.
  void drift(const LevelStep& step);
  // Sends the moved particles to their blocks, and validates the sweep of the gas.
  void find_blocks(const LevelStep& step);
  // Moves each particle to the finest level with cells at its position.
  void redistribute(const LevelStep& step);
  // Deposits masses on the level of the step and all finer levels.
  void deposit(const LevelStep& step) { deposit_from(step.level); }
  // Chooses the force levels, also of new particles, and deposits masses as deposit().
  void deposit_all(const LevelStep& step);

  // Deposits masses on levels >= `coarsest`.
  void deposit_from(int coarsest);
  // Adds the particles that left the domain in this step to the outflow of their kinds.
  void collect_outflow();
  // Numbers of particles of all kinds by level and own block.
  BlockCounts counts() const;

 private:
  StepContext& context_;
  mesh::Mesh& mesh_;
  Matter& matter_;
  GravityStep& gravity_;
  GasSolver& gas_;
};

}  // namespace octant
