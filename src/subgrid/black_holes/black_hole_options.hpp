// Sections [black_holes] and [agn].
#pragma once

#include "mesh/geometry.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid {

struct NucleusOptions {
  bool enabled = false;
  double radio_threshold = 0.01;
  double thermal_efficiency = 0.15, jet_efficiency = 1.0;
  bool mad = true;
  double radius = 1.0, least_radius = 0.0;
  double mass_loading = 100.0;
  double jet_trigger = 0.0, heating_trigger = 0.0;
  double maximum_temperature = 1e10;
  double kinetic_fraction = 1.0;
};

struct BlackHoleOptions {
  // Cells of a hole's level in which it looks at the gas.
  static constexpr double k_reach = 4.0;

  bool enabled = false;
  double seed_mass = 1e5, gas_density = 1.0, star_density = 0.0, exclusion = 50.0;
  double boost = 2.0, boost_density = 0.1, velocity_limit = 0.0;
  bool accretion = true, eddington = true;
  bool drag = true;
  double drag_boost = 2.0;
  double merge_length = 4.0;
  bool merge_bound = true;
  bool spin = true;
  double largest_spin = 0.998;
  NucleusOptions agn;

  void declare(ParameterSchema& schema);

  // Throws InputError for what does not fit together, or is too large for the domain.
  void check(const mesh::Geometry& geometry) const;
};

}  // namespace octant::subgrid
