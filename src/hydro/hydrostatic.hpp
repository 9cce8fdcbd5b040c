// Hydrostatic profiles inside and around a cell, for well-balanced schemes (hydro.well_balanced).
//
// The gas of a cell, of density rho and pressure p, is assumed to be in hydrostatic equilibrium at
// one temperature under the acceleration g along an axis: both vary as exp(2 s x / h), with s = g h
// rho / (2 p) and x the distance from the centre of a cell of size h. Relative to the cell's mean,
// the values at its upper and lower face are
//   F+ = s coth(s) + s,   F- = s coth(s) - s,
// so that the difference of the pressures at the faces is exactly rho g h: the weight of the gas in
// the cell. The profile continues through the neighbours, with their temperatures: at a face
// between two cells the pressure is the same on both sides, and the ratio of the means is F+ / F-'
// of the cell below and the one above. A scheme reconstructs the neighbours' deviations from that
// profile: local hydrostatic reconstruction (Kaeppeli & Mishra 2014, J. Comput. Phys. 259, 199;
// 2016, A&A 587, A94). Gas at rest with equal pressures on both sides of all faces stays at rest:
// an isothermal atmosphere, and any other stratification in this discrete balance.
//
// The two halves of an isothermal cell have the means of such a profile, too. Restriction therefore
// keeps the balance, and prolongation at coarse-fine boundaries keeps it with the slopes of
// child_difference().
//
// Cells larger than the scale height, |s| > 1/2, are too coarse for such a profile: see resolved().
#pragma once

#include <array>

#include "core/power.hpp"
#include "hydro/euler.hpp"

namespace octant::hydro {

// Acceleration along the axes, times half the size of a cell.
struct Stratification {
  double half_weight[3] = {0.0, 0.0, 0.0};

  Stratification() = default;
  Stratification(const std::array<double, 3>& acceleration, double cell_size) {
    for (int axis = 0; axis < 3; ++axis) half_weight[axis] = 0.5 * cell_size * acceleration[axis];
  }

  // True if there is an acceleration along the axis.
  KOKKOS_FORCEINLINE_FUNCTION bool acts(int axis) const { return half_weight[axis] != 0.0; }
  // Exponent s of a cell along an axis, with |s| limited by resolved().
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V exponent(int axis, const V& density, const V& pressure) const {
    return resolved(V(V(half_weight[axis]) * density / pressure));
  }

 private:
  // Limits s: unchanged up to 1/2, where a cell is as large as the scale height, decreasing beyond,
  // and 0 from 1 on. Cold gas in free fall has no hydrostatic profile.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V resolved(const V& s) {
    const V share = V(4.0 / 3.0) * (V(1.0) - s * s);
    return s * max(min(share, V(1.0)), V(0.0));
  }
};

// s coth(s) for the values of Stratification::exponent(): a series that is exact to rounding up to
// |s| = 0.55.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V mean_of_faces(const V& s) {
  constexpr double coefficient[] = {1.0,
                                    1.0 / 3,
                                    -1.0 / 45,
                                    2.0 / 945,
                                    -1.0 / 4725,
                                    2.0 / 93555,
                                    -1382.0 / 638512875,
                                    4.0 / 18243225,
                                    -3617.0 / 162820783125,
                                    87734.0 / 38979295480125,
                                    -349222.0 / 1531329465290625,
                                    310732.0 / 13447856940643125};
  return powers::polynomial(coefficient, V(s * s));
}

// Face values F- and F+ of a cell.
template <class V>
struct HydrostaticFaces {
  V s, lower, upper;

  KOKKOS_FORCEINLINE_FUNCTION explicit HydrostaticFaces(const V& exponent) : s(exponent) {
    const V mean = mean_of_faces(s);
    lower = mean - s, upper = mean + s;
  }
};

// Difference of the means of the upper and the lower half of a cell, relative to the cell mean: 2
// tanh(s / 2).
KOKKOS_FORCEINLINE_FUNCTION double child_difference(double s) { return s / mean_of_faces(0.5 * s); }

// Profile of one cell along an axis, relative to its own density or pressure: differences from the
// mean at neighbours up to `Reach` away and at both faces.
template <int Reach, class V>
struct HydrostaticLine {
  V rise[2 * Reach + 1];
  V below, above, difference;  // differences at the faces; above - below

  // Computes the profile. line(n, o) is primitive variable n of the cell at offset o along the
  // axis.
  template <class Line>
  KOKKOS_FORCEINLINE_FUNCTION HydrostaticLine(const Stratification& g, int axis, const Line& line) {
    OCTANT_UNROLL(8)
    for (int o = 0; o <= 2 * Reach; ++o) rise[o] = V(0.0);
    below = above = difference = V(0.0);
    if (!g.acts(axis)) return;
    const auto faces = [&](int o) OCTANT_INLINE_LAMBDA {
      return HydrostaticFaces<V>(g.exponent(axis, V(line(k_density, o)), V(line(k_pressure, o))));
    };
    const HydrostaticFaces<V> centre = faces(0);
    below = centre.lower - V(1.0), above = centre.upper - V(1.0);
    difference = V(2.0) * centre.s;
    V up = centre.upper, down = centre.lower;  // at the faces towards the next cells
    OCTANT_UNROLL(4)
    for (int o = 1; o <= Reach; ++o) {
      const HydrostaticFaces<V> higher = faces(o), deeper = faces(-o);
      const V mean_above = up / higher.lower, mean_below = down / deeper.upper;
      rise[Reach + o] = mean_above - V(1.0), rise[Reach - o] = mean_below - V(1.0);
      up = mean_above * higher.upper, down = mean_below * deeper.lower;
    }
  }

  // True for the variables with a hydrostatic profile: density and pressure.
  KOKKOS_FORCEINLINE_FUNCTION static bool stratifies(int n) {
    return n == k_density || n == k_pressure;
  }
  // Variable n along the line, minus the rise of the profile from the cell.
  template <class Line>
  KOKKOS_FORCEINLINE_FUNCTION V deviation(const Line& line, int n, int o) const {
    const V value = line(n, o);
    if (!stratifies(n)) return value;
    return value - line(n, 0) * rise[Reach + o];
  }
};

}  // namespace octant::hydro
