// The moment at which a process acts, and what the gas of the code is then in proper cgs.
#pragma once

#include <cstdint>

#include "core/code_units.hpp"

namespace octant::subgrid {

// Mass share of hydrogen in gas without metals.
inline constexpr double k_hydrogen_share = 0.76;

// The middle of a step of a level. All levels of a coarse step share `background_redshift`, that of
// its middle, at which radiation backgrounds are taken.
struct Moment {
  CodeUnits units;            // proper, not comoving
  double time = 0.0;          // of the code
  double scale_factor = 1.0;  // 1 where nothing expands
  double background_redshift = 0.0;
  double newton_constant = 0.0;  // in code units; 0: no self-gravity
  double finest_cell = 0.0;      // edge of the cells of the finest level that is allowed now
  // The number of the coarse step, and of the level's own step within it.
  std::int64_t coarse_step = 0;
  std::int64_t step_within = 0;
};

// Factors that turn numbers of the code into proper cgs.
struct GasUnits {
  double density, length, time, velocity;
  double energy;       // per mass: erg g^-1
  double temperature;  // pressure / density -> T / mu in K
  double hydrogen;     // density -> hydrogen nuclei n_H in cm^-3, in gas without metals

  explicit GasUnits(const CodeUnits& units)
      : density(units.density()),
        length(units.length),
        time(units.time),
        velocity(units.velocity()),
        energy(velocity * velocity),
        temperature(units.temperature()),
        hydrogen(k_hydrogen_share / constants::k_proton_mass * density) {}
};

}  // namespace octant::subgrid
