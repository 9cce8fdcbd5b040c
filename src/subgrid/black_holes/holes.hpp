// Black holes as particles of the kind `sinks`, and as plain structs between steps.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "particles/particles.hpp"
#include "subgrid/black_holes/spin.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// Particle kind of black holes, with its columns.
particles::Kind sinks();

// State of a black hole in code units; copied between ranks when black holes merge.
struct Hole {
  std::uint64_t id = 0;
  std::array<double, 3> position{}, velocity{};
  double mass = 0.0;
  std::int32_t level = -1, slot = -1;  // finest block that holds it, on its owner
  std::int64_t number = -1;            // index among its particles

  double birth_time = 0.0, birth_scale_factor = 1.0;
  double accreted_mass = 0.0;  // gas mass accreted since formation
  double unreleased = 0.0;     // part of the accreted mass whose energy has not been released
  double saved_energy = 0.0;
  SpinVector spin{}, gas_angular_momentum{};  // angular momentum of the gas accreted last
  double efficiency = 0.0;                    // radiative efficiency of its disc
  double bondi_rate = 0.0, eddington_rate = 0.0;
  double gas_density = 0.0, sound_speed = 0.0, relative_speed = 0.0;
  std::int64_t mergers = 0;

  // Bondi accretion rate over the Eddington rate.
  double feeding() const { return eddington_rate > 0.0 ? bondi_rate / eddington_rate : 0.0; }
};

// This rank's black holes on a level and finer ones, in the order of ids.
std::vector<Hole> read_holes(const particles::Particles& sinks, int coarsest);

// Writes the new values of black holes back to the particles from which read_holes() took them.
void write_holes(particles::Particles& sinks, std::span<const Hole> holes);

// Returns particles with the columns of these black holes.
particles::ParticleBatch batch_of(std::span<const Hole> holes);

// Event at the position of a black hole that reaches cells within `radius`.
EventRegion region_of(const Hole& hole, double radius);

// Kinetic energy of a mass at this velocity.
double kinetic_energy(double mass, const std::array<double, 3>& velocity);

}  // namespace octant::subgrid
