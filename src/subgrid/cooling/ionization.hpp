// Collisional and photoionisation equilibrium of hydrogen and helium: rates of Cen (1992, ApJS 78,
// 341) and Katz, Weinberg & Hernquist (1996, ApJS 105, 19) with the corrections of Theuns et al.
// (1998, MNRAS 301, 478), as in RAMSES.
#pragma once

#include <array>

#include "core/simd.hpp"
#include "mesh/tiles.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::subgrid::cooling {

// Composition of gas of hydrogen and helium.
struct Composition {
  double hydrogen;             // mass fraction
  double helium_per_hydrogen;  // ratio of the numbers of nuclei

  // Number of nuclei per proton mass of gas, for helium nuclei of four proton masses.
  constexpr double nuclei() const { return 0.25 * (1.0 + 3.0 * hydrogen); }
};

// Composition for the rates of RAMSES.
inline constexpr Composition k_original_composition{
    k_hydrogen_fraction, (1.0 - k_hydrogen_fraction) / (4.0 * k_hydrogen_fraction)};

// Photoionisation and photoheating rates of HI, HeI and HeII.
struct PhotoRates {
  double ionization[3] = {0.0, 0.0, 0.0};  // s^-1
  double heating[3] = {0.0, 0.0, 0.0};     // erg s^-1 per particle
};

// Collisional rates at one temperature in cm^3 s^-1.
struct IonizationRates {
  double ionization[3];     // ionisation of HI, HeI, HeII by electrons
  double recombination[3];  // recombination to HI, HeI (also dielectronic), HeII

  KOKKOS_INLINE_FUNCTION explicit IonizationRates(double T) {
    const double root = Kokkos::sqrt(T), T3 = 1e-3 * T, T5 = 1e-5 * T, T6 = 1e-6 * T;
    const double common = 2.0 * root / (1.0 + Kokkos::sqrt(T5));
    ionization[0] = 5.85e-11 * common * Kokkos::exp(-157809.1 / T);
    ionization[1] = 2.38e-11 * common * Kokkos::exp(-285335.4 / T);
    ionization[2] = 5.68e-12 * common * Kokkos::exp(-631515.0 / T);
    const double recombination_factor =
        Kokkos::pow(T3, -0.2) / ((1.0 + Kokkos::pow(T6, 0.7)) * root);
    recombination[0] = 0.75 * 8.4e-11 * recombination_factor;
    recombination[1] =
        1.5e-10 * Kokkos::pow(T, -0.6353) +
        1.9e-3 / (T * root) * Kokkos::exp(-470000.0 / T) * (1.0 + 0.3 * Kokkos::exp(-94000.0 / T));
    recombination[2] = 3.36e-10 * recombination_factor;
  }
};

// Number of each species per hydrogen nucleus, in one cell or in each lane of a SimdDouble.
template <class V>
struct Species {
  V HI, HII, HeI, HeII, HeIII, electrons;

  // Mean molecular weight.
  KOKKOS_INLINE_FUNCTION V molecular_weight(const Composition& gas) const {
    return V(1.0) / (V(gas.hydrogen) * (V(1.0 + gas.helium_per_hydrogen) + electrons));
  }
};

// Returns the species for an assumed number of electrons per hydrogen nucleus.
template <class V>
KOKKOS_INLINE_FUNCTION Species<V> species(const Composition& gas, const IonizationRates& rates,
                                          const PhotoRates& photo, const V& n_H,
                                          const V& electrons) {
  // Ratios of each ionization state to the next lower one: HII/HI, HeII/HeI, HeIII/HeII.
  V up[3];
  for (int s = 0; s < 3; ++s)
    up[s] = (V(rates.ionization[s]) + V(photo.ionization[s]) / (n_H * electrons)) /
            V(rates.recombination[s]);
  Species<V> x;
  x.HI = V(1.0) / (V(1.0) + up[0]);
  x.HII = up[0] * x.HI;
  x.HeI = V(gas.helium_per_hydrogen) / (V(1.0) + up[1] * (V(1.0) + up[2]));
  x.HeII = up[1] * x.HeI;
  x.HeIII = up[2] * x.HeII;
  x.electrons = x.HII + x.HeII + V(2.0) * x.HeIII;
  return x;
}

// Returns the species in ionisation equilibrium. The electron density of the ions decreases with
// the assumed electron density, so their difference has one root, which bisection finds, first in
// the logarithm, then in the value. Each SIMD lane gives the same bits as a single cell.
template <class V>
KOKKOS_INLINE_FUNCTION Species<V> equilibrium(const Composition& gas, const IonizationRates& rates,
                                              const PhotoRates& photo, const V& n_H) {
  constexpr double least = 1e-30;
  V low(least), high(1.0 + 2.0 * gas.helium_per_hydrogen);
  auto is_wide = high - low > V(1e-12) * high;
  for (int n = 0; n < 100 && any(is_wide); ++n) {
    const V middle = select(high > V(2.0) * low, square_root(low * high), V(0.5) * (low + high));
    const auto is_below = species(gas, rates, photo, n_H, middle).electrons > middle;
    low = select(is_wide && is_below, middle, low);
    high = select(is_wide && !is_below, middle, high);
    is_wide = high - low > V(1e-12) * high;
  }
  return species(gas, rates, photo, n_H, V(0.5) * (low + high));
}

// --- radiation backgrounds -----------------------------------------------------------------------

// Temperature of the cosmic microwave background (CMB) at z = 0 in K, as in Grackle.
inline constexpr double k_cmb_temperature_today = 2.73;

// Compton cooling in erg s^-1 per electron, negative (heating) in gas colder than the CMB. The
// value of 4 sigma_T a T^4 k / (m_e c) at the CMB temperature at z = 0 is that of Grackle.
KOKKOS_INLINE_FUNCTION double compton_per_electron(double T, double z) {
  const double a4 = (1.0 + z) * (1.0 + z) * (1.0 + z) * (1.0 + z);
  return 5.65e-36 * a4 * (T - k_cmb_temperature_today * (1.0 + z));
}

// Models of self-shielding from the ultraviolet background.
enum class Shielding { none, exponential, rahmati };
// Names of the models.
constexpr auto names_of(Shielding) { return std::array{"none", "exponential", "rahmati"}; }

// Self-shielding density n_H in cm^-3 at 1e4 K for an ionisation rate of HI in s^-1 and a cross
// section of 2.49e-18 cm^2 (Rahmati et al. 2013, MNRAS 430, 2427, eq. 13).
KOKKOS_INLINE_FUNCTION double shielding_density(double ionization_rate) {
  return 6.73e-3 * Kokkos::pow(1e12 * ionization_rate, 2.0 / 3.0);
}

// Fraction of the ultraviolet background that reaches gas of density n_H: the exponential of
// RAMSES, or Rahmati et al., eq. 14.
KOKKOS_INLINE_FUNCTION double shielded_fraction(Shielding kind, double n_H, double n_shield) {
  if (kind == Shielding::exponential) {
    const double share = Kokkos::exp(-n_H / 0.01);
    return share > 1e-20 ? share : 1e-20;
  }
  if (kind == Shielding::rahmati && n_shield > 0.0) {
    const double x = n_H / n_shield;
    return 0.98 * Kokkos::pow(1.0 + Kokkos::pow(x, 1.64), -2.28) +
           0.02 * Kokkos::pow(1.0 + x, -0.84);
  }
  return 1.0;
}

}  // namespace octant::subgrid::cooling
