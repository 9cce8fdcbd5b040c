// Black-hole spin: its effect on accretion, and its evolution by accretion and mergers.
//
// A spin a = c J / (G M^2) is dimensionless. It is signed relative to a disc, negative for a
// counter-rotating one; elsewhere it is a vector. Radii are in units of G M / c^2.
#pragma once

#include <array>
#include <numbers>

#include <Kokkos_Core.hpp>

#include "core/units.hpp"

namespace octant::subgrid {

using SpinVector = std::array<double, 3>;

// Maximum spin, limited by photons from the disc (Thorne 1974).
inline constexpr double k_largest_spin = 0.998;

// Radius of the innermost stable circular orbit (Bardeen, Press & Teukolsky 1972, eq. 2.21), with
// (3 - Z1) = (p - m)^2 (p + m), where p and m are the cube roots of 1 + a and 1 - a. Accurate also
// near a = 0, and of the right sign.
KOKKOS_INLINE_FUNCTION double innermost_orbit(double a) {
  const double p = Kokkos::cbrt(1.0 + a), m = Kokkos::cbrt(1.0 - a);
  const double z1 = 1.0 + p * m * (p + m);
  const double z2 = Kokkos::sqrt(3.0 * a * a + z1 * z1);
  const double difference = 2.0 * a / (p * p + p * m + m * m);  // p - m
  return 3.0 + z2 - difference * Kokkos::sqrt((p + m) * (3.0 + z1 + 2.0 * z2));
}

// Radiative efficiency of a thin disc: the binding energy of the innermost orbit over the rest
// energy of the accreted matter.
KOKKOS_INLINE_FUNCTION double radiative_efficiency(double a) {
  return 1.0 - Kokkos::sqrt(1.0 - 2.0 / (3.0 * innermost_orbit(a)));
}

// Eddington time in s: mass over the Eddington accretion rate.
KOKKOS_INLINE_FUNCTION double eddington_time(double efficiency) {
  using namespace constants;
  return efficiency * k_thomson * k_speed_of_light /
         (4.0 * std::numbers::pi * k_gravitational * k_proton_mass);
}

// Returns the spin after a thin disc has increased the mass by the factor `mass_ratio` (Bardeen
// 1970). The innermost orbit in these units falls as 1 / M^2 during growth, so steps compose
// exactly and a counter-rotating black hole passes through 0. At most k_largest_spin.
KOKKOS_INLINE_FUNCTION double spin_after_thin_disc(double a, double mass_ratio) {
  const double orbit = innermost_orbit(a) / (mass_ratio * mass_ratio);
  if (orbit <= 1.0) return k_largest_spin;
  const double spin = Kokkos::sqrt(orbit) / 3.0 * (4.0 - Kokkos::sqrt(3.0 * orbit - 2.0));
  return Kokkos::fmin(spin, k_largest_spin);
}

// da / d ln M in a magnetically arrested disc, which spins black holes down (fit of Dubois et
// al. 2021 to simulations of McKinney, Tchekhovskoy & Blandford 2012). 0 at a = 0.0791.
KOKKOS_INLINE_FUNCTION double arrested_spin_up(double a) {
  return 0.97166 + a * (-12.0026 + a * (-4.04337 + a * (5.81317 + a * 2.50482)));
}

// Jet energy over the rest energy of accreted matter, from the same source.
KOKKOS_INLINE_FUNCTION double arrested_jet_efficiency(double a) {
  return 0.01 * (4.10507 + a * (0.328712 + a * (76.0849 + a * (47.9235 + a * 3.86634))));
}

// Returns the spin after a magnetically arrested disc has increased the mass by the factor
// `mass_ratio`: fourth-order Runge-Kutta steps in ln M of at most 0.002, accurate to about 1e-9.
KOKKOS_INLINE_FUNCTION double spin_after_arrested_disc(double a, double mass_ratio) {
  constexpr double k_longest_step = 0.002;
  const double growth = Kokkos::log(mass_ratio);
  const int steps = static_cast<int>(Kokkos::ceil(growth / k_longest_step));
  const double h = steps > 0 ? growth / steps : 0.0;
  for (int n = 0; n < steps; ++n) {
    const double k1 = arrested_spin_up(a);
    const double k2 = arrested_spin_up(a + 0.5 * h * k1);
    const double k3 = arrested_spin_up(a + 0.5 * h * k2);
    const double k4 = arrested_spin_up(a + h * k3);
    a += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
  }
  return Kokkos::fmax(-k_largest_spin, Kokkos::fmin(a, k_largest_spin));
}

// Part of a disc that is accreted at once.
struct DiscChunk {
  SpinVector direction;     // unit vector of its angular momentum
  double angular_momentum;  // relative to the black hole; arbitrary without spin
  double mass_ratio;        // mass of the black hole after over before
  bool arrested = false;    // magnetically arrested rather than thin
};

// Radiative efficiency of a disc that co-rotates with the black hole or, if its angular momentum
// (of any length) points the other way, counter-rotates.
double efficiency_in_disc(const SpinVector& spin, const SpinVector& disc);

// Returns the spin after accretion of a tilted chunk of a disc. Inner disc and black hole align
// with their total angular momentum, or the disc counter-aligns if cos(theta) < -J_disc / (2
// J_hole) (King, Lubow, Ogilvie & Pringle 2005); then the disc is accreted. A black hole without
// spin takes the direction of the gas. Shape (3), length at most k_largest_spin.
SpinVector spin_after_chunk(const SpinVector& spin, const DiscChunk& chunk);

// Spin of the remnant of two black holes of mass ratio q = M2 / M1 <= 1 (Rezzolla et al. 2008,
// Phys. Rev. D 78, 044002). `orbital_angular_momentum` may have any length but 0. The fit may
// exceed 1: see limited_spin().
SpinVector spin_of_merger(double q, const SpinVector& spin1, const SpinVector& spin2,
                          const SpinVector& orbital_angular_momentum);

// Returns the spin with its length limited to k_largest_spin.
SpinVector limited_spin(const SpinVector& spin);

}  // namespace octant::subgrid
