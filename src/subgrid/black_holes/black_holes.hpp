// Stages of the black-hole model, each in its own source file, and their common data.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "mesh/geometry.hpp"
#include "subgrid/black_holes/holes.hpp"
#include "subgrid/events/apply_events.hpp"
#include "subgrid/ledger.hpp"
#include "subgrid/process.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid::friends {
class FastestMethod;
}

namespace octant::subgrid {

// Parameters of the section [agn].
struct NucleusOptions {
  bool enabled = false;
  double radio_threshold = 0.01;
  double thermal_efficiency = 0.15, jet_efficiency = 1.0;
  bool mad = true;
  double radius = 1.0, least_radius = 0.0;
  double mass_loading = 100.0;
  double jet_trigger = 0.0, heating_trigger = 0.0;
  double maximum_temperature = 1e10;
  double kinetic_fraction = 1.0;
};

// Parameters of the section [black_holes].
struct BlackHoleOptions {
  // Radius, in cells of the black hole's level, within which gas is accreted.
  static constexpr double k_reach = 4.0;

  bool enabled = false;
  double seed_mass = 1e5, gas_density = 1.0, star_density = 0.0, exclusion = 50.0;
  double boost = 2.0, boost_density = 0.1, velocity_limit = 0.0;
  bool accretion = true, eddington = true;
  bool drag = true;
  double drag_boost = 2.0;
  double merge_length = 4.0;
  bool merge_bound = true;
  bool spin = true;
  double largest_spin = 0.998;
  NucleusOptions agn;

  // Declares both sections; this object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);

  // Throws InputError for incompatible options and for radii that are too large for the domain.
  void check(const mesh::Geometry& geometry) const;
};

// Context of a black-hole update: the levels whose steps have just ended and their black holes.
// Numbers are in code units.
struct HoleStep {
  SyncPoint& sync;
  Ledger& ledger;
  const BlackHoleOptions& options;
  EventSearch search;
  EventTarget target;
  int variables;  // number of gas variables
  double gravity, light, finest_cell;

  // Time step of the level of a black hole.
  double length(const Hole& hole) const { return sync.steps[hole.level - sync.coarsest]; }

  // Eddington time (mass over Eddington accretion rate) for a radiative efficiency.
  double eddington_time(double efficiency) const {
    return subgrid::eddington_time(efficiency) / sync.units.time;
  }
  // Solar mass in code units.
  double solar_mass() const { return constants::k_solar_mass / sync.units.mass; }
  // Hydrogen nuclei per cm^3 at code density 1.
  double hydrogen() const { return GasUnits(sync.units).hydrogen; }

  // Adds momentum to the accounts momentum_x, momentum_y and momentum_z.
  void enter_momentum(const std::array<double, 3>& momentum) const {
    for (int d = 0; d < 3; ++d) ledger[std::string("momentum_") + "xyz"[d]] += momentum[d];
  }
};

// Dynamical friction of a body that moves through gas at this Mach number, in units of 4 pi (G M)^2
// rho / c_s^2 (Ostriker 1999, ApJ 513, 252; 1 near Mach 1).
double wake(double mach);

// Part of the disc that is accreted at once: the mass within the warp radius or, if smaller, within
// the radius of self-gravity (Dubois et al. 2014, MNRAS 440, 1590, sections 2.2 and 2.3). Mass is
// relative to the black hole, radius in units of 2 G M / c^2. Both are 0 for a black hole without
// spin. `feeding` is the accretion rate over the Eddington rate, at most 1.
struct DiscPart {
  double mass, radius;
};
// Returns that part for a black hole of this spin and mass.
DiscPart disc_part(double spin, double solar_masses, double feeding, double efficiency);

// Accretion and dynamical friction over the steps of the black holes' levels, which have all just
// ended. Returns true, on all ranks, if any rank has such a black hole. Collective.
bool feed(const HoleStep& step, std::vector<Hole>& holes);

// Seeds black holes in cells of the finest level that are dense enough, gravitationally unstable
// and far from all black holes; none if the seed mass is 0. Returns true, on all ranks, if any
// formed. Collective.
bool form_holes(const HoleStep& step);

// Returns the remnant of a merger of two or more `holes`, sorted by id: at their centre of mass,
// with their momentum, and the id and birth of the oldest one. The others merge with the most
// massive one in the order of ids; if masses are equal, the oldest counts as the most massive. Adds
// the dissipated kinetic energy to `lost`.
Hole merged(const mesh::Geometry& geometry, std::span<const Hole> holes, double& lost);

// Merges black holes of a friends-of-friends group. Collective.
void merge_holes(const HoleStep& step, friends::FastestMethod& fastest);

// Heats gas around this rank's black holes or launches jets. Collective.
void release_energy(const HoleStep& step, std::vector<Hole>& holes);

}  // namespace octant::subgrid
