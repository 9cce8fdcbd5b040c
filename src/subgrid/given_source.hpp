// Source of heat and momentum given by a function, for drivers such as Python.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "subgrid/process.hpp"

namespace octant::subgrid {

using Columns3 = std::array<std::vector<double>, 3>;  // x, y, z components

// Gas of whole blocks of N^3 cells in code units. Cell (i, j, k) has the index (k N + j) N + i.
struct SourceCells {
  int level = 0;
  double dt = 0.0;
  Columns3 centre, velocity;
  std::vector<double> density, internal_energy;  // internal_energy: per mass
};

// Source terms of each cell: heating rate per mass, and acceleration. An empty vector is zero.
struct SourceRates {
  std::vector<double> heating;
  Columns3 acceleration;
};

// Function that returns the source terms. The terms of a cell may depend only on the gas of that
// cell, the level and dt.
using SourceFunction = std::function<SourceRates(const SourceCells&)>;

// Returns the process `source`, which applies the function and records the added energy in its
// ledger. Throws InputError if the gas is in GPU memory.
std::unique_ptr<Process> make_source(SourceFunction rates);

}  // namespace octant::subgrid
