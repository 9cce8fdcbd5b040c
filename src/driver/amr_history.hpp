// The columns of an AMR run's history.csv.
#pragma once

#include "core/columns.hpp"
#include "driver/amr_simulation.hpp"

namespace octant::driver {

// The present state, as measure() found it, and the step `dt` that follows from it.
Columns history_columns(const AmrSimulation& simulation, double dt);

}  // namespace octant::driver
