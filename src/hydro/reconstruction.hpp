// Profiles of a quantity inside a cell, from its neighbours along one axis, for any SIMD width.
//
// A reconstruction is a type with `reach`, the neighbours that it reads on each side, and
//   faces(q):   the values at both faces, for stages of Runge-Kutta schemes;
//   profile(q): the profile that Hancock's half step advances.
// q(o) is the value at offset o along the axis, -reach <= o <= reach. A profile has the deviations
// of the values at the lower and the upper face from the cell's mean, and the difference across the
// part `span` of the cell, which is the slope in the half step. If the profile is curved, the
// slopes at its faces are steeper and flatter by its curvature(), and tilt(a, b) adds a to the
// value at the lower face and subtracts b from that at the upper one.
//
// The choices of hydro.reconstruction are types with `name` and With<Limiter>, the reconstruction
// with that limiter; the lists are at the end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/simd.hpp"
#include "hydro/hydro_options.hpp"

namespace octant {

// Named types for compile-time choices of kernels:
//
//   struct Minmod { static constexpr const char* name = "minmod"; ... };
//   using Limiters = TypeList<Minmod, VanLeer>;
template <class... Types>
struct TypeList {
  // Names in the order of the list.
  static std::vector<std::string> names() { return {Types::name...}; }

  // Calls body.template operator()<T>() with the type of this name. Throws RunError if there is
  // none.
  template <class Body>
  static void with(std::string_view name, const Body& body) {
    const bool found = ((name == Types::name && (body.template operator()<Types>(), true)) || ...);
    OCTANT_REQUIRE(found, "there is no \"{}\" among {}", name, fmt::join(names(), ", "));
  }
};

}  // namespace octant

namespace octant::hydro {

// Slope limiters, with the `name` used by hydro.limiter. Limiters of reach 1 take the one-sided
// differences `left` and `right`. If these differ in sign, both clipped terms vanish, so that no
// test is needed. Linear profiles use half the slope, the deviation of both face values from the
// mean; slope() and half_slope() differ by a factor of exactly 2.
//
// Minmod is the smaller difference if both agree in sign.
struct Minmod {
  static constexpr const char* name = "minmod";
  static constexpr int reach = 1;

  // Slope from the one-sided differences; 0 if they differ in sign.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V slope(const V& left, const V& right) {
    return max(min(left, right), V(0.0)) + min(max(left, right), V(0.0));
  }
  // Half of slope().
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V half_slope(const V& left, const V& right) {
    return V(0.5) * slope(left, right);
  }
};

// Monotonised central limiter (van Leer 1977): central slope, at most twice each one-sided
// difference.
struct MonotonisedCentral {
  static constexpr const char* name = "mc";
  static constexpr int reach = 1;

  // Half of slope().
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V half_slope(const V& left, const V& right) {
    const V low = min(max(left, right), V(0.0)), high = max(min(left, right), V(0.0));
    return max(min(V(0.25) * (left + right), high), low);
  }
  // Slope from the one-sided differences; 0 if they differ in sign.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V slope(const V& left, const V& right) {
    return V(2.0) * half_slope(left, right);
  }
};

// Harmonic mean of the differences if they agree in sign (van Leer 1974). One division.
struct VanLeer {
  static constexpr const char* name = "van_leer";
  static constexpr int reach = 1;

  // Half of the slope from the one-sided differences; 0 if they differ in sign.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V half_slope(const V& left, const V& right) {
    const V product = max(left * right, V(0.0));
    const V sum = left + right;
    const auto alike = product > V(0.0);
    return select(alike, product / select(alike, sum, V(1.0)), V(0.0));
  }
};

// Limiter that keeps smooth extrema (Huynh 1995): the central slope is bounded by the larger of the
// bound of the monotonised central limiter and the slope of Harten & Osher (1987),
//   t = minmod(left + minmod(d-, d) / 2, right - minmod(d, d+) / 2),
// where d are second differences, in the cell and on either side: their agreement distinguishes an
// extremum, where the one-sided differences vanish, from a jump. (With Huynh's 3 t / 2 the density
// overshoots by half a percent at the head of Sod's rarefaction in Runge-Kutta schemes.)
struct Huynh {
  static constexpr const char* name = "huynh";
  static constexpr int reach = 2;

  // Slope from the surrounding values; q(o) is the value at offset o.
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static V slope(const Values& q) {
    const V centre = q(0);
    const V left = centre - q(-1), right = q(1) - centre;
    const V monotone = MonotonisedCentral::slope(left, right);
    if (!any(absolute(monotone) < absolute(V(V(0.5) * (left + right))))) return monotone;
    return at_extrema(left, right, V(q(-1) - q(-2)), V(q(2) - q(1)));
  }
  // Half of slope().
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static V half_slope(const Values& q) {
    return V(0.5) * slope<V>(q);
  }

 private:
  // Slope outside the monotone bound; not inlined. Lanes within the bound get the value of the
  // inlined code.
  template <class V>
  OCTANT_OUT_OF_LINE static V at_extrema(const V left, const V right, const V left2,
                                         const V right2) {
    const V d2 = right - left;
    const V from_left = left + V(0.5) * Minmod::slope(d2, V(left - left2));
    const V from_right = right - V(0.5) * Minmod::slope(d2, V(right2 - right));
    const V most = max(V(2.0) * min(left, right), min(from_left, from_right));
    const V least = min(V(2.0) * max(left, right), max(from_left, from_right));
    const V centre = V(0.5) * (left + right);
    return max(min(centre, most), V(0.0)) + min(max(centre, least), V(0.0));
  }
};

// Values at the lower and the upper face of a cell, or their deviations from its mean.
template <class V>
struct Faces {
  V lower, upper;
};

// Linear profile in a cell, for Hancock's half step.
template <class V>
struct LinearProfile {
  static constexpr bool is_curved = false;
  static constexpr double span = 0.5;  // distance from the centre to a face
  V half_slope;
  // Difference of the values across `span`.
  KOKKOS_FORCEINLINE_FUNCTION V difference() const { return half_slope; }
  // Profile of a quantity that is `factor` times this one.
  KOKKOS_FORCEINLINE_FUNCTION LinearProfile times(const V& factor) const {
    return {factor * half_slope};
  }
  // Value at the lower face, given the one at the centre.
  KOKKOS_FORCEINLINE_FUNCTION V lower(const V& centre) const { return centre - half_slope; }
  // Value at the upper face, given the one at the centre.
  KOKKOS_FORCEINLINE_FUNCTION V upper(const V& centre) const { return centre + half_slope; }
};

// Piecewise linear reconstruction.
template <class Limiter>
struct Plm {
  static constexpr int reach = Limiter::reach;
  template <class V>
  using Profile = LinearProfile<V>;

  // Profile for Hancock's half step; q(o) is the value at offset o.
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static Profile<V> profile(const Values& q) {
    if constexpr (reach == 1) {
      const V centre = q(0);
      return {Limiter::half_slope(V(centre - q(-1)), V(q(1) - centre))};
    } else {
      return {Limiter::template half_slope<V>(q)};
    }
  }
  // Values at both faces, for Runge-Kutta stages; q(o) is the value at offset o.
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static Faces<V> faces(const Values& q) {
    const V centre = q(0);
    const Profile<V> p = profile<V>(q);
    return {p.lower(centre), p.upper(centre)};
  }
};

// Piecewise linear reconstruction with any limiter, for hydro.reconstruction.
struct PiecewiseLinear {
  static constexpr const char* name = "plm";
  template <class Limiter>
  using With = Plm<Limiter>;
};

// Parabolic profile in a cell, for Hancock's half step.
template <class V>
struct ParabolicProfile {
  static constexpr bool is_curved = true;
  static constexpr double span = 1.0;  // from face to face
  V below, above;                      // deviations of the values at the faces from the cell's mean
  // Difference of the values at the faces.
  KOKKOS_FORCEINLINE_FUNCTION V difference() const { return above - below; }
  // Profile of a quantity that is `factor` times this one.
  KOKKOS_FORCEINLINE_FUNCTION ParabolicProfile times(const V& factor) const {
    return {factor * below, factor * above};
  }
  // Curvature: difference between the slope at a face and the slope at the centre.
  KOKKOS_FORCEINLINE_FUNCTION V curvature() const { return V(3.0) * (above + below); }
  // Adds `rise` to the value at the lower face, and subtracts `fall` from that at the upper one.
  KOKKOS_FORCEINLINE_FUNCTION void tilt(const V& rise, const V& fall) {
    below = below + rise;
    above = above - fall;
  }
  // Value at the lower face, given the cell mean.
  KOKKOS_FORCEINLINE_FUNCTION V lower(const V& centre) const { return centre + below; }
  // Value at the upper face, given the cell mean.
  KOKKOS_FORCEINLINE_FUNCTION V upper(const V& centre) const { return centre + above; }
};

// Face values of a parabola, of fourth order (Colella & Woodward 1984, eq. 1.6) before two bounds.
// With cell means a, second differences d, m = minmod and C = k_growth:
// 1. A face value is clamped to the smallest interval that contains a, a+ and (a + a+) / 2 -
//    C m(d, d+) / 6, the value of a curve with an extremum at the face.
// 2. Its deviation from the cell's mean is then clamped to the smallest interval that contains 0,
//    -2 times the deviation of the other face (the bound of a monotone parabola) and
//    C m(d-, d, d+) / 3 (that of a parabola with an extremum in the cell).
// The limiter is a continuous function of the means: no branch depends on the sign of a difference,
// which beside uniform gas is that of round-off. Smooth extrema, where second differences agree,
// are preserved, as by Suresh & Huynh (1997) and Colella & Sekora (2008).
class ParabolicFaces {
 public:
  // Deviations of both face values from the cell's mean, given the deviations of the means of two
  // cells on each side.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static Faces<V> deviations(const V& left2, const V& left,
                                                         const V& right, const V& right2) {
    const V d2 = left + right;
    const V d2_left = fused_multiply_add(V(-2.0), left, left2);
    const V d2_right = fused_multiply_add(V(-2.0), right, right2);
    const V agreed_left = minmod(d2_left, d2), agreed_right = minmod(d2_right, d2);
    const V below = face(left, V(d2_left + d2), agreed_left);
    const V above = face(right, V(d2_right + d2), agreed_right);
    const V curved = V(k_growth / 3.0) * minmod(agreed_left, agreed_right);
    const V least = min(curved, V(0.0)), most = max(curved, V(0.0));
    return {in_cell(below, above, least, most), in_cell(above, below, least, most)};
  }

 private:
  static constexpr double k_growth = 1.25;  // allowed growth of second differences

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V minmod(const V& a, const V& b) {
    return max(min(a, max(b, V(0.0))), min(b, V(0.0)));
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V clamp(const V& a, const V& least, const V& most) {
    return max(min(a, most), least);
  }

  // Limited deviation of the face value from the cell's mean. `near` is that of the neighbour's
  // mean, `d2_sum` the sum of both cells' second differences, `agreed` their minmod.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V face(const V& near, const V& d2_sum, const V& agreed) {
    const V middle = V(0.5) * near;
    const V value = fused_multiply_add(V(-1.0 / 12.0), d2_sum, middle);
    const V turning = fused_multiply_add(V(-k_growth / 6.0), agreed, middle);
    return clamp(value, min(turning, min(near, V(0.0))), max(turning, max(near, V(0.0))));
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V in_cell(const V& value, const V& other, const V& least,
                                               const V& most) {
    const V monotone = V(-2.0) * other;
    return clamp(value, min(monotone, least), max(monotone, most));
  }
};

// Piecewise parabolic reconstruction (Colella & Woodward 1984), limited as in ParabolicFaces.
struct Ppm {
  static constexpr const char* name = "ppm";
  static constexpr int reach = 2;
  template <class Limiter>
  using With = Ppm;  // with its own limiters
  template <class V>
  using Profile = ParabolicProfile<V>;

  // Profile for Hancock's half step; q(o) is the value at offset o.
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static Profile<V> profile(const Values& q) {
    const Faces<V> deviation = deviations<V>(q);
    return {deviation.lower, deviation.upper};
  }
  // Values at both faces, for Runge-Kutta stages; q(o) is the value at offset o.
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static Faces<V> faces(const Values& q) {
    const V centre = q(0);
    const Faces<V> deviation = deviations<V>(q);
    return {centre + deviation.lower, centre + deviation.upper};
  }

  // Deviations of both face values from the cell's mean.
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static Faces<V> deviations(const Values& q) {
    const V centre = q(0);
    return ParabolicFaces::deviations(V(q(-2) - centre), V(q(-1) - centre), V(q(1) - centre),
                                      V(q(2) - centre));
  }
};

// --- contact steepening --------------------------------------------------------------------------
// Parabolas of the density are steepened where the density jumps and the pressure does not (Colella
// & Woodward 1984, eqs. 1.14-1.17 and 3.2, with their constants).

// Deviations of densities from that of the cell along a line of cells, and pressures.
template <class V>
struct ContactStencil {
  // density of the centre, and deviations of the others from it
  V left2, left, centre, right, right2;
  V pressure_left, pressure_right;
};

// Weight of a contact in a cell's profile (eqs. 1.16 and 1.17), from 0 to 1.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V contact_share(const ContactStencil<V>& s, double gamma) {
  constexpr double k_min_jump = 0.01, k_stiffness = 0.1, k_growth = 20.0, k_least = 0.05;
  const V d2_left = s.left2 - V(2.0) * s.left, d2_right = s.right2 - V(2.0) * s.right;
  const V rise = s.right - s.left, jump = absolute(rise);
  const V least = s.centre + min(s.left, s.right);
  const V pressure_jump = absolute(V(s.pressure_right - s.pressure_left));
  const V stiffness = V(k_stiffness * gamma) * min(s.pressure_left, s.pressure_right);
  const auto is_contact = d2_left * d2_right < V(0.0) && jump > V(k_min_jump) * least &&
                          stiffness * jump >= pressure_jump * least;
  const V steepness = (d2_left - d2_right) / (V(6.0) * select(is_contact, rise, V(1.0)));
  const V share = V(k_growth) * (steepness - V(k_least));
  return select(is_contact, max(min(share, V(1.0)), V(0.0)), V(0.0));
}

// Face values of the density in a cell with a contact: weighted mean of the smooth values and those
// extrapolated from the neighbours (eqs. 1.14 and 1.15), made monotone (eq. 1.10).
template <class V>
OCTANT_OUT_OF_LINE Faces<V> with_contact(const Faces<V> smooth, const ContactStencil<V> s,
                                         double gamma) {
  const V share = contact_share(s, gamma);
  const V slope_left = MonotonisedCentral::slope(V(s.left - s.left2), V(-s.left));
  const V slope_right = MonotonisedCentral::slope(s.right, V(s.right2 - s.right));
  const V steep_below = s.left + V(0.5) * slope_left, steep_above = s.right - V(0.5) * slope_right;
  const V below = fused_multiply_add(share, V(steep_below - smooth.lower), smooth.lower);
  const V above = fused_multiply_add(share, V(steep_above - smooth.upper), smooth.upper);
  const auto changes = share > V(0.0);
  return {select(changes, Minmod::slope(below, V(V(-2.0) * above)), smooth.lower),
          select(changes, Minmod::slope(above, V(V(-2.0) * below)), smooth.upper)};
}

// Steepens a parabola, given the deviations of its ends and the primitive variables along a line:
// line(n, o) is variable n of the cell at offset o.
template <class V, class Line>
KOKKOS_FORCEINLINE_FUNCTION Faces<V> steepened(const Faces<V>& smooth, const Line& line,
                                               double gamma) {
  const V centre = line(k_density, 0);
  return with_contact(
      smooth,
      ContactStencil<V>{V(line(k_density, -2) - centre), V(line(k_density, -1) - centre), centre,
                        V(line(k_density, 1) - centre), V(line(k_density, 2) - centre),
                        line(k_pressure, -1), line(k_pressure, 1)},
      gamma);
}

// --- lists ---------------------------------------------------------------------------------------

// Choices of hydro.limiter and, for Godunov's scheme, of hydro.reconstruction.
using Limiters = TypeList<Minmod, MonotonisedCentral, VanLeer, Huynh>;
using Reconstructions = TypeList<PiecewiseLinear, Ppm>;

// Calls body.template operator()<R>() with the reconstruction selected by the options.
template <class Body>
void with_reconstruction(const HydroOptions& options, const Body& body) {
  Reconstructions::with(options.reconstruction, [&]<class Reconstruction>() {
    Limiters::with(options.limiter, [&]<class Limiter>() {
      body.template operator()<typename Reconstruction::template With<Limiter>>();
    });
  });
}

}  // namespace octant::hydro
