// Hydrogen and helium in ionisation equilibrium, with collisions and an ultraviolet background:
// the rates of Cen (1992, ApJS 78, 341) and Katz, Weinberg & Hernquist (1996, ApJS 105, 19) with
// the corrections of Theuns et al. (1998, MNRAS 301, 478), as RAMSES has them.
#pragma once

#include "core/pack.hpp"
#include "mesh/tiles.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::subgrid::cooling {

// Hydrogen and helium in gas without metals.
struct Composition {
  double hydrogen;             // mass fraction
  double helium_per_hydrogen;  // nuclei

  // Nuclei per proton mass, where a helium nucleus has the mass of four protons.
  constexpr double nuclei() const { return 0.25 * (1.0 + 3.0 * hydrogen); }
};

// The composition of RAMSES's rates.
inline constexpr Composition k_original_composition{
    k_hydrogen_share, (1.0 - k_hydrogen_share) / (4.0 * k_hydrogen_share)};

// Of the species that a background ionises: HI, HeI, HeII.
struct PhotoRates {
  double ionization[3] = {0.0, 0.0, 0.0};  // s^-1
  double heating[3] = {0.0, 0.0, 0.0};     // erg s^-1 per particle
};

// Rates of collisions at a temperature, cm^3 s^-1.
struct IonizationRates {
  double ionization[3];     // of HI, HeI, HeII by electrons
  double recombination[3];  // to HI, HeI, HeII, the second one dielectronic as well

  KOKKOS_INLINE_FUNCTION explicit IonizationRates(double T) {
    const double root = Kokkos::sqrt(T), T3 = 1e-3 * T, T5 = 1e-5 * T, T6 = 1e-6 * T;
    const double common = 2.0 * root / (1.0 + Kokkos::sqrt(T5));
    ionization[0] = 5.85e-11 * common * Kokkos::exp(-157809.1 / T);
    ionization[1] = 2.38e-11 * common * Kokkos::exp(-285335.4 / T);
    ionization[2] = 5.68e-12 * common * Kokkos::exp(-631515.0 / T);
    const double falling = Kokkos::pow(T3, -0.2) / ((1.0 + Kokkos::pow(T6, 0.7)) * root);
    recombination[0] = 0.75 * 8.4e-11 * falling;
    recombination[1] =
        1.5e-10 * Kokkos::pow(T, -0.6353) +
        1.9e-3 / (T * root) * Kokkos::exp(-470000.0 / T) * (1.0 + 0.3 * Kokkos::exp(-94000.0 / T));
    recombination[2] = 3.36e-10 * falling;
  }
};

// Particles per hydrogen nucleus, for one gas or for each of a Pack.
template <class V>
struct Species {
  V HI, HII, HeI, HeII, HeIII, electrons;

  // Mean mass per particle, in proton masses.
  KOKKOS_INLINE_FUNCTION V molecular_weight(const Composition& gas) const {
    return V(1.0) / (V(gas.hydrogen) * (V(1.0 + gas.helium_per_hydrogen) + electrons));
  }
};

// The species that so many electrons per hydrogen nucleus leave.
template <class V>
KOKKOS_INLINE_FUNCTION Species<V> species(const Composition& gas, const IonizationRates& rates,
                                          const PhotoRates& photo, const V& n_H,
                                          const V& electrons) {
  // Ratios of each species to the next lower one.
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

// The equilibrium. What the ions leave falls with the electrons that are assumed: the root of
// their difference is bracketed and halved in its logarithm, then in its value. Gas in a pack has
// the same bits as alone.
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

}  // namespace octant::subgrid::cooling
