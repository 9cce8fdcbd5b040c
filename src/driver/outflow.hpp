// What has left the domain through its boundaries.
#pragma once

#include <array>

#include "comm/reproducible_sum.hpp"
#include "core/columns.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

// Of the gas, since the run began: mass, momentum, angular momentum about the origin of
// coordinates (with the spin, if it is carried), and total energy, with the work that its pressure
// did. Gravity's share is not in it.
struct Outflow {
  enum { mass, momentum, angular_momentum = momentum + 3, energy = angular_momentum + 3, terms };
  std::array<double, terms> amount{};

  void add_columns(Columns& columns) const;
};

// Adds what this rank's registers of a level hold to the terms, and empties them. spin: the first
// of hydro::spin_variables(), or -1.
void collect_outflow(mesh::Mesh& mesh, int level, int spin,
                     std::array<ReproducibleSum, Outflow::terms>& terms);

}  // namespace octant::driver
