// Bounds of advected fractions: passive scalars and species of processes, as amounts per mass.
//
// The flux of rho X through a face is the mass flux times the value of X on the upwind side. The
// new X of a cell is then a mass-weighted mean of the remaining and the entering gas, so that
// bounds hold if they hold for both parts:
//
// - Values at faces lie in the range [m, M] of the cell and its six neighbours.
// - Outflow must leave the remainder in that range. If at most the fraction s_f of the cell's mass
//   leaves through face f, with the excess d_f = X_f - X, then
//     sum s_f max(d_f, 0) <= (1 - sum s_f) (X - m),  sum s_f max(-d_f, 0) <= (1 - sum s_f) (M - X),
//   and all d_f are scaled down by the necessary factor (Zhang & Shu 2010, for six faces).
//
// Fractions of a mixture have the sum 1 in every cell. At a face the excesses of a group must then
// have the sum 0: those of the prevailing sign are scaled down. (Plewa & Mueller 1999 divide by the
// sum instead, which may violate the range.) All fractions of a group use the smallest factor.
#pragma once

#include "core/compiler.hpp"
#include "hydro/euler.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/scheme.hpp"

namespace octant::hydro {

// Returns `value`, with its sign changed if `of` is negative.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V times_sign(const V& value, const V& of) {
  using P = SimdTraits<V>;
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return P::from_bits(P::bits(value) ^ (P::bits(of) & sign));
}

// Offset of the neighbour across a face. Faces are numbered as the points of lower_face() and
// upper_face(): lower and upper along x, y, z.
struct Across {
  int x, y, z;
};
// Returns the offset of the neighbour across face 0, ..., 5.
KOKKOS_FORCEINLINE_FUNCTION constexpr Across across(int face) {
  const int side = face % 2 == 0 ? -1 : 1;
  return {face / 2 == 0 ? side : 0, face / 2 == 1 ? side : 0, face / 2 == 2 ? side : 0};
}

// Upper bounds of the fractions of a cell's mass that can leave through its six faces in a sweep.
//
// The density at a face is at most that of the denser of the two cells, and at most `steepest`
// times that of the cell, the limit of profiles. Gas leaves with the velocity of the faster of both
// cells, and up to half the speed of sound faster where density or pressure fall. With `spreads`,
// fluxes exchange gas in both directions, as central-upwind fluxes do.
template <class V>
struct OutflowFractions {
  // True in lanes where the outflow may violate the bounds.
  typename SimdTraits<V>::Mask exceeds{false};
  V share[6]{};
  V rest{};  // lower bound of the mass fraction that remains in the cell
};

// Computes the mass fractions that leave a cell, from the primitive variables around it. Not
// inlined, because few cells need them.
template <class V, class Cell>
OCTANT_OUT_OF_LINE OutflowFractions<V> shares_of(const Cell cell, double dt_over_dx, double gamma,
                                                 double steepest, bool spreads) {
  OutflowFractions<V> found;
  const V rho = cell(k_density, 0, 0, 0), p = cell(k_pressure, 0, 0, 0);
  V min_density = rho, most = p, density[6], pressure[6];
  OCTANT_UNROLL(6)
  for (int f = 0; f < 6; ++f) {
    const Across to = across(f);
    density[f] = cell(k_density, to.x, to.y, to.z);
    pressure[f] = cell(k_pressure, to.x, to.y, to.z);
    min_density = min(min_density, density[f]);
    most = max(most, pressure[f]);
  }
  const V half_sound = V(0.5) * square_root(V(gamma) * most / min_density);
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
    found.share[f] = V(dt_over_dx) * (min(max(ratio, V(1.0)), V(steepest)) * max(speed, V(0.0)));
    sum = sum + found.share[f];
  }
  found.rest = max(V(1.0) - sum, V(0.0));
  // A fraction leaves the interval from 0 to 1 by at most steepest - 1 times its difference from
  // the nearer bound. The test is made per SIMD lane, so that its result does not depend on the
  // cells in the other lanes.
  found.exceeds = V(steepest - 1.0) * sum > found.rest;
  return found;
}

// Fractions of each cell's mass that leave through its six faces during the step. find() computes
// them unless a cheap estimate shows that scalars stay within their bounds.
template <class V>
class Departure {
 public:
  // True if the outflow of any cell of the pack may violate the bounds. `shares` is valid only
  // then.
  bool may_exceed = false;
  OutflowFractions<V> shares;

  KOKKOS_FORCEINLINE_FUNCTION Departure(double dt_over_dx, double gamma, double steepest,
                                        bool spreads)
      : dt_over_dx_(dt_over_dx), gamma_(gamma), steepest_(steepest), spreads_(spreads) {}

  // Computes `may_exceed` and, if it is true, `shares`; further calls have no effect. cell(n, x, y,
  // z) is primitive variable n at the cell offset (x, y, z).
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION void find(const Cell& cell) {
    if (known_) return;
    known_ = true;
    if (!any(!is_small(cell))) return;
    const OutflowFractions<V> found = shares_of<V>(cell, dt_over_dx_, gamma_, steepest_, spreads_);
    shares = found;
    may_exceed = any(found.exceeds);
  }

 private:
  static constexpr double k_margin = 0.99;  // margin for rounding

  // Returns true in lanes where the bounds hold for any excess: `steepest` times the sum of the
  // outflowing mass fractions is less than 1. From the extremes of density, pressure and velocity
  // around the cell, the sum is at most
  //   dt/dx min(rho_max / rho, steepest) (3 c fall + out),  c^2 = gamma p_max / rho_min,
  //   fall = max(1 - rho_min / rho, 1 - p_min / p), or 1 with `spreads`.
  // Squares of products are compared, without divisions and roots. If both underflow or both
  // overflow, the result is false.
  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION auto is_small(const Cell& cell) const {
    const V rho = cell(k_density, 0, 0, 0), p = cell(k_pressure, 0, 0, 0);
    V min_density = rho, densest = rho, least = p, most = p, out(0.0);
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
        min_density = min(min_density, density), densest = max(densest, density);
        least = min(least, pressure), most = max(most, pressure);
      }
    }
    const V product = rho * p;
    const V fall = spreads_ ? product : max((rho - min_density) * p, (p - least) * rho);
    const V mass = V(steepest_ * dt_over_dx_) * min(densest, V(steepest_) * rho);
    const V available = max(fused_multiply_add(-mass, out, V(k_margin) * rho), V(0.0)) * product;
    const V sound = mass * fall;
    return V(9.0 * gamma_) * most * (sound * sound) < min_density * (available * available);
  }

  double dt_over_dx_;
  double gamma_;  // upper bound of rho c^2 / p
  double steepest_;
  bool spreads_, known_ = false;
};

// Allowed range for the values of one fraction at the faces of a cell.
template <class V>
struct FractionRange {
  V mean, least, greatest;  // cell mean; extremes of the cell and its neighbours
  V lowest, highest;        // extremes of the values at faces

  // Sets the range of face values, whose largest excess is `most` times the difference between the
  // mean and the nearer bound.
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
  // Returns true if the fraction is equal to that of all neighbours, in all cells of a pack.
  KOKKOS_FORCEINLINE_FUNCTION bool is_empty() const { return !any(least < greatest); }
  // Returns a face value, limited to the allowed range.
  KOKKOS_FORCEINLINE_FUNCTION V clamp(const V& value) const {
    return max(min(value, highest), lowest);
  }
  // Returns the factor that keeps the remainder in range; `rise` and `fall` are the sums of
  // outflowing mass fraction times excess above and below the mean.
  KOKKOS_FORCEINLINE_FUNCTION V factor(const Departure<V>& departure, const V& rise,
                                       const V& fall) const {
    const V for_rise = departure.shares.rest * (mean - least);
    const V for_fall = departure.shares.rest * (greatest - mean);
    const V up = select(rise > for_rise, for_rise / max(rise, V(k_tiny)), V(1.0));
    const V down = select(fall > for_fall, for_fall / max(fall, V(k_tiny)), V(1.0));
    return select(departure.shares.exceeds, min(up, down), V(1.0));
  }

 private:
  static constexpr double k_tiny = 1e-300;  // against division by 0
};

// Sum of a group's means, and the surplus of values at surface points over that sum. A surplus that
// is round-off, or that of a group that is not a mixture, is set to 0.
template <class V>
struct GroupSum {
  V means;
  V tolerance;               // tolerance of sums; infinite if the group is not a mixture
  bool has_mixture = false;  // true if the fractions have the sum 1 in any SIMD lane

  template <class Cell>
  KOKKOS_FORCEINLINE_FUNCTION GroupSum(const Cell& cell, int first, int last,
                                       const FractionGroups& groups)
      : means(0.0), tolerance(k_infinite) {
    if (last - first == 1) return;
    for (int n = first; n < last; ++n) means = means + cell(n, 0, 0, 0);
    const auto is_mixture = absolute(V(means - V(1.0))) < V(groups.tolerance);
    has_mixture = any(is_mixture);
    tolerance = select(is_mixture, V(k_round_off) * absolute(means), V(k_infinite));
  }
  // Returns the sum of a group's values at a point minus the sum of the means; round-off is 0.
  KOKKOS_FORCEINLINE_FUNCTION V surplus(const V& values) const {
    const V difference = values - means;
    return select(times_sign(difference, difference) > tolerance, difference, V(0.0));
  }

 private:
  static constexpr double k_round_off = 16 * 2.220446049250313e-16;
  static constexpr double k_infinite = 1e300;
};

// Scales down the excesses of one sign so that all excesses of a group have the sum 0.
template <class V>
class Balance {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit Balance(const V& surplus)
      : surplus_(surplus), sum_(k_tiny) {}

  // Absolute excess of a value if it has the sign of the surplus, else 0.
  KOKKOS_FORCEINLINE_FUNCTION V excess(const V& value, const V& mean) const {
    return max(times_sign(V(value - mean), surplus_), V(0.0));
  }
  // Adds the excess() of one fraction. Must be called for all fractions of the group before
  // find_scale().
  KOKKOS_FORCEINLINE_FUNCTION void add(const V& excess) { sum_ = sum_ + excess; }
  // Computes the ratio of the surplus to the sum of all excesses of the same sign.
  KOKKOS_FORCEINLINE_FUNCTION void find_scale() {
    share_ = surplus_ / max(sum_, times_sign(surplus_, surplus_));
  }
  // Returns a value reduced by its part of the surplus.
  KOKKOS_FORCEINLINE_FUNCTION V balanced(const V& value, const V& excess) const {
    return fused_multiply_add(-share_, excess, value);
  }

 private:
  static constexpr double k_tiny = 1e-300;  // against division by 0
  V surplus_, sum_, share_;
};

// Removes a surplus from the sum of a group at one point of a cell's surface.
template <class V, class Cell, class States>
KOKKOS_FORCEINLINE_FUNCTION void remove_surplus(const Cell& cell, const States& states, int point,
                                                int first, int last, const V& surplus) {
  if (!any(absolute(surplus) > V(0.0))) return;
  Balance<V> balance(surplus);
  for (int n = first; n < last; ++n)
    balance.add(balance.excess(states(point, n), cell(n, 0, 0, 0)));
  balance.find_scale();
  for (int n = first; n < last; ++n) {
    const V value = states(point, n);
    states(point, n, balance.balanced(value, balance.excess(value, cell(n, 0, 0, 0))));
  }
}

// Returns the value with its excess scaled, if the factor is less than 1.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V scaled(const V& factor, const V& value, const V& mean) {
  return select(factor < V(1.0), mean + factor * (value - mean), value);
}

// Scales the excesses of a group at one point of a cell's surface, if the factor is less than 1;
// then removes the surplus of the sum.
template <class V, class Cell, class States>
KOKKOS_FORCEINLINE_FUNCTION void scale_group(const Cell& cell, const States& states, int point,
                                             int first, int last, const V& factor,
                                             const GroupSum<V>& group) {
  V sum(0.0);
  for (int n = first; n < last; ++n) {
    const V value = scaled(factor, V(states(point, n)), V(cell(n, 0, 0, 0)));
    states(point, n, value);
    sum = sum + value;
  }
  remove_surplus<V>(cell, states, point, first, last, group.surplus(sum));
}

// Values of one fraction at the faces of a cell.
template <class V>
struct FaceValues {
  V value[6];
};

// Returns the factor by which the excesses of one fraction must be scaled.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V factor_for_bounds(const FractionRange<V>& range,
                                                const Departure<V>& departure,
                                                const FaceValues<V>& face) {
  V rise(0.0), fall(0.0);
  OCTANT_UNROLL(6)
  for (int f = 0; f < 6; ++f) {
    const V excess = face.value[f] - range.mean;
    rise = fused_multiply_add(departure.shares.share[f], max(excess, V(0.0)), rise);
    fall = fused_multiply_add(departure.shares.share[f], max(-excess, V(0.0)), fall);
  }
  return range.factor(departure, rise, fall);
}

// Calls body(face) for the faces from `first` on. Unrolled, so that values stay in registers.
template <class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_faces(int first, const Body& body) {
  OCTANT_UNROLL(6)
  for (int face = 0; face < 6; ++face)
    if (face >= first) body(face);
}

// Face values of a few fractions, kept until their sum is known. On a CPU this is faster than
// reading back states just stored.
template <class V>
struct KeptValues {
  static constexpr int k_max_values = SimdTraits<V>::width > 1 ? 4 : 1;
  FaceValues<V> of[k_max_values];

  // Scales the excesses of a group of `count` fractions, if the factor is less than 1.
  template <int count, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION void scale(const Cell& cell, int first, int first_face,
                                         const V& factor) {
    OCTANT_UNROLL(4)
    for (int n = 0; n < count; ++n) {
      const V mean = cell(first + n, 0, 0, 0);
      for_faces(first_face, [&](int f) OCTANT_INLINE_LAMBDA {
        of[n].value[f] = scaled(factor, of[n].value[f], mean);
      });
    }
  }
  // Stores the states of a group of `count` at the faces from `first_face` on.
  template <int count, class Cell, class States>
  KOKKOS_FORCEINLINE_FUNCTION void put(const Cell& cell, const States& states, int first,
                                       int first_face, const GroupSum<V>& group) const {
    V sum[6], largest(0.0);
    for_faces(first_face, [&](int f) OCTANT_INLINE_LAMBDA {
      sum[f] = of[0].value[f];
      OCTANT_UNROLL(4)
      for (int n = 1; n < count; ++n) sum[f] = sum[f] + of[n].value[f];
      const V difference = sum[f] - group.means;
      largest = max(largest, times_sign(difference, difference));
    });
    if (any(largest > group.tolerance)) {
      for_faces(first_face, [&](int f) OCTANT_INLINE_LAMBDA {
        put_balanced<count>(cell, states, f, first, group.surplus(sum[f]));
      });
    } else {
      for_faces(first_face, [&](int f) OCTANT_INLINE_LAMBDA {
        OCTANT_UNROLL(4)
        for (int n = 0; n < count; ++n) states(f, first + n, of[n].value[f]);
      });
    }
  }

 private:
  template <int count, class Cell, class States>
  KOKKOS_FORCEINLINE_FUNCTION void put_balanced(const Cell& cell, const States& states, int face,
                                                int first, const V& surplus) const {
    Balance<V> balance(surplus);
    V excess[count];
    OCTANT_UNROLL(4)
    for (int n = 0; n < count; ++n) {
      excess[n] = balance.excess(of[n].value[face], cell(first + n, 0, 0, 0));
      balance.add(excess[n]);
    }
    balance.find_scale();
    OCTANT_UNROLL(4)
    for (int n = 0; n < count; ++n)
      states(face, first + n, balance.balanced(of[n].value[face], excess[n]));
  }
};

// Stores the states of fractions first, ..., last - 1, a group or a single one, for schemes with
// one state at each face. faces_of(n, all) returns the values at the faces, along z alone unless
// `all`; unless `inside`, only those along z are stored. `Clamps` is for values that may leave the
// range of the cell and its neighbours, or whose excesses may be larger than `most` times the
// difference from the nearer bound.
template <bool Clamps, class V, class Cell, class FacesOf, class States>
KOKKOS_FORCEINLINE_FUNCTION void put_fractions(bool inside, const FractionGroups& groups, int first,
                                               int last, Departure<V>& departure, double most,
                                               const Cell& cell, const FacesOf& faces_of,
                                               const States& states) {
  const int first_face = inside ? 0 : lower_face(2);
  const bool alone = last - first == 1;
  const GroupSum<V> group(cell, first, last, groups);
  const bool keeps = group.has_mixture && last - first <= KeptValues<V>::k_max_values;
  KeptValues<V> kept;
  V min_factor(1.0);
  for (int n = first; n < last; ++n) {
    const V mean = cell(n, 0, 0, 0);
    FaceValues<V> face;
    if constexpr (Clamps) {
      const FractionRange<V> range(cell, n, most);
      if (range.is_empty()) {
        OCTANT_UNROLL(6)
        for (int f = 0; f < 6; ++f) face.value[f] = mean;
      } else {
        departure.find(cell);
        face = faces_of(n, inside || departure.may_exceed);
        OCTANT_UNROLL(6)
        for (int f = 0; f < 6; ++f) face.value[f] = range.clamp(face.value[f]);
      }
    } else {
      departure.find(cell);
      face = faces_of(n, inside || departure.may_exceed);
    }
    if (departure.may_exceed) {
      const V factor = factor_for_bounds(FractionRange<V>(cell, n, most), departure, face);
      if (alone) {
        for_faces(first_face, [&](int f) OCTANT_INLINE_LAMBDA {
          face.value[f] = scaled(factor, face.value[f], mean);
        });
      }
      min_factor = min(min_factor, factor);
    }
    if (keeps) {
      for_faces(first_face,
                [&](int f) OCTANT_INLINE_LAMBDA { kept.of[n - first].value[f] = face.value[f]; });
    } else {
      for_faces(first_face, [&](int f) OCTANT_INLINE_LAMBDA { states(f, n, face.value[f]); });
    }
  }
  if (alone) return;
  if (keeps) {
    if constexpr (KeptValues<V>::k_max_values > 1) {
      const auto put_kept = [&]<int count>() OCTANT_INLINE_LAMBDA {
        if (departure.may_exceed) kept.template scale<count>(cell, first, first_face, min_factor);
        kept.template put<count>(cell, states, first, first_face, group);
      };
      if (last - first == 2) put_kept.template operator()<2>();
      else if (last - first == 3) put_kept.template operator()<3>();
      else put_kept.template operator()<4>();
    }
  } else if (departure.may_exceed || group.has_mixture) {
    for (int f = first_face; f < 6; ++f)
      scale_group<V>(cell, states, f, first, last, min_factor, group);
  }
}

}  // namespace octant::hydro
