// Matter of stars in equilibrium: density and pressure as functions of the enthalpy
// H = int dp / rho, which is zero at the surface.
#pragma once

#include <string>

#include <Kokkos_Core.hpp>

#include "hydro/eos/barotrope.hpp"
#include "hydro/eos/cold_curve.hpp"

namespace octant::hydro {
struct EosOptions;
}

namespace octant::problems {

// Barotropic matter of a star, for kernels. Copied by value.
//
//   polytrope:   rho = s H^n, p = rho H / (n + 1); p = K rho^(1 + 1/n)
//   degenerate:  rho = s B x^3 with x^2 = y (2 + y), y = B H / (8 A), and p of x
//                (Chandrasekhar 1935, MNRAS 95, 207)
//   pieces:      s times the density of a piecewise polytropic equation of state, H continuous
//
// The factor s multiplies density and pressure at a given enthalpy. It determines K of a polytrope.
// The constants of other matter are given, so that s = 1 in its equilibrium models.
struct StarMatter {
  enum Kind { polytrope, degenerate, pieces };

  Kind kind = polytrope;
  double index = 1.5;                                    // n of a polytrope
  double scale = 1.0;                                    // s
  double unit_of_pressure = 1.0, unit_of_density = 1.0;  // degenerate: A, B
  hydro::Barotrope barotrope = {};
  Kokkos::Array<double, hydro::Barotrope::k_max_pieces> enthalpy_at = {};  // beginnings of pieces
  double solar_mass = 0.0;  // in code units, for messages; 0: no physical units

  // Polytrope with an index n.
  static StarMatter of_index(double n) { return {.index = n}; }
  // Cold matter of white dwarfs with the constants A and B in code units.
  static StarMatter of_electrons(double A, double B) {
    return {.kind = degenerate, .unit_of_pressure = A, .unit_of_density = B};
  }
  // Piecewise polytropic matter. Throws InputError if its enthalpy at zero density is not finite.
  static StarMatter of_pieces(const hydro::Barotrope& barotrope);
  // Matter of stars in gas with this equation of state: its cold part for white dwarfs, and a
  // polytrope for all others with a thermal pressure. Throws InputError for isothermal gas.
  static StarMatter of_gas(const hydro::EosOptions& eos, double index);

  // True if the density is a fixed function of the enthalpy (s = 1), i.e. unless the matter is a
  // polytrope, whose scale s is free.
  KOKKOS_INLINE_FUNCTION bool is_given() const { return kind != polytrope; }

  // rho / s at the enthalpy h.
  KOKKOS_INLINE_FUNCTION double unscaled_density(double h) const {
    if (!(h > 0.0)) return 0.0;
    if (kind == polytrope) return Kokkos::pow(h, index);
    if (kind == pieces) return density_of_pieces(h);
    const double x = fermi_momentum(h);
    return unit_of_density * x * x * x;
  }
  // rho at the enthalpy h.
  KOKKOS_INLINE_FUNCTION double density(double h) const { return scale * unscaled_density(h); }
  // p at the enthalpy h.
  KOKKOS_INLINE_FUNCTION double pressure(double h) const {
    return times_specific_pressure(density(h), h);
  }
  // A value times p / rho at the enthalpy h.
  KOKKOS_INLINE_FUNCTION double times_specific_pressure(double value, double h) const {
    if (!(h > 0.0)) return 0.0;
    if (kind == polytrope) return value * h / (index + 1.0);
    return value * specific_pressure(h);
  }

  // Enthalpies between which stars of given matter are searched for.
  double lowest_enthalpy() const;
  double highest_enthalpy() const;
  // Text for messages, such as "polytropic index 1.5".
  std::string text() const;
  // Text of a mass for messages: in code units and, with physical units, in solar masses.
  std::string text_of_mass(double mass) const;
  // Kind of matter and its constants with all digits. Requires is_given().
  std::string description() const;

 private:
  // Fermi momentum of electrons, over m_e c.
  KOKKOS_INLINE_FUNCTION double fermi_momentum(double h) const {
    const double y = h * unit_of_density / (8.0 * unit_of_pressure);
    return Kokkos::sqrt(y * (2.0 + y));
  }
  KOKKOS_INLINE_FUNCTION double specific_pressure(double h) const {
    if (kind == pieces) {
      const double rho = density_of_pieces(h);
      return barotrope.at(rho).pressure / rho;
    }
    const double x = fermi_momentum(h);
    return unit_of_pressure * hydro::DegenerateElectrons<double>(x).pressure /
           (unit_of_density * x * x * x);
  }
  // Inverts H = H_n + Gamma / (Gamma - 1) p_n / rho_n ((rho / rho_n)^(Gamma - 1) - 1), and
  // H = H_n + p_n / rho_n ln(rho / rho_n) for Gamma = 1.
  KOKKOS_INLINE_FUNCTION double density_of_pieces(double h) const {
    int n = 0;
    while (n + 1 < barotrope.pieces && h >= enthalpy_at[n + 1]) ++n;
    const double rho = barotrope.density[n], excess = barotrope.exponent[n] - 1.0;
    const double rise = (h - enthalpy_at[n]) * rho / barotrope.pressure[n];
    if (excess == 0.0) return rho * Kokkos::exp(rise);
    if (n == 0) {
      const double share = h / enthalpy_at[0];
      return rho * Kokkos::pow(share, 1.0 / excess);
    }
    return rho * Kokkos::pow(1.0 + rise * excess / (1.0 + excess), 1.0 / excess);
  }
};

}  // namespace octant::problems
