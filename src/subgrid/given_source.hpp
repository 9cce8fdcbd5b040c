// Source of heat and momentum given by a function, for drivers such as Python.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "subgrid/process.hpp"

namespace octant::subgrid {

using Columns3 = std::array<std::vector<double>, 3>;  // x, y, z components

// Gas of whole blocks of a level in code units; cell (i, j, k) of a block has index (k N + j) N +
// i.
struct SourceCells {
  int level = 0;
  double dt = 0.0;
  Columns3 centre, velocity;
  std::vector<double> density, internal_energy;  // internal_energy: per mass
};

// Source terms: heat per mass and time, and acceleration. Empty for none.
struct SourceRates {
  std::vector<double> heating;
  Columns3 acceleration;
};

// Function that gives the rates. It must be a pure function of its arguments, and local to each
// cell.
using SourceFunction = std::function<SourceRates(const SourceCells&)>;

// Returns the process `source` that applies the function, with a ledger of the energy added. Throws
// InputError if the gas is in GPU memory.
std::unique_ptr<Process> make_source(SourceFunction rates);

}  // namespace octant::subgrid
