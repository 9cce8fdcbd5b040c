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
//
// Density ratios at a face are those of the cells, but at most `steepest`, by which profiles may
// exceed the mean. Gas leaves with the velocity of the faster one of both cells, and up to half the
// speed of sound faster where density or pressure fall. With `spreads` fluxes exchange gas between
// the two sides, as the central-upwind ones do.
template <class V>
struct Departure {
  using Mask = typename PackTraits<V>::Mask;
  bool may_exceed;  // whether `exceeds` may hold in any of the cells; if not, nothing else is known
  Mask exceeds;     // whether so much may leave that excesses are too large
  V share[6];
  V rest;  // of the mass, at least

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION Departure(const Cell& cell, double dt_over_dx, const Gas& gas,
                                        double steepest, bool spreads)
      : may_exceed(any(
            !(V(steepest) * largest_sum(cell, dt_over_dx, gas, steepest, spreads) < V(k_margin)))),
        exceeds(false) {
    if (may_exceed) find_shares(cell, dt_over_dx, gas, steepest, spreads);
  }

 private:
  static constexpr double k_margin = 0.99;  // against rounding

  // A bound of the sum of all shares, from the extremes of density, pressure and velocity around
  // the cell. Excesses are too large where steepest times the sum is more than 1.
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static V largest_sum(const Cell& cell, double dt_over_dx,
                                                   const Gas& gas, double steepest, bool spreads) {
    const V rho = cell(k_density, 0, 0, 0), p = cell(k_pressure, 0, 0, 0);
    V thinnest = rho, densest = rho, least = p, most = p, out(0.0);
    OCTANT_UNROLL(3)
    for (int axis = 0; axis < 3; ++axis) {
      const Across low = across(2 * axis), high = across(2 * axis + 1);
      const int n = k_velocity_x + axis;
      const V here = cell(n, 0, 0, 0);
      const V up = max(max(here, V(cell(n, high.x, high.y, high.z))), V(0.0));
      const V down = min(min(here, V(cell(n, low.x, low.y, low.z))), V(0.0));
      out = out + (up - down);
      OCTANT_UNROLL(2)
      for (int side = 0; side < 2; ++side) {
        const Across to = across(2 * axis + side);
        const V density = cell(k_density, to.x, to.y, to.z);
        const V pressure = cell(k_pressure, to.x, to.y, to.z);
        thinnest = min(thinnest, density), densest = max(densest, density);
        least = min(least, pressure), most = max(most, pressure);
      }
    }
    const V inverse = V(1.0) / (rho * p), volume = inverse * p, per_pressure = inverse * rho;
    const V half_sound = V(0.5) * square_root(V(gas.gamma) * most / thinnest);
    const V fall = spreads ? V(1.0) : V(1.0) - min(thinnest * volume, least * per_pressure);
    return V(dt_over_dx) * min(densest * volume, V(steepest)) *
           fused_multiply_add(V(6.0) * half_sound, fall, out);
  }

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION void find_shares(const Cell& cell, double dt_over_dx, const Gas& gas,
                                               double steepest, bool spreads) {
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

// The range that is allowed for the values of one fraction at the faces of a cell.
template <class V>
struct FractionRange {
  V mean, least, greatest;  // of the cell; of it and its neighbours
  V lowest, highest;        // of the values

  // `most` times the distance to the nearer bound is the largest excess towards the other one.
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION FractionRange(const Cell& cell, int n, double most) {
    mean = cell(n, 0, 0, 0);
    least = mean, greatest = mean;
    OCTANT_UNROLL(6)
    for (int f = 0; f < 6; ++f) {
      const Across to = across(f);
      const V value = cell(n, to.x, to.y, to.z);
      least = min(least, value);
      greatest = max(greatest, value);
    }
    lowest = max(least, fused_multiply_add(V(most), mean - greatest, mean));
    highest = min(greatest, fused_multiply_add(V(most), mean - least, mean));
  }
  // True if in all cells of a pack the fraction is equal to that of all neighbours.
  KOKKOS_FORCEINLINE_FUNCTION bool is_empty() const { return !any(least < greatest); }
  KOKKOS_FORCEINLINE_FUNCTION V clamp(const V& value) const {
    return max(min(value, highest), lowest);
  }
  // The factor that leaves what stays in range; `rise` and `fall` are the sums of shares times
  // excesses above and below the mean.
  KOKKOS_FORCEINLINE_FUNCTION V factor(const Departure<V>& departure, const V& rise,
                                       const V& fall) const {
    const V for_rise = departure.rest * (mean - least);
    const V for_fall = departure.rest * (greatest - mean);
    const V up = select(rise > for_rise, for_rise / max(rise, V(k_tiny)), V(1.0));
    const V down = select(fall > for_fall, for_fall / max(fall, V(k_tiny)), V(1.0));
    return select(departure.exceeds, min(up, down), V(1.0));
  }

 private:
  static constexpr double k_tiny = 1e-300;  // against division by 0
};

// The sum of a group's means, and what values at points of the cell's surface have more or less
// than that. Differences of round-off count as none, and groups that are no mixture have none.
template <class V>
struct GroupSum {
  using Mask = typename PackTraits<V>::Mask;
  V means;
  Mask is_mixture;  // the fractions have the sum 1

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION GroupSum(const Cell& cell, int first, int last,
                                       const FractionGroups& groups)
      : means(0.0), is_mixture(false) {
    if (last - first == 1) return;
    for (int n = first; n < last; ++n) means = means + cell(n, 0, 0, 0);
    is_mixture = absolute(V(means - V(1.0))) < V(groups.tolerance);
  }
  KOKKOS_FORCEINLINE_FUNCTION V surplus(const V& values) const {
    const V difference = values - means;
    return select(is_mixture && absolute(difference) > V(k_round_off) * absolute(means), difference,
                  V(0.0));
  }

 private:
  static constexpr double k_round_off = 16 * 2.220446049250313e-16;
};

// Scales down the excesses of one sign so that those of a group have the sum 0.
template <class V>
class Balance {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit Balance(const V& surplus)
      : surplus_(surplus), sign_(select(surplus > V(0.0), V(1.0), V(-1.0))), sum_(k_tiny) {}

  // The excess of a value, if it has the sign of the surplus, without sign.
  KOKKOS_FORCEINLINE_FUNCTION V excess(const V& value, const V& mean) const {
    return max(sign_ * (value - mean), V(0.0));
  }
  // First for all fractions.
  KOKKOS_FORCEINLINE_FUNCTION void add(const V& excess) { sum_ = sum_ + excess; }
  KOKKOS_FORCEINLINE_FUNCTION void find_share() {
    share_ = surplus_ / max(sum_, absolute(surplus_));
  }
  KOKKOS_FORCEINLINE_FUNCTION V balanced(const V& value, const V& excess) const {
    return fused_multiply_add(-share_, excess, value);
  }

 private:
  static constexpr double k_tiny = 1e-300;  // against division by 0
  V surplus_, sign_, sum_, share_;
};

// Takes a surplus out of the sum of a group at one point of a cell's surface.
template <class V, class Cell, class States>
KOKKOS_FORCEINLINE_FUNCTION void take_surplus(const Cell& cell, const States& states, int point,
                                              int first, int last, const V& surplus) {
  if (!any(absolute(surplus) > V(0.0))) return;
  Balance<V> balance(surplus);
  for (int n = first; n < last; ++n)
    balance.add(balance.excess(states(point, n), cell(n, 0, 0, 0)));
  balance.find_share();
  for (int n = first; n < last; ++n) {
    const V value = states(point, n);
    states(point, n, balance.balanced(value, balance.excess(value, cell(n, 0, 0, 0))));
  }
}

// Scales the excesses of a group at one point of a cell's surface where the factor is less than 1;
// then takes out the surplus of the sum.
template <class V, class Cell, class States>
KOKKOS_FORCEINLINE_FUNCTION void scale_group(const Cell& cell, const States& states, int point,
                                             int first, int last, const V& factor,
                                             const GroupSum<V>& group) {
  V sum(0.0);
  for (int n = first; n < last; ++n) {
    const V mean = cell(n, 0, 0, 0), given = states(point, n);
    const V value = select(factor < V(1.0), mean + factor * (given - mean), given);
    states(point, n, value);
    sum = sum + value;
  }
  take_surplus<V>(cell, states, point, first, last, group.surplus(sum));
}

// The values of one fraction at the faces of a cell.
template <class V>
struct FaceValues {
  V value[6];
};

// The factor by which the excesses of one fraction are to be scaled.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V factor_for_bounds(const FractionRange<V>& range,
                                                const Departure<V>& departure,
                                                const FaceValues<V>& face) {
  V rise(0.0), fall(0.0);
  OCTANT_UNROLL(6)
  for (int f = 0; f < 6; ++f) {
    const V excess = face.value[f] - range.mean;
    rise = fused_multiply_add(departure.share[f], max(excess, V(0.0)), rise);
    fall = fused_multiply_add(departure.share[f], max(-excess, V(0.0)), fall);
  }
  return range.factor(departure, rise, fall);
}

// The values at the faces of a few fractions, until their sum is known. On a CPU that is faster
// than to read states back that have just been put.
template <class V>
struct KeptValues {
  static constexpr int k_most = PackTraits<V>::width > 1 ? 4 : 1;
  FaceValues<V> of[k_most];

  // Puts the states of a group of `count` at one face.
  template <int count, class Cell, class States>
  KOKKOS_FORCEINLINE_FUNCTION void put(const Cell& cell, const States& states, int face, int first,
                                       const V& surplus) const {
    static_assert(count <= k_most);
    if (!any(absolute(surplus) > V(0.0))) {
      OCTANT_UNROLL(4)
      for (int n = 0; n < count; ++n) states(face, first + n, of[n].value[face]);
      return;
    }
    Balance<V> balance(surplus);
    V excess[count];
    OCTANT_UNROLL(4)
    for (int n = 0; n < count; ++n) {
      excess[n] = balance.excess(of[n].value[face], cell(first + n, 0, 0, 0));
      balance.add(excess[n]);
    }
    balance.find_share();
    OCTANT_UNROLL(4)
    for (int n = 0; n < count; ++n)
      states(face, first + n, balance.balanced(of[n].value[face], excess[n]));
  }
};

// Puts the states of fractions first, ..., last - 1, a group or a single one, for schemes that know
// one at each face. faces_of(n, all): the values at the faces, along z alone unless `all`. Where
// those may leave the range of the cell and its neighbours, or their excesses `most` times the
// distance to the nearer bound, `Clamps` keeps them there.
template <bool Inside, bool Clamps, class V, class Cell, class FacesOf, class States>
KOKKOS_FORCEINLINE_FUNCTION void put_fractions(const FractionGroups& groups, int first, int last,
                                               const Departure<V>& departure, double most,
                                               const Cell& cell, const FacesOf& faces_of,
                                               const States& states) {
  constexpr int first_face = Inside ? 0 : lower_face(2);
  const bool alone = last - first == 1;
  const GroupSum<V> group(cell, first, last, groups);
  const bool has_mixture = any(group.is_mixture);
  const bool keeps = has_mixture && !departure.may_exceed && last - first <= KeptValues<V>::k_most;
  KeptValues<V> kept;
  V least_factor(1.0), sum[6];
  OCTANT_UNROLL(6)
  for (int f = first_face; f < 6; ++f) sum[f] = V(0.0);
  for (int n = first; n < last; ++n) {
    const V mean = cell(n, 0, 0, 0);
    FaceValues<V> face;
    if constexpr (Clamps) {
      const FractionRange<V> range(cell, n, most);
      if (range.is_empty()) {
        OCTANT_UNROLL(6)
        for (int f = 0; f < 6; ++f) face.value[f] = mean;
      } else {
        face = faces_of(n, Inside || departure.may_exceed);
        OCTANT_UNROLL(6)
        for (int f = 0; f < 6; ++f) face.value[f] = range.clamp(face.value[f]);
      }
    } else {
      face = faces_of(n, Inside || departure.may_exceed);
    }
    if (departure.may_exceed) {
      const V factor = factor_for_bounds(FractionRange<V>(cell, n, most), departure, face);
      if (alone) {
        OCTANT_UNROLL(6)
        for (int f = first_face; f < 6; ++f)
          face.value[f] =
              select(factor < V(1.0), mean + factor * (face.value[f] - mean), face.value[f]);
      }
      least_factor = min(least_factor, factor);
    }
    if (has_mixture) {
      OCTANT_UNROLL(6)
      for (int f = first_face; f < 6; ++f) sum[f] = sum[f] + face.value[f];
    }
    if (keeps) {
      OCTANT_UNROLL(6)
      for (int f = first_face; f < 6; ++f) kept.of[n - first].value[f] = face.value[f];
    } else {
      OCTANT_UNROLL(6)
      for (int f = first_face; f < 6; ++f) states(f, n, face.value[f]);
    }
  }
  if (alone) return;
  if (departure.may_exceed) {
    for (int f = first_face; f < 6; ++f)
      scale_group<V>(cell, states, f, first, last, least_factor, group);
  } else if (keeps) {
    if constexpr (KeptValues<V>::k_most > 1) {
      const auto put_kept = [&]<int count>() OCTANT_INLINE_LAMBDA {
        OCTANT_UNROLL(6)
        for (int f = first_face; f < 6; ++f)
          kept.template put<count>(cell, states, f, first, group.surplus(sum[f]));
      };
      if (last - first == 2) put_kept.template operator()<2>();
      else if (last - first == 3) put_kept.template operator()<3>();
      else put_kept.template operator()<4>();
    }
  } else if (has_mixture) {
    OCTANT_UNROLL(6)
    for (int f = first_face; f < 6; ++f)
      take_surplus<V>(cell, states, f, first, last, group.surplus(sum[f]));
  }
}

}  // namespace octant::hydro
