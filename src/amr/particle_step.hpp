// Particles in the time step: drift, redistribution over blocks, mass deposition, outflow.
#pragma once

#include "amr/gravity_step.hpp"
#include "amr/level_loop.hpp"
#include "amr/matter.hpp"
#include "amr/step_context.hpp"

namespace octant {

// Particles in the tasks of a step. All functions are collective unless they are const.
class ParticleStep : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::particles;

  ParticleStep(StepContext& context, Matter& matter, GravityStep& gravity)
      : context_(context), mesh_(context.mesh), matter_(matter), gravity_(gravity) {}

  // --- tasks
  // Moves the particles of a level.
  void drift(const LevelStep& step);
  // Moves each particle to the finest level with cells at its position.
  void redistribute(const LevelStep& step);
  // Deposits masses on levels from that of the step on.
  void deposit(const LevelStep& step) { deposit_from(step.level); }
  // Chooses the force levels of new particles, too, and deposits particles that changed level.
  void deposit_all(const LevelStep& step);

  // Deposits masses on levels from `coarsest` on.
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
};

}  // namespace octant
