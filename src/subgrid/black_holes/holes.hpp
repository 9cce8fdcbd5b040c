// Black holes as particles of the kind `sinks`, and as plain values between steps.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "particles/particles.hpp"
#include "subgrid/black_holes/spin.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

particles::Kind sinks();

// A hole, in code units; copied between ranks when holes merge.
struct Hole {
  std::uint64_t id = 0;
  std::array<double, 3> position{}, velocity{};
  double mass = 0.0;
  std::int32_t level = -1, slot = -1;  // of the finest block that holds it, on its owner
  std::int64_t number = -1;            // among its particles

  double birth_time = 0.0, birth_scale_factor = 1.0;
  double swallowed = 0.0;   // gas, since the hole formed
  double unreleased = 0.0;  // of that, what has not become energy yet
  double saved_energy = 0.0;
  SpinVector spin{}, gas_angular_momentum{};  // of the gas that it swallowed last
  double efficiency = 0.0;                    // of its disc
  double bondi_rate = 0.0, eddington_rate = 0.0;
  double gas_density = 0.0, sound_speed = 0.0, relative_speed = 0.0;
  std::int64_t mergers = 0;

  // Gas reaches it by this share of Eddington's rate.
  double feeding() const { return eddington_rate > 0.0 ? bondi_rate / eddington_rate : 0.0; }
};

// The own holes on a level and finer ones, in the order of ids.
std::vector<Hole> read_holes(const particles::Particles& sinks, int coarsest);

// Gives own holes, as read_holes() found them and where they were, their new values.
void write_holes(particles::Particles& sinks, std::span<const Hole> holes);

particles::ParticleBatch batch_of(std::span<const Hole> holes);

// A hole as an event that reaches so far.
EventPlace place_of(const Hole& hole, double radius);

double kinetic_energy(double mass, const std::array<double, 3>& velocity);

}  // namespace octant::subgrid
