// Bounds of advected fractions: passive scalars and what processes carry, as amounts per mass.
//
// The flux of rho X through a face is the mass flux times the value of X on the side that the mass
// comes from. The new X of a cell is then a mean of what stays in the cell and of what enters, with
// masses as weights, so that bounds hold if they hold for both parts:
//
// - Values at faces lie in the range [m, M] of the cell and its six neighbours.
// - What leaves takes no more out than leaves the rest in that range. If at most the share s_f of
//   the cell's mass leaves through face f, with the excess d_f = X_f - X, then
//     sum s_f max(d_f, 0) <= (1 - sum s_f) (X - m),  sum s_f max(-d_f, 0) <= (1 - sum s_f) (M - X),
//   and all d_f are scaled down by the factor that this takes (Zhang & Shu 2010, for six faces).
//
// Fractions of a mixture have the sum 1 in every cell. At a face the excesses of a group must then
// have the sum 0: those of the sign that prevails are scaled down. (Plewa & Mueller 1999 divide by
// the sum instead, which may leave the range.) The factor for the bounds is the group's smallest.
#pragma once

#include "core/unroll.hpp"
#include "hydro/euler.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/scheme.hpp"

namespace octant::hydro {

// The cell across a face: lower and upper one along x, y, z, as the points of lower_face() and
// upper_face() are numbered.
struct Across {
  int x, y, z;
};
KOKKOS_FORCEINLINE_FUNCTION constexpr Across across(int face) {
  const int side = face % 2 == 0 ? -1 : 1;
  return {face / 2 == 0 ? side : 0, face / 2 == 1 ? side : 0, face / 2 == 2 ? side : 0};
}

// Shares of a cell's mass that a sweep may let out through its six faces, at most.
template <class V>
struct Departure {
  using Mask = typename PackTraits<V>::Mask;
  V share[6];
  V rest;           // of the mass, at least
  Mask exceeds;     // whether so much may leave that excesses are too large
  bool may_exceed;  // in any of the cells

  // Density ratios at a face are those of the cells, but at most `steepest`, by which profiles may
  // exceed the mean. Gas leaves with the velocity of the faster one of both cells, and up to half
  // the speed of sound faster where density or pressure fall. With `spreads` fluxes exchange gas
  // between the two sides, as the central-upwind ones do.
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION Departure(const Cell& cell, double dt_over_dx, const Gas& gas,
                                        double steepest, bool spreads)
      : exceeds(false), may_exceed(false) {
    const V rho = cell(k_density, 0, 0, 0), p = cell(k_pressure, 0, 0, 0);
    V thinnest = rho, most = p, density[6], pressure[6];
    OCTANT_UNROLL(6)
    for (int f = 0; f < 6; ++f) {
      const Across to = across(f);
      density[f] = cell(k_density, to.x, to.y, to.z);
      pressure[f] = cell(k_pressure, to.x, to.y, to.z);
      thinnest = min(thinnest, density[f]);
      most = max(most, pressure[f]);
    }
    const V half_sound = V(0.5) * square_root(V(gas.gamma) * most / thinnest);
    const V volume = V(1.0) / rho, per_pressure = V(1.0) / p;
    V sum(0.0);
    OCTANT_UNROLL(6)
    for (int f = 0; f < 6; ++f) {
      const Across to = across(f);
      const int n = k_velocity_x + f / 2;
      const V here = cell(n, 0, 0, 0), there = cell(n, to.x, to.y, to.z);
      const V out = f % 2 == 0 ? max(-here, -there) : max(here, there);
      const V ratio = density[f] * volume;
      const V fall = V(1.0) - min(ratio, pressure[f] * per_pressure);
      const V speed = spreads ? max(out, fused_multiply_add(V(0.5), out, half_sound))
                              : fused_multiply_add(half_sound, max(fall, V(0.0)), max(out, V(0.0)));
      share[f] = V(dt_over_dx) * (min(max(ratio, V(1.0)), V(steepest)) * max(speed, V(0.0)));
      sum = sum + share[f];
    }
    rest = max(V(1.0) - sum, V(0.0));
    // Excesses are at most steepest - 1 times the distance to the nearer bound. Cells beside each
    // other in a pack may not matter to each other's bits.
    exceeds = V(steepest - 1.0) * sum > rest;
    may_exceed = any(exceeds);
  }
};

// What excesses of one fraction over a cell's mean may be.
template <class V>
struct FractionRange {
  V mean, below, above;  // distances to the bounds
  V lowest, highest;     // of the excess at a face

  // `most` times the distance to the nearer bound is the largest excess towards the other one.
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION FractionRange(const Cell& cell, int n, double most) {
    mean = cell(n, 0, 0, 0);
    V least = mean, greatest = mean;
    OCTANT_UNROLL(6)
    for (int f = 0; f < 6; ++f) {
      const Across to = across(f);
      const V value = cell(n, to.x, to.y, to.z);
      least = min(least, value);
      greatest = max(greatest, value);
    }
    below = mean - least, above = greatest - mean;
    lowest = -min(below, V(most) * above);
    highest = min(above, V(most) * below);
  }
  KOKKOS_FORCEINLINE_FUNCTION V clamp(const V& excess) const {
    return max(min(excess, highest), lowest);
  }
  // The factor that leaves what stays in range; `rise` and `fall` are the sums of shares times
  // excesses above and below the mean.
  KOKKOS_FORCEINLINE_FUNCTION V factor(const Departure<V>& departure, const V& rise,
                                       const V& fall) const {
    const V for_rise = departure.rest * below, for_fall = departure.rest * above;
    const V up = select(rise > for_rise, for_rise / max(rise, V(k_tiny)), V(1.0));
    const V down = select(fall > for_fall, for_fall / max(fall, V(k_tiny)), V(1.0));
    return select(departure.exceeds, min(up, down), V(1.0));
  }

 private:
  static constexpr double k_tiny = 1e-300;  // against division by 0
};

// Whether a group's fractions have the sum 1.
template <class V, class Cell>
KOKKOS_FORCEINLINE_FUNCTION auto is_mixture(const Cell& cell, int first, int last,
                                            const FractionGroups& groups) {
  V sum(-1.0);
  for (int n = first; n < last; ++n) sum = sum + cell(n, 0, 0, 0);
  return absolute(sum) < V(groups.tolerance);
}

// Scales the excesses of a group at one point of a cell's surface by `factor`, and where they have
// a sum that is not 0 though the cell is a mixture, those of the sign that prevails.
template <class V, class Mask, class Cell, class States>
KOKKOS_FORCEINLINE_FUNCTION void balance_group(const Cell& cell, const States& states, int point,
                                               int first, int last, const V& factor,
                                               const Mask& mixture) {
  V rise(0.0), fall(0.0);
  for (int n = first; n < last; ++n) {
    const V excess = states(point, n) - cell(n, 0, 0, 0);
    rise = rise + max(excess, V(0.0));
    fall = fall - min(excess, V(0.0));
  }
  const V up =
      select(mixture && fall < rise, factor * (fall / select(fall < rise, rise, V(1.0))), factor);
  const V down =
      select(mixture && rise < fall, factor * (rise / select(rise < fall, fall, V(1.0))), factor);
  for (int n = first; n < last; ++n) {
    const V mean = cell(n, 0, 0, 0), excess = states(point, n) - mean;
    states(point, n, mean + select(excess > V(0.0), up, down) * excess);
  }
}

// The values of one fraction at the faces of a cell.
template <class V>
struct FaceValues {
  V value[6];
};

// Puts the states of fractions first, ..., last - 1, a group or a single one, for schemes that know
// one at each face. faces_of(n, all): the values at the faces, along z alone unless `all`. Their
// excesses stay below `most` times the distance to the nearer bound, if need be because they are
// clamped.
template <bool Inside, bool Clamps, class V, class Cell, class FacesOf, class States>
KOKKOS_FORCEINLINE_FUNCTION void put_fractions(const FractionGroups& groups, int first, int last,
                                               const Departure<V>& departure, double most,
                                               const Cell& cell, const FacesOf& faces_of,
                                               const States& states) {
  constexpr int first_face = Inside ? 0 : lower_face(2);
  const bool alone = last - first == 1;
  V least_factor(1.0);
  for (int n = first; n < last; ++n) {
    const FractionRange<V> range(cell, n, most);
    const FaceValues<V> face = faces_of(n, Inside || departure.may_exceed);
    V excess[6], factor(1.0);
    OCTANT_UNROLL(6)
    for (int f = 0; f < 6; ++f) {
      excess[f] = face.value[f] - range.mean;
      if constexpr (Clamps) excess[f] = range.clamp(excess[f]);
    }
    if (departure.may_exceed) {
      V rise(0.0), fall(0.0);
      OCTANT_UNROLL(6)
      for (int f = 0; f < 6; ++f) {
        rise = fused_multiply_add(departure.share[f], max(excess[f], V(0.0)), rise);
        fall = fused_multiply_add(departure.share[f], max(-excess[f], V(0.0)), fall);
      }
      factor = range.factor(departure, rise, fall);
      if (alone) {
        OCTANT_UNROLL(6)
        for (int f = 0; f < 6; ++f) excess[f] = factor * excess[f];
      }
    }
    least_factor = min(least_factor, factor);
    OCTANT_UNROLL(6)
    for (int f = first_face; f < 6; ++f) states(f, n, range.mean + excess[f]);
  }
  if (alone) return;
  const auto mixture = is_mixture<V>(cell, first, last, groups);
  for (int f = first_face; f < 6; ++f)
    balance_group<V>(cell, states, f, first, last, least_factor, mixture);
}

}  // namespace octant::hydro
