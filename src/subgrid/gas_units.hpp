// Time at which a process acts, and conversion of the gas from code units to proper cgs.
#pragma once

#include <cstdint>

#include "core/units.hpp"

namespace octant::subgrid {

// Hydrogen mass fraction of gas without metals.
inline constexpr double k_hydrogen_fraction = 0.76;

// Time at which processes act on a level, and the units at that time: the midpoint of the interval
// over which they act, or the current time for time-step limits and integrals. Radiation
// backgrounds are evaluated at `background_redshift`, which is the same for all levels: the
// redshift at the midpoint of the coarse step, or at the current time.
struct StepTime {
  CodeUnits units;            // proper, not comoving
  double time = 0.0;          // in code units
  double scale_factor = 1.0;  // 1 without expansion
  double background_redshift = 0.0;
  double newton_constant = 0.0;  // in code units; 0 without self-gravity
  double finest_cell = 0.0;      // cell size of the finest level allowed now
  std::int64_t coarse_step = 0;  // number of the coarse step
  std::int64_t step_within = 0;  // number of the level's step within the coarse step
};

// Conversion factors from code units to proper cgs.
struct GasUnits {
  double density, length, time, velocity;
  double energy;       // specific energy -> erg g^-1
  double temperature;  // pressure / density -> T / mu in K
  double hydrogen;     // density -> hydrogen nuclei n_H in cm^-3, in gas without metals

  explicit GasUnits(const CodeUnits& units)
      : density(units.density()),
        length(units.length),
        time(units.time),
        velocity(units.velocity()),
        energy(velocity * velocity),
        temperature(units.temperature()),
        hydrogen(k_hydrogen_fraction / constants::k_proton_mass * density) {}
};

}  // namespace octant::subgrid
