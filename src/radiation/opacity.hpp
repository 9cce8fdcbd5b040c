// Grey opacities of the gas as functions of density and temperature, in code units.
#pragma once

#include "core/compiler.hpp"
#include "core/power.hpp"
#include "radiation/opacity_grid.hpp"

namespace octant::radiation {

// Opacity per mass at the densities of the cells of a pack, as a function of the temperature: a
// clipped power law, or from a table.
template <class V>
struct OpacityAtDensity {
  V value;  // at the reference temperature; between floor and ceiling if exponent = 0
  double exponent, inverse_temperature;
  double floor, ceiling;
  bool is_tabulated = false;
  OpacityRow rows[SimdTraits<V>::width];  // of a table, which replaces the power law

  // Opacity at a positive temperature, and its exponent: zero at the floor and the ceiling.
  KOKKOS_FORCEINLINE_FUNCTION OpacityValue<V> evaluate(const V& T) const {
    if (is_tabulated) return from_table(T);
    if (exponent == 0.0) return {value, V(0.0)};
    const V law = value * power(T * V(inverse_temperature), exponent);
    const V kappa = min(max(law, V(floor)), V(ceiling));
    const auto is_inside = kappa > V(floor) && kappa < V(ceiling);
    return {kappa, select(is_inside, V(exponent), V(0.0))};
  }
  // Opacity at a positive temperature.
  KOKKOS_FORCEINLINE_FUNCTION V at(const V& T) const { return evaluate(T).kappa; }
  // True if the opacity does not depend on the temperature.
  KOKKOS_FORCEINLINE_FUNCTION bool is_constant() const { return exponent == 0.0 && !is_tabulated; }

 private:
  OCTANT_OUT_OF_LINE OpacityValue<V> from_table(const V& T) const {
    using P = SimdTraits<V>;
    double kappa[P::width], exponents[P::width];
    for (int lane = 0; lane < P::width; ++lane) {
      const OpacityValue<double> found = rows[lane].at(P::lane(T, lane));
      kappa[lane] = found.kappa;
      exponents[lane] = found.exponent;
    }
    return {P::load(kappa), P::load(exponents)};
  }
};

// Opacity per mass [area / mass], a clipped power law:
//   kappa = min(max(value (rho / density)^a (T / temperature)^b, floor), ceiling),
// or from a table. Exponents of zero cost no power. The reference values must be positive.
struct OpacityLaw {
  double value = 0.0;
  double density_exponent = 0.0, temperature_exponent = 0.0;  // a, b
  double density = 1.0, temperature = 1.0;                    // reference values
  double floor = 0.0, ceiling = 1e300;
  OpacityGrid table = {};  // replaces the power law if it exists
  int mean = 0;            // OpacityGrid::Mean

  // True unless the opacity is the same at all temperatures.
  KOKKOS_FORCEINLINE_FUNCTION bool depends_on_temperature() const {
    return temperature_exponent != 0.0 || table.exists();
  }
  // True if the opacity is the same at all densities and temperatures.
  KOKKOS_FORCEINLINE_FUNCTION bool is_constant() const {
    return density_exponent == 0.0 && !depends_on_temperature();
  }
  // The law at positive densities.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION OpacityAtDensity<V> at_density(const V& rho) const {
    using P = SimdTraits<V>;
    OpacityAtDensity<V> law;
    law.exponent = temperature_exponent;
    law.inverse_temperature = 1.0 / temperature;
    law.floor = floor;
    law.ceiling = ceiling;
    law.is_tabulated = table.exists();
    if (law.is_tabulated) {
      for (int lane = 0; lane < P::width; ++lane)
        law.rows[lane] = table.at_density(mean, P::lane(rho, lane));
      return law;
    }
    const double a = density_exponent;
    const V growth = a == 0.0 ? V(1.0) : a == 1.0 ? rho / V(density) : power(rho / V(density), a);
    law.value = V(value) * growth;
    if (law.exponent == 0.0) law.value = min(max(law.value, V(floor)), V(ceiling));
    return law;
  }
  // Opacity at a positive density and temperature.
  KOKKOS_FORCEINLINE_FUNCTION double at(double rho, double T) const {
    return at_density(rho).at(T);
  }
};

// Opacities of the exchange between gas and radiation. Copied to kernels by value.
struct Opacity {
  OpacityLaw planck;        // kappa_P: absorption of energy, and emission
  OpacityLaw rosseland;     // kappa_R: absorption of the flux
  double scattering = 0.0;  // per mass; acts on the flux alone

  // Absorption coefficient rho kappa_P of the energy [1 / length].
  KOKKOS_FORCEINLINE_FUNCTION double absorption(double rho, double T) const {
    return rho * planck.at(rho, T);
  }
  // Extinction coefficient rho (kappa_R + scattering) of the flux [1 / length].
  KOKKOS_FORCEINLINE_FUNCTION double extinction(double rho, double T) const {
    return rho * (rosseland.at(rho, T) + scattering);
  }

  // Opacities that depend on neither density nor temperature.
  static Opacity constant(double planck, double rosseland, double scattering = 0.0) {
    Opacity opacity;
    opacity.planck.value = planck;
    opacity.rosseland.value = rosseland;
    opacity.scattering = scattering;
    return opacity;
  }
  // Opacities `planck` and `rosseland` at the density rho0 and the temperature T0, proportional to
  // rho^a T^b, each between `floor` and `ceiling`.
  static Opacity power_law(double planck, double rosseland, double rho0, double T0, double a,
                           double b, double floor = 0.0, double ceiling = 1e300,
                           double scattering = 0.0) {
    Opacity opacity;
    opacity.planck = {planck, a, b, rho0, T0, floor, ceiling};
    opacity.rosseland = {rosseland, a, b, rho0, T0, floor, ceiling};
    opacity.scattering = scattering;
    return opacity;
  }
  // Opacities of a table.
  static Opacity tabulated(const OpacityGrid& table, double scattering = 0.0) {
    Opacity opacity;
    opacity.planck.table = opacity.rosseland.table = table;
    opacity.planck.mean = OpacityGrid::k_planck;
    opacity.rosseland.mean = OpacityGrid::k_rosseland;
    opacity.scattering = scattering;
    return opacity;
  }
  // Kramers' law: opacities proportional to rho T^-3.5.
  static Opacity kramers(double planck, double rosseland, double rho0, double T0,
                         double floor = 0.0, double ceiling = 1e300, double scattering = 0.0) {
    return power_law(planck, rosseland, rho0, T0, 1.0, -3.5, floor, ceiling, scattering);
  }
};

}  // namespace octant::radiation
