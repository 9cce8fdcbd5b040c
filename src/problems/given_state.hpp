// A problem whose gas a function gives, in place of what its own state would be: for drivers that
// bring one, such as Python.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "problems/problem.hpp"

namespace octant::problems {

using Vectors = std::array<std::vector<double>, 3>;  // along x, y, z

// The gas of some cells, in code units; concentrations of scalars by their names.
struct GasColumns {
  std::vector<double> density, pressure;
  Vectors velocity;
  std::map<std::string, std::vector<double>> scalars;
};

// Gives the gas of cells of one size from their centres: whole blocks, cell (k N + j) N + i of
// each. Must depend on its arguments alone, and on those of a cell for that cell.
using StateFunction = std::function<GasColumns(const Vectors& centres, double cell_size)>;

// The problem, beginning with the gas that the function gives. All else is the problem's own. What
// the function throws ends the run on all ranks; so does a state that is none: InputError.
std::unique_ptr<Problem> with_state(std::unique_ptr<Problem> problem,
                                    const hydro::HydroOptions& hydro, StateFunction state);

}  // namespace octant::problems
