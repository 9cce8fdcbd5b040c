#include "amr/particle_step.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace octant {

void ParticleStep::drift(const LevelStep& step) {
  const auto working = context_.work("particles", cost::particles, step.level);
  const auto gas = [&](int of) -> particles::VectorField {
    const mesh::BlockLayout& layout = mesh_.layout();
    return {mesh_.fields(of).blocks(mesh::LevelFields::k_now) +
                std::int64_t{hydro::k_mass} * layout.stride_variable,
            layout.stride_slot, layout.stride_variable};
  };
  for (particles::Particles& kind : matter_.kinds())
    if (kind.kind().motion == particles::Motion::flows)
      kind.carry(step.level, gas(step.level), gas(std::max(step.level - 1, 0)));
  particles::Particles::move(matter_.kinds(), step.level, step.dt);
}

// The messages of moving particles tell all ranks whether the sweep of the gas has to be repaired.
void ParticleStep::find_blocks(const LevelStep& step) {
  const auto working = context_.work("particles", cost::particles, step.level);
  const bool any_bad_tiles =
      particles::Particles::find_blocks(matter_.kinds(), step.level, gas_.pending_bad_tiles() > 0);
  gas_.validate_with_particles(any_bad_tiles);
}

// Does nothing on the finest level: the drift has already moved its particles to their blocks, and
// no finer level exists.
void ParticleStep::redistribute(const LevelStep& step) {
  const int coarsest = step.level;
  if (coarsest == mesh_.finest_level()) return;
  const auto working = context_.work("particles", cost::particles_onwards, coarsest);
  const bool has_budget = gravity_.has_budget();
  const auto before =
      has_budget ? gravity_.sums_in_potential(coarsest) : GravityStep::SumsOfKinds{};
  GravityStep::SumsOfKinds after = before;
  auto of_kind = after.begin();
  std::vector<particles::Particles::MassSums*> sums;
  for (const particles::Particles& kind : matter_.kinds())
    sums.push_back(has_budget && kind.kind().has_mass ? &*of_kind++ : nullptr);
  particles::Particles::synchronise(matter_.kinds(), coarsest, sums);
  if (has_budget) gravity_.record_redistribution_energy(coarsest, before, std::move(after));
}

void ParticleStep::deposit_all(const LevelStep& step) {
  matter_.choose_force_levels(step.level);
  deposit_from(step.level);
}

void ParticleStep::deposit_from(int coarsest) {
  const auto working = context_.work("particles", cost::particles_onwards, coarsest);
  matter_.update_density(coarsest);
}

// Collects the totals of particles that have left the domain. Their potential energy is that in the
// potential of the remaining matter, without self-potentials (GravityStep::potential_energy()).
void ParticleStep::collect_outflow() {
  std::function<particles::VectorField(int)> potentials;
  if (gravity_.solver()) potentials = [&](int level) { return gravity_.potential(level); };
  particles::Particles::collect_outflow(matter_.kinds(), potentials,
                                        gravity_.self_potential_of_base());
}

BlockCounts ParticleStep::counts() const {
  BlockCounts counts;
  for (int level = 0; level < context_.levels(); ++level) {
    const auto own = mesh_.blocks(level).own();
    auto& of_level = counts.emplace_back(own.size(), 0);
    for (const particles::Particles& kind : matter_.kinds()) {
      const auto by_slot = kind.counts_by_slot(level);
      for (std::size_t n = 0; n < own.size(); ++n) of_level[n] += by_slot[own[n]];
    }
  }
  return counts;
}

}  // namespace octant
