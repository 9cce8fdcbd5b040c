// Parameters of the equation of state.
#pragma once

#include <array>
#include <vector>

#include "core/named.hpp"
#include "hydro/eos/barotrope.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::hydro {

struct HydroOptions;

// Equation of state of the gas.
enum class EquationOfState { ideal, isothermal, barotropic };
// Names of the values in hydro.equation_of_state.
constexpr auto names_of(EquationOfState) { return std::array{"ideal", "isothermal", "barotropic"}; }

// Parameters of the equation of state, other than hydro.gamma.
struct EosOptions {
  EquationOfState kind = EquationOfState::ideal;
  double sound_speed = 0.0;                  // hydro.sound_speed
  std::vector<double> densities, exponents;  // hydro.barotropic_densities and _exponents

  // Binds the parameters to this object, which must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // Throws InputError if values are inconsistent or incompatible with other parameters of hydro.*.
  void check(const HydroOptions& options) const;

  // True if the pressure is a function of the density alone.
  bool is_barotropic() const { return kind != EquationOfState::ideal; }
  // The equation of state for kernels; without pieces if it is ideal.
  Barotrope barotrope() const;
  // Smallest exponent d ln p / d ln rho of a barotropic gas.
  double smallest_exponent() const;
};

}  // namespace octant::hydro
