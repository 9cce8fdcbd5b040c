// Parameters of the equation of state.
#pragma once

#include <array>
#include <vector>

#include "core/named.hpp"
#include "hydro/eos/barotrope.hpp"
#include "hydro/eos/cold_curve.hpp"

namespace octant {
class ParameterSchema;
struct CodeUnits;
}  // namespace octant

namespace octant::hydro {

struct HydroOptions;

// Equation of state of the gas.
enum class EquationOfState { ideal, isothermal, barotropic, white_dwarf, stiffened };
// Names of the values in hydro.equation_of_state.
constexpr auto names_of(EquationOfState) {
  return std::array{"ideal", "isothermal", "barotropic", "white_dwarf", "stiffened"};
}

// Parameters of the equation of state, other than hydro.gamma.
struct EosOptions {
  EquationOfState kind = EquationOfState::ideal;
  double sound_speed = 0.0;                  // hydro.sound_speed
  std::vector<double> densities, exponents;  // hydro.barotropic_densities and _exponents
  double electron_weight = 2.0;              // hydro.electron_weight
  // hydro.degeneracy_pressure and _density; 0: from the code units.
  double given_degeneracy_pressure = 0.0, given_degeneracy_density = 0.0;
  // Constants A and B of degenerate electrons, in code units.
  double degeneracy_pressure = 0.0, degeneracy_density = 0.0;
  double stiffening_pressure = 0.0;  // hydro.stiffening_pressure

  // Binds the parameters to this object, which must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // Throws InputError if values are inconsistent or incompatible with other parameters of hydro.*.
  void check(const HydroOptions& options) const;
  // Sets the constants of degenerate electrons from the parameters or the code units; without units
  // (nullptr), throws InputError unless parameters set both.
  void set_constants(const CodeUnits* units);

  // True if the pressure is a function of the density alone.
  bool is_barotropic() const {
    return kind == EquationOfState::isothermal || kind == EquationOfState::barotropic;
  }
  // True if the gas has a cold pressure besides its thermal pressure.
  bool has_cold_curve() const {
    return kind == EquationOfState::white_dwarf || kind == EquationOfState::stiffened;
  }
  // The cold curve for kernels; none if the gas has none.
  ColdCurve cold_curve() const;
  // The equation of state for kernels; without pieces if it is ideal.
  Barotrope barotrope() const;
  // Lower bound of rho c^2 / p for a gas with this ratio of specific heats: the smallest exponent
  // d ln p / d ln rho of a barotropic gas, or that of ultrarelativistic degenerate electrons.
  double smallest_exponent(double gamma) const;
};

}  // namespace octant::hydro
