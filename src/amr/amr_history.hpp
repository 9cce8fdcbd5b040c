// Columns of history.csv for an AMR run.
#pragma once

#include "amr/amr_simulation.hpp"
#include "core/number_file.hpp"

namespace octant {

// Returns the columns for the state of the last measure() and the next time step `dt`.
Columns history_columns(const AmrSimulation& simulation, double dt);

}  // namespace octant
