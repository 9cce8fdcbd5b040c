// Parameters of the equation of state.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "hydro/eos/barotrope.hpp"
#include "hydro/eos/cold_curve.hpp"
#include "hydro/eos/real_gas.hpp"
#include "hydro/eos/sound_speed_profile.hpp"

namespace octant {
class ParameterSchema;
struct CodeUnits;
}  // namespace octant

namespace octant::mesh {
class Geometry;
}

namespace octant::hydro {

struct HydroOptions;
class TabulatedGas;

// Equation of state of the gas.
enum class EquationOfState {
  ideal,
  isothermal,
  locally_isothermal,
  barotropic,
  white_dwarf,
  stiffened,
  gas_radiation,
  table
};
// Names of the values in hydro.equation_of_state.
constexpr auto names_of(EquationOfState) {
  return std::array{"ideal",       "isothermal", "locally_isothermal", "barotropic",
                    "white_dwarf", "stiffened",  "gas_radiation",      "table"};
}

// Axis of the sound-speed profile of locally isothermal gas.
enum class ProfileAxis { x, y, z };
// Names of the values in hydro.sound_speed_axis.
constexpr auto names_of(ProfileAxis) { return std::array{"x", "y", "z"}; }

// Parameters of the equation of state, other than hydro.gamma.
struct EosOptions {
  EquationOfState kind = EquationOfState::ideal;
  double sound_speed = 0.0;                       // hydro.sound_speed
  double sound_speed_exponent = 0.0;              // hydro.sound_speed_exponent
  double sound_speed_radius = 0.0;                // hydro.sound_speed_radius
  double sound_speed_softening = 0.0;             // hydro.sound_speed_softening
  std::vector<double> sound_speed_centre;         // hydro.sound_speed_centre; empty: of the domain
  ProfileAxis sound_speed_axis = ProfileAxis::z;  // hydro.sound_speed_axis
  SoundSpeedProfile profile;                      // set by set_profile(), without hydro.sound_speed
  std::vector<double> densities, exponents;       // hydro.barotropic_densities and _exponents
  double electron_weight = 2.0;                   // hydro.electron_weight
  // hydro.degeneracy_pressure and _density; 0: from the code units.
  double given_degeneracy_pressure = 0.0, given_degeneracy_density = 0.0;
  // Constants A and B of degenerate electrons, in code units.
  double degeneracy_pressure = 0.0, degeneracy_density = 0.0;
  double stiffening_pressure = 0.0;  // hydro.stiffening_pressure
  double molecular_weight = 0.6;     // hydro.molecular_weight
  // hydro.radiation_constant; 0: from the code units.
  double given_radiation_constant = 0.0;
  double radiation_constant = 0.0;  // radiation energy density at p_gas / rho = 1, in code units
  std::string table_path;           // hydro.eos_table
  double table_tolerance = 0.02;    // hydro.eos_table_tolerance
  std::shared_ptr<const TabulatedGas> table;

  // Binds the parameters to this object, which must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // Throws InputError if values are inconsistent or incompatible with other parameters of hydro.*.
  void check(const HydroOptions& options) const;
  // Sets the constants of degenerate electrons and of radiation from the parameters or the code
  // units; does not set `table`, which read_tabulated_gas() in eos_table.hpp reads. Throws
  // InputError if units are required but missing (nullptr).
  void set_constants(const CodeUnits* units, double gamma);

  // Sets the profile of the sound speed for gas that varies along `dimensions` axes. Throws
  // InputError if the profile is singular in the domain, or incompatible with its boundaries.
  void set_profile(const mesh::Geometry& geometry, int dimensions);

  // True if the pressure is a function of the density, and of the position if the gas is locally
  // isothermal.
  bool is_barotropic() const { return is_isothermal() || kind == EquationOfState::barotropic; }
  // True if p / rho is fixed, everywhere the same or a function of position.
  bool is_isothermal() const {
    return kind == EquationOfState::isothermal || kind == EquationOfState::locally_isothermal;
  }
  // True if the gas has a cold pressure besides its thermal pressure.
  bool has_cold_curve() const {
    return kind == EquationOfState::white_dwarf || kind == EquationOfState::stiffened;
  }
  // True if the gas is real (real_gas.hpp).
  bool is_real() const {
    return kind == EquationOfState::gas_radiation || kind == EquationOfState::table;
  }
  // Equation of state of real gas for kernels; of the kind `none` if the gas is not real.
  RealGas real_gas(double gamma) const;
  // Cold curve for kernels; of the kind `none` if the gas has no cold curve.
  ColdCurve cold_curve() const;
  // Barotropic equation of state for kernels; without pieces if the gas is not barotropic. That of
  // locally isothermal gas has the sound speed hydro.sound_speed.
  Barotrope barotrope() const;
  // Sound speed of isothermal gas for kernels.
  SoundSpeedProfile sound_speed_profile() const {
    SoundSpeedProfile all = profile;
    all.square = sound_speed * sound_speed;
    return all;
  }
  // Pressure of barotropic gas of this density at a position.
  double barotropic_pressure(double density, const std::array<double, 3>& position) const;
  // Lower bound of rho c^2 / p for a gas with this ratio of specific heats: the smallest exponent
  // d ln p / d ln rho of a barotropic gas, that of ultrarelativistic degenerate electrons or of
  // radiation, or the smallest value in the table.
  double smallest_exponent(double gamma) const;
};

}  // namespace octant::hydro
