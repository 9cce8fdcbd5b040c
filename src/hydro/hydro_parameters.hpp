// The hydro.* parameters of a run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "hydro/hydro_options.hpp"

namespace octant::hydro {

struct HydroParameters {
  bool enabled = true;
  double gamma = 1.4;
  Integrator integrator = Integrator::muscl_hancock;
  std::string reconstruction = "plm", limiter = "mc", riemann = "hllc_hybrid";
  bool contact_steepening = false;
  double density_floor = 0.0, pressure_floor = 0.0;
  int scalars = 0;
  std::vector<double> fraction_groups;  // whole numbers
  bool angular_momentum = false;
  DualEnergy dual_energy = DualEnergy::off;
  double dual_energy_threshold = 1e-3;
  int dimensions = 3;
  std::array<double, 3> acceleration{};
  WellBalanced well_balanced = WellBalanced::off;

  // Binds the parameters to this object, which must outlive every read of the schema.
  void declare(ParameterSchema& schema);

  // What the parameters, once read, ask for.
  HydroOptions options() const;

 private:
  // Throws InputError where a balanced scheme does not fit the rest.
  void check_balance() const;
};

}  // namespace octant::hydro
