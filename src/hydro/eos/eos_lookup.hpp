// Interpolation of a tabulated equation of state.
//
// The coldest isotherm of the table is subtracted, so that differences of large numbers do not
// determine the temperature of degenerate matter:
//   p = p_0(rho) + pi,  e = e_0(rho) + q / (gamma - 1).
// q, the thermal pressure, is the internal energy above the isotherm in units of pressure. The
// fundamental relation is pi = q r(rho, q / rho), with r = 1 in an ideal gas of ratio gamma; its
// inverse, q as a function of pi, is found by Newton's method from the same r. Sweeps need the
// pressure of all cells, but hardly ever the inverse. The bulk modulus has the form
//   rho c^2 = K_0(rho) + q m(rho, q / rho).
//
// p_0 / rho, e_0 / rho, K_0 / rho and r are interpolated by cubic polynomials with continuous
// derivatives (Catmull & Rom 1974), and m linearly, in smooth approximations of the logarithms. The
// places of nodes follow from the bits of the argument, without a search. Beyond the outermost
// nodes the values there are used.
#pragma once

#include "core/compiler.hpp"
#include "core/power.hpp"
#include "core/simd.hpp"
#include "hydro/eos/eos_grid.hpp"
#include "hydro/eos/thermal_state.hpp"

namespace octant::hydro {

// Approximation of log2(a) + 1/2 whose error is below 0.005, for a > 0, and its derivative. The
// approximation is exact at the powers of 2 times sqrt(1/2), and a cubic polynomial in between. The
// first two derivatives with respect to a are continuous.
template <class V>
struct ApproximateLog {
  V value;
  V slope;  // derivative with respect to the natural logarithm

  KOKKOS_FORCEINLINE_FUNCTION explicit ApproximateLog(const V& a) {
    constexpr double k_root = 1.4142135623730951;
    const BinaryForm<V> form(a);
    const V u = fused_multiply_add(form.mantissa, V(k_root), V(-1.0));
    const V sum = fused_multiply_add(u, V(1.0), V(-4.0));
    value = form.exponent + u * fused_multiply_add(u, sum, V(10.0)) * V(1.0 / 7.0);
    slope = (V(1.0) + u) * fused_multiply_add(u, fused_multiply_add(u, V(3.0), V(-8.0)), V(10.0)) *
            V(1.0 / 7.0);
  }
};

// Position of arguments on an axis: between the nodes `below` and below + 1, at a fraction of their
// distance. Arguments beyond the nodes 1 and nodes - 2 are moved to these, as is NaN.
template <class V>
struct GridPlace {
  V below, fraction;
  V slope;  // derivative of the position by the logarithm of the argument, 0 beyond

  // Known position, without its derivative.
  KOKKOS_FORCEINLINE_FUNCTION GridPlace(const V& node, const V& beyond_node)
      : below(node), fraction(beyond_node), slope(0.0) {}
  KOKKOS_FORCEINLINE_FUNCTION GridPlace(const GridAxis& axis, const V& argument) {
    constexpr double k_least = 1e-300, two_52 = 4503599627370496.0;
    const ApproximateLog<V> log(V(max(V(k_least), argument)));
    const V place = fused_multiply_add(V(axis.per_log), log.value, V(-axis.first));
    const V last(axis.nodes - 2.0);
    const V inside = min(last, max(V(1.0), place));
    // Integer below; exactly at a node, that node or the one before.
    const V whole = (inside + V(two_52 - 0.5)) - V(two_52);
    below = max(V(1.0), min(whole, V(last - V(1.0))));
    fraction = inside - below;
    const auto is_between = place >= V(1.0) && place <= last;
    slope = select(is_between, V(axis.per_log) * log.slope, V(0.0));
  }
};

// Weights of the four nodes around a position in cubic interpolation, and their derivatives with
// respect to the position.
template <class V>
struct CubicWeights {
  V value[4], slope[4];

  KOKKOS_FORCEINLINE_FUNCTION explicit CubicWeights(const V& t) {
    const V half(0.5), square = t * t;
    value[0] = half * t * fused_multiply_add(t, V(2.0) - t, V(-1.0));
    value[1] = half * fused_multiply_add(square, fused_multiply_add(t, V(3.0), V(-5.0)), V(2.0));
    value[2] = half * t * fused_multiply_add(t, fused_multiply_add(t, V(-3.0), V(4.0)), V(1.0));
    value[3] = half * square * (t - V(1.0));
    slope[0] = half * fused_multiply_add(t, fused_multiply_add(t, V(-3.0), V(4.0)), V(-1.0));
    slope[1] = half * t * fused_multiply_add(t, V(9.0), V(-10.0));
    slope[2] = half * fused_multiply_add(t, fused_multiply_add(t, V(-9.0), V(8.0)), V(1.0));
    slope[3] = half * t * fused_multiply_add(t, V(3.0), V(-2.0));
  }
};

// Thermodynamics of tabulated gas at one density. Holds a reference to the grid.
template <class V>
class TabulatedState {
 public:
  KOKKOS_FORCEINLINE_FUNCTION TabulatedState(const EosGrid& grid, const V& rho)
      : grid_(grid), density_(rho), x_(grid.density, rho), volume_(V(1.0) / rho) {}
  // State at a density for which coldest() has already been evaluated.
  KOKKOS_FORCEINLINE_FUNCTION TabulatedState(const EosGrid& grid, const V& rho,
                                             const ColdestGas<V>& coldest)
      : grid_(grid), density_(rho), x_(coldest.below, coldest.fraction), volume_(coldest.volume) {}

  // Coldest isotherm.
  KOKKOS_FORCEINLINE_FUNCTION ColdestGas<V> coldest() const {
    V found[4];
    find_isotherms(found);
    return {density_ * found[EosGrid::k_pressure_per_mass],
            density_ * found[EosGrid::k_energy_per_mass],
            density_ * found[EosGrid::k_modulus_per_mass],
            volume_,
            x_.below,
            x_.fraction};
  }

  // pi as a function of q.
  KOKKOS_FORCEINLINE_FUNCTION V excess(const V& thermal) const {
    const GridPlace<V> y(grid_.heat, V(thermal * volume_));
    V ratios[4];
    find_ratios(y, grid_.ratios(), ratios);
    return thermal * sum_of(CubicWeights<V>(y.fraction).value, ratios);
  }

  // q as a function of pi. The interpolated inverse ratio is a first guess of q / pi, with about
  // the error of interpolation, which each step of Newton's method for pi = q r squares.
  KOKKOS_FORCEINLINE_FUNCTION V thermal(const V& excess) const {
    constexpr int k_steps = 2;
    const GridPlace<V> z(grid_.heat, V(excess * volume_));
    V ratios[4];
    find_ratios(z, grid_.inverse_ratios(), ratios);
    V found = excess * sum_of(CubicWeights<V>(z.fraction).value, ratios);
    for (int step = 0; step < k_steps; ++step) {
      const Excess at = excess_at(GridPlace<V>(grid_.heat, V(found * volume_)), found);
      found = found - (at.value - excess) / at.slope;
    }
    return found;
  }

  // State of gas with a thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION ThermalState<V> state(const V& thermal,
                                                    const ColdestGas<V>& coldest) const {
    const GridPlace<V> y(grid_.heat, V(thermal * volume_));
    const Excess excess = excess_at(y, thermal);
    return {excess.value + coldest.pressure, V(1.0) / excess.slope,
            modulus_at(y, thermal, coldest.modulus)};
  }

  // rho c^2 as a function of p.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_of_pressure(const V& pressure) const {
    const ColdestGas<V> isotherm = coldest();
    return modulus_of_thermal(thermal(pressure - isotherm.pressure), isotherm.modulus);
  }
  // rho c^2 as a function of q; `coldest` is K_0.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_of_thermal(const V& thermal, const V& coldest) const {
    return modulus_at(GridPlace<V>(grid_.heat, V(thermal * volume_)), thermal, coldest);
  }

  // Returns 1 if the density is beyond those of the table, or if gas of this thermal pressure is
  // hotter than the hottest isotherm, otherwise 0.
  KOKKOS_FORCEINLINE_FUNCTION V outside(const V& thermal) const {
    constexpr double k_rounding = 1e-9;
    V found[4];
    find_isotherms(found);
    const V hottest = density_ * found[EosGrid::k_hottest_per_mass];
    const auto is_inside = density_ >= V(grid_.least_density * (1.0 - k_rounding)) &&
                           density_ <= V(grid_.largest_density * (1.0 + k_rounding)) &&
                           thermal <= V(1.0 + k_rounding) * hottest;
    return select(is_inside, V(0.0), V(1.0));
  }

 private:
  using Traits = SimdTraits<V>;

  // pi and its derivative with respect to q.
  struct Excess {
    V value, slope;
  };
  // pi at a thermal pressure, whose place on the heat axis is y.
  KOKKOS_FORCEINLINE_FUNCTION Excess excess_at(const GridPlace<V>& y, const V& thermal) const {
    const CubicWeights<V> along(y.fraction);
    V ratios[4];
    find_ratios(y, grid_.ratios(), ratios);
    const V ratio = sum_of(along.value, ratios);
    return {thermal * ratio, fused_multiply_add(y.slope, sum_of(along.slope, ratios), ratio)};
  }
  // rho c^2 at a thermal pressure, whose place on the heat axis is y; `coldest` is K_0.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_at(const GridPlace<V>& y, const V& thermal,
                                           const V& coldest) const {
    return fused_multiply_add(thermal, linear(y, grid_.heat.nodes, grid_.moduli()), coldest);
  }

  // Values of EosGrid::Isotherm at the density.
  KOKKOS_FORCEINLINE_FUNCTION void find_isotherms(V (&found)[4]) const {
    const int record = EosGrid::k_isotherm_values;
    blend((x_.below - V(1.0)) * V(record), record, found);
  }

  KOKKOS_FORCEINLINE_FUNCTION static V sum_of(const V (&weights)[4], const V (&values)[4]) {
    V sum = weights[0] * values[0];
    OCTANT_UNROLL(4)
    for (int n = 1; n < 4; ++n) sum = fused_multiply_add(weights[n], values[n], sum);
    return sum;
  }

  // Interpolates four rows of four values along the density. The first row begins at node `first`,
  // and rows are `stride` nodes apart.
  KOKKOS_FORCEINLINE_FUNCTION void blend(const V& first, int stride, V (&found)[4]) const {
    const double* const nodes = grid_.nodes();
    const CubicWeights<V> weight(x_.fraction);
    if constexpr (Traits::width == 4) {  // the four values of each lane together
      V of_lane[4];
      OCTANT_UNROLL(4)
      for (int lane = 0; lane < 4; ++lane) {
        const double* const from = nodes + static_cast<int>(Traits::lane(first, lane));
        const auto row = [&](int m)
                             OCTANT_INLINE_LAMBDA { return Traits::load(from + m * stride); };
        // weight of a row in all lanes; V(number) would also add it to 0
        const auto of_row = [&](int m) OCTANT_INLINE_LAMBDA {
          const double number = Traits::lane(weight.value[m], lane);
          return Traits::generate([&](int) OCTANT_INLINE_LAMBDA { return number; });
        };
        V sum = of_row(0) * row(0);
        OCTANT_UNROLL(4)
        for (int m = 1; m < 4; ++m) sum = fused_multiply_add(of_row(m), row(m), sum);
        of_lane[lane] = sum;
      }
      OCTANT_UNROLL(4)
      for (int n = 0; n < 4; ++n)
        found[n] = Traits::generate(
            [&](int lane) OCTANT_INLINE_LAMBDA { return Traits::lane(of_lane[lane], n); });
    } else {
      OCTANT_UNROLL(4)
      for (int n = 0; n < 4; ++n) {
        V column[4];
        OCTANT_UNROLL(4)
        for (int m = 0; m < 4; ++m) column[m] = node(first, m * stride + n);
        found[n] = sum_of(weight.value, column);
      }
    }
  }

  // Ratios at four nodes of the heat axis around a position, interpolated along the density, in the
  // part of the nodes that begins at `offset`.
  KOKKOS_FORCEINLINE_FUNCTION void find_ratios(const GridPlace<V>& z, int offset,
                                               V (&found)[4]) const {
    const V row = fused_multiply_add(x_.below - V(1.0), V(grid_.heat.nodes), z.below);
    blend(row + V(offset - 1.0), grid_.heat.nodes, found);
  }

  // Value `offset` nodes after the node `number`, which may differ between lanes.
  KOKKOS_FORCEINLINE_FUNCTION V node(const V& number, int offset) const {
    const double* const from = grid_.nodes() + offset;
    return Traits::generate([&](int lane) OCTANT_INLINE_LAMBDA {
      return from[static_cast<int>(Traits::lane(number, lane))];
    });
  }

  // Linear interpolation along both axes in the part of the nodes that begins at `offset` and has
  // `columns` values per density.
  KOKKOS_FORCEINLINE_FUNCTION V linear(const GridPlace<V>& z, int columns, int offset) const {
    const V first = fused_multiply_add(x_.below, V(columns), z.below);
    const auto along = [&](int row) OCTANT_INLINE_LAMBDA {
      const V low = node(first, offset + row * columns);
      const V high = node(first, offset + row * columns + 1);
      return V(fused_multiply_add(z.fraction, V(high - low), low));
    };
    const V low = along(0);
    return fused_multiply_add(x_.fraction, V(along(1) - low), low);
  }

  const EosGrid& grid_;
  V density_;
  GridPlace<V> x_;
  V volume_;
};

}  // namespace octant::hydro
