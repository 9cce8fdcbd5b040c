// A source of heat and momentum that a function gives: for drivers that bring one, such as Python.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "subgrid/process.hpp"

namespace octant::subgrid {

using Columns3 = std::array<std::vector<double>, 3>;  // along x, y, z

// The gas of some cells of a level, in code units: whole blocks, cell (k N + j) N + i of each.
struct SourceCells {
  int level = 0;
  double dt = 0.0;
  Columns3 centre, velocity;
  std::vector<double> density, internal_energy;  // the latter per mass
};

// What the gas of these cells gets: heat per mass and time, and acceleration. Empty for none.
struct SourceRates {
  std::vector<double> heating;
  Columns3 acceleration;
};

// Must depend on its arguments alone, and on those of a cell for that cell.
using SourceFunction = std::function<SourceRates(const SourceCells&)>;

// A process `source` that acts as the function says, with a ledger of the energy that it added.
// Throws InputError where the gas lies in the memory of a GPU.
std::unique_ptr<Process> make_source(SourceFunction rates);

}  // namespace octant::subgrid
