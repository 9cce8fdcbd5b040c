// What the surroundings do to gas that cools: the cosmic microwave background, and how much of an
// ultraviolet background reaches dense gas.
#pragma once

#include <array>

#include "mesh/tiles.hpp"

namespace octant::subgrid::cooling {

// Temperature of the microwave background today in K, as in Grackle.
inline constexpr double k_background_today = 2.73;

// Compton cooling in erg s^-1 per electron; negative, heating, in gas colder than the background.
// The factor, 4 sigma_T a T^4 k / (m_e c) of the background's temperature today, is Grackle's.
KOKKOS_INLINE_FUNCTION double compton_per_electron(double T, double z) {
  const double a4 = (1.0 + z) * (1.0 + z) * (1.0 + z) * (1.0 + z);
  return 5.65e-36 * a4 * (T - k_background_today * (1.0 + z));
}

enum class Shielding { none, exponential, rahmati };
constexpr auto names_of(Shielding) { return std::array{"none", "exponential", "rahmati"}; }

// Rahmati et al. (2013, MNRAS 430, 2427), eq. 13: n_H beyond which hydrogen shields itself, at
// 1e4 K and for a cross section of 2.49e-18 cm^2, where the background ionises HI at this rate.
KOKKOS_INLINE_FUNCTION double shielding_density(double ionization_rate) {
  return 6.73e-3 * Kokkos::pow(1e12 * ionization_rate, 2.0 / 3.0);
}

// The share of the background that reaches gas of this density: RAMSES's exponential, or Rahmati et
// al., eq. 14.
KOKKOS_INLINE_FUNCTION double shielded_share(Shielding kind, double n_H, double n_shield) {
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
