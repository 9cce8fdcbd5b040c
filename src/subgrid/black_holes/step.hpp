// What the parts of a step of black holes share.
#pragma once

#include <array>
#include <cmath>
#include <string>

#include "subgrid/black_holes/black_hole_options.hpp"
#include "subgrid/black_holes/holes.hpp"
#include "subgrid/events/apply_events.hpp"
#include "subgrid/ledger.hpp"
#include "subgrid/scene.hpp"

namespace octant::subgrid {

// The levels whose steps have just ended, and the holes on them; numbers are in code units.
struct HoleStep {
  Scene& scene;
  Ledger& ledger;
  const BlackHoleOptions& options;
  EventSearch search;
  EventTarget target;
  int variables;  // of the gas
  double gravity, light, finest_cell;

  // How long the step was of a hole's level.
  double length(const Hole& hole) const { return scene.steps[hole.level - scene.coarsest]; }

  // What a time at Eddington's limit is, by the efficiency: a mass over its rate.
  double eddington_time(double efficiency) const {
    return subgrid::eddington_time(efficiency) / scene.units.time;
  }
  double solar_mass() const { return constants::k_solar_mass / scene.units.mass; }
  double hydrogen() const { return GasUnits(scene.units).hydrogen; }

  void enter_momentum(const std::array<double, 3>& momentum) const {
    for (int d = 0; d < 3; ++d) ledger[std::string("momentum_") + "xyz"[d]] += momentum[d];
  }
};

}  // namespace octant::subgrid
