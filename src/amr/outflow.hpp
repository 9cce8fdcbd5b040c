// Outflow through the domain boundaries.
#pragma once

#include <array>

#include "comm/reproducible_sum.hpp"
#include "core/number_file.hpp"
#include "mesh/mesh.hpp"

namespace octant {

// Cumulative outflow of gas: mass, momentum, angular momentum about the origin (including the spin
// variables, if any), total energy with pressure work, and potential energy. The latter is the full
// potential times the mass, without a factor 1/2, because the remaining matter loses the same
// binding energy.
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

  void add_columns(Columns& columns) const;  // without the potential energy
};

// Cell potentials of a level before and after its last step; no data without gravity.
struct PotentialsOfStep {
  mesh::BlockField before, after;
};

// Adds this rank's boundary registers of a level to the sums and clears them. `spin` is the first
// of hydro::spin_variables(), or -1.
void collect_outflow(mesh::Mesh& mesh, int level, int spin, const PotentialsOfStep& potentials,
                     std::array<ReproducibleSum, Outflow::terms>& terms);

}  // namespace octant
