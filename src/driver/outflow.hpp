// What has left the domain through its boundaries.
#pragma once

#include <array>

#include "comm/reproducible_sum.hpp"
#include "core/columns.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

// Of the gas, since the run began: mass, momentum, angular momentum about the origin of
// coordinates (with the spin, if it is carried), total energy, with the work that its pressure
// did, and potential energy: the rest is no longer bound to what left, either, so that this is all
// of the potential there times its mass, and not half of it.
struct Outflow {
  enum {
    mass,
    momentum,
    angular_momentum = momentum + 3,
    energy = angular_momentum + 3,
    potential,
    terms
  };
  std::array<double, terms> amount{};

  void add_columns(Columns& columns) const;  // all but the potential energy
};

// The potentials in a level's cells before and after its (last) step; no data without gravity.
struct PotentialsOfStep {
  mesh::BlockField before, after;
};

// Adds what this rank's registers of a level hold to the terms, and empties them. spin: the first
// of hydro::spin_variables(), or -1.
void collect_outflow(mesh::Mesh& mesh, int level, int spin, const PotentialsOfStep& potentials,
                     std::array<ReproducibleSum, Outflow::terms>& terms);

}  // namespace octant::driver
