// The variables that every cell of gas stores, as a list: what files and parameters call them, and
// what they mean. Whoever brings a variable declares it: hydro those of the Euler equations, dual
// energy its entropy, the parameters the user's passive scalars, processes their own.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/named.hpp"

namespace octant::hydro {

enum class GasRole {
  conserved,  // of the Euler equations
  tracer,     // carried to know another one better: the entropy of dual energy
  passive,    // the user's, which only moves with the gas
  species     // what a process brings and changes
};
constexpr auto names_of(GasRole) { return std::array{"conserved", "tracer", "passive", "species"}; }

// What a file says of a field.
struct GasField {
  std::string name, unit, description;
};

struct GasVariable {
  std::string name;      // of what snapshots show: of scalars, which are stored as densities, the
                         // concentration
  double initial = 0.0;  // when the run begins, unless the problem says something else
  std::string unit = "1", description = "concentration of a passive scalar";
  GasRole role = GasRole::species;
  int vector_axis = -1;  // of a vector's component: 0, 1, 2
  GasField stored = {};  // what checkpoints hold; empty for scalars

  GasField shown_field() const { return {name, unit, description}; }
  GasField stored_field() const;
};

using GasVariables = std::vector<GasVariable>;

// The user's, as many as hydro.scalars: scalar_0, scalar_1, ...
std::string passive_scalar_name(int number);
GasVariables passive_scalars(int count);

// The angular momentum of the gas of a cell about its centre: spin_x, spin_y, spin_z.
GasVariables spin_variables();

// The names of what snapshots show, in order.
std::vector<std::string> shown_names(const GasVariables& variables);

}  // namespace octant::hydro
