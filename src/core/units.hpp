// Physical constants in cgs, and the code units of a run.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace octant {

// Physical constants in cgs, exact by the definition of the SI (2019) unless a source is named.
namespace constants {
inline constexpr double k_speed_of_light = 2.99792458e10;   // cm s^-1
inline constexpr double k_boltzmann = 1.380649e-16;         // erg K^-1
inline constexpr double k_planck = 6.62607015e-27;          // erg s
inline constexpr double k_electron_volt = 1.602176634e-12;  // erg
inline constexpr double k_gravitational = 6.67430e-8;       // cm^3 g^-1 s^-2, CODATA 2018
inline constexpr double k_proton_mass = 1.67262192369e-24;  // g, CODATA 2018
inline constexpr double k_hydrogen_mass = 1.6735328e-24;    // g, one atom of 1H: CIAAW 1.00782503 u
inline constexpr double k_thomson = 6.6524587321e-25;       // cm^2, CODATA 2018
inline constexpr double k_stefan_boltzmann = 5.670374419e-5;   // erg cm^-2 s^-1 K^-4
inline constexpr double k_radiation = 7.565733250e-15;         // erg cm^-3 K^-4, 4 sigma / c
inline constexpr double k_astronomical_unit = 1.495978707e13;  // cm, IAU 2012 B2
inline constexpr double k_parsec = 3.0856775814913673e18;      // cm, IAU 2015 B2: 648000 au / pi
inline constexpr double k_solar_mass = 1.988409870698051e33;   // g, IAU 2015 B3: GM_sun / G
inline constexpr double k_solar_luminosity = 3.828e33;         // erg s^-1, IAU 2015 B3
inline constexpr double k_solar_radius = 6.957e10;             // cm, IAU 2015 B3
inline constexpr double k_year = 3.15576e7;                    // s, Julian year, IAU
}  // namespace constants

// Code units of length, mass and time in cgs. A factor times a number in code units is the number
// in cgs.
struct CodeUnits {
  double length = 1.0;  // cm
  double mass = 1.0;    // g
  double time = 1.0;    // s

  constexpr double velocity() const { return length / time; }                     // cm s^-1
  constexpr double density() const { return mass / (length * length * length); }  // g cm^-3
  constexpr double energy() const { return mass * velocity() * velocity(); }      // erg
  constexpr double energy_density() const {                                       // erg cm^-3
    return density() * velocity() * velocity();
  }
  // Factor from pressure / density in code units to temperature / mean molecular weight in kelvin.
  constexpr double temperature() const {
    return velocity() * velocity() * constants::k_proton_mass / constants::k_boltzmann;
  }
};

// Unit system of a run, as far as the parameter file defines it.
struct UnitSystem {
  std::optional<CodeUnits> code;  // for parameters in code units
  // Reason and remedy if `code` is empty, for error messages.
  std::string why_no_code = "this file has no unit system; give a number in code units";
  std::optional<double> hubble;  // h, for units such as Mpc/h
};

// Returns the number given by `text` for a parameter with unit `unit` ("kpc", "code density",
// "length / time^2", or "" for dimensionless numbers). A text without units is a constant
// expression of numbers, pi, + - * / ^, parentheses and functions; its value is in `unit`. A text
// with units must have the dimension of `unit` and is converted. Throws InputError, without file
// and line, for invalid text, another dimension, or a unit that cannot be converted.
double number_of(const std::string& text, const std::string& unit, const UnitSystem& system);

// Returns true if number_of() converts quantities to this unit, given a unit system. False for
// counts and ratios such as "cells".
bool is_convertible(const std::string& unit);

// Replaces the quantities with units among definitions "name = text" by numbers in code units, as
// in {"r0 = 10 kpc"}. Other definitions, including those that use a defined name, are unchanged.
// Throws InputError without file and line.
void resolve_units(std::vector<std::string>& definitions, const UnitSystem& system);

}  // namespace octant
