// Initial gas from a function instead of the problem, for drivers such as Python.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "problems/problem.hpp"

namespace octant::problems {

using Vectors = std::array<std::vector<double>, 3>;  // x, y, z components

// Gas of cells, in code units. `scalars` has concentrations by name.
struct GasColumns {
  std::vector<double> density, pressure;
  Vectors velocity;
  std::map<std::string, std::vector<double>> scalars;
};

// Function that returns the gas of whole blocks of cells of one size from the cell centres; cell
// (i, j, k) of a block has index (k N + j) N + i. Gas depends on centre and size alone.
using StateFunction = std::function<GasColumns(const Vectors& centres, double cell_size)>;

// Sets the gas of a level as Problem::initial_level() does. Exceptions of the function, and
// InputError for an invalid state, end the run on all ranks. Collective.
void evaluate_level(const mesh::Mesh& mesh, int level, const hydro::HydroOptions& hydro,
                    const StateFunction& state, const Problem::StateReceiver& receive);

}  // namespace octant::problems
