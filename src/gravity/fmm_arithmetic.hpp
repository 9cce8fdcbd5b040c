// Arithmetic of the fast multipole method: interaction of two bodies, and translation of moments
// and expansions to other centres, for SIMD packs and for single numbers.
//
// A body has a mass, a centre of mass, and the trace-free quadrupole, octupole and hexadecapole
// about that centre, where [ ] is the trace-free part of a product of positions:
//   Q_ab = sum m [x_a x_b],   O_abc = sum m [x_a x_b x_c],   H_abcd = sum m [x_a x_b x_c x_d].
// The potential is sum m / |x|, which is positive and has the force per mass as its gradient. An
// expansion about a centre has value, gradient, and second to fourth derivatives. With R from B to
// A and D_k the k-th derivatives of 1 / R, a pair of bodies has the energy
//   U = m_A m_B D0 + (m_B Q_A + m_A Q_B):D2 / 2 + (m_B O_A - m_A O_B):D3 / 6
//     + (m_B H_A + m_A H_B):D4 / 24.
// The force on a mass is the gradient of U with respect to its position in the body, including the
// resulting motion of the centre of mass. U is invariant under translation and rotation of the
// pair, so total force and torque vanish. The force through the centre of mass is one acceleration
// per pair (the coupling term k_couple), as in Marcello (2017, AJ 154, 92), who stops at octupoles.
// Terms with H are included for close pairs only, whose errors dominate. The term Q_A Q_B:D4 of the
// same order, which is small in evenly filled cells, is omitted.
#pragma once

#include <cstring>

#include "core/compiler.hpp"
#include "core/simd.hpp"

#if !defined(OCTANT_GPU_COMPILER) && defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace octant::gravity::fmm {

// --- packs -------------------------------------------------------------------------------------

// Vector type of the kernels: the widest register of the machine.
#if defined(OCTANT_GPU_COMPILER)
using Wide = double;
#elif defined(__AVX512F__) && defined(__AVX512VL__)
using Wide = double __attribute__((vector_size(64)));
#else
using Wide = double __attribute__((vector_size(32)));
#endif
inline constexpr int k_simd_width = sizeof(Wide) / sizeof(double);

// Loads a pack of consecutive numbers.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V load(const double* from) {
  V values;
  memcpy(&values, from, sizeof values);
  return values;
}
// Stores a pack of consecutive numbers.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void store(double* to, const V& values) {
  memcpy(to, &values, sizeof values);
}

// Fused multiply-add a b + c.
KOKKOS_FORCEINLINE_FUNCTION double fma(double a, double b, double c) { return ::fma(a, b, c); }
// 1 / sqrt(a).
KOKKOS_FORCEINLINE_FUNCTION double inverse_root(double a) { return 1.0 / ::sqrt(a); }
#if !defined(OCTANT_GPU_COMPILER) && defined(__AVX512F__) && defined(__AVX512VL__)
// Fused multiply-add a b + c of packs.
KOKKOS_FORCEINLINE_FUNCTION Wide fma(Wide a, Wide b, Wide c) {
  return Wide(_mm512_fmadd_pd(__m512d(a), __m512d(b), __m512d(c)));
}
// 1 / sqrt(a) to a few units in the last place, by two Newton steps from a 14-bit estimate, which
// is the same on all processors.
KOKKOS_FORCEINLINE_FUNCTION Wide inverse_root(Wide a) {
  Wide u = Wide(_mm512_maskz_rsqrt14_pd(0xff, __m512d(a)));
  const Wide half = 0.5 * a, c = Wide{} + 1.5;
  u = u * fma(-half * u, u, c);
  return u * fma(-half * u, u, c);
}
#elif !defined(OCTANT_GPU_COMPILER)
// Fused multiply-add a b + c of packs.
KOKKOS_FORCEINLINE_FUNCTION Wide fma(Wide a, Wide b, Wide c) {
  return fused_multiply_add(SimdDouble(a), SimdDouble(b), SimdDouble(c)).lanes();
}
// 1 / sqrt(a) to a few units in the last place.
KOKKOS_FORCEINLINE_FUNCTION Wide inverse_root(Wide a) {
  return 1.0 / square_root(SimdDouble(a)).lanes();
}
#endif

// --- bodies and expansions ---------------------------------------------------------------------

// Components of a body. Quadrupole: xx xy xz yy yz zz; octupole: xxx xxy xxz xyy xyz xzz yyy yyz
// yzz; hexadecapole: xxxx xxxy xxyy xyyy yyyy xxxz xxyz xyyz yyyz.
inline constexpr int k_mass = 0, k_centre = 1, k_quadrupole = 4, k_octupole = 10,
                     k_hexadecapole = 19, k_moments = 28;
// Terms of an expansion. Second derivatives are in the order of quadrupoles, third ones xxx xxy xxz
// xyy xyz yyy yyz, fourth ones in the order of hexadecapoles.
inline constexpr int k_value = 0, k_gradient = 1, k_second = 4, k_third = 10, k_fourth = 17,
                     k_couple = 26, k_terms = 29;

// Contraction t_abc x_b x_c of a trace-free t; t(n) are components in the octupole's order.
template <class V, class Tensor>
KOKKOS_FORCEINLINE_FUNCTION void contract(const Tensor& t, V xx_zz, V yy_zz, V xy2, V xz2, V yz2,
                                          V* out) {
  out[0] = fma(t(0), xx_zz, fma(t(3), yy_zz, fma(t(1), xy2, fma(t(2), xz2, t(4) * yz2))));
  out[1] = fma(t(1), xx_zz, fma(t(6), yy_zz, fma(t(3), xy2, fma(t(4), xz2, t(7) * yz2))));
  out[2] = fma(t(2), xx_zz, fma(t(7), yy_zz, fma(t(4), xy2, fma(t(5), xz2, t(8) * yz2))));
}

// Contraction t_abcd x_d of a trace-free t, with t(n) in the hexadecapole's order and the result in
// the octupole's order.
template <class V, class Tensor>
KOKKOS_FORCEINLINE_FUNCTION void contract_once(const Tensor& t, V x, V y, V z, V* out) {
  const V xyzz = -t(1) - t(3), xxzz = -t(0) - t(2), yyzz = -t(2) - t(4);
  out[0] = fma(t(0), x, fma(t(1), y, t(5) * z));
  out[1] = fma(t(1), x, fma(t(2), y, t(6) * z));
  out[2] = fma(t(5), x, fma(t(6), y, xxzz * z));
  out[3] = fma(t(2), x, fma(t(3), y, t(7) * z));
  out[4] = fma(t(6), x, fma(t(7), y, xyzz * z));
  out[5] = -out[0] - out[3];
  out[6] = fma(t(3), x, fma(t(4), y, t(8) * z));
  out[7] = fma(t(7), x, fma(t(8), y, yyzz * z));
  out[8] = -out[1] - out[6];
}

// Quantities of a pair of bodies: 1 / r, factors of the derivatives of 1 / r, products of
// coordinates, and the source's moments contracted with coordinates.
template <class V>
struct PairInteraction {
  V x, y, z, u, g1, g2, g3, g4, g5;
  V xx, yy, zz, r2, x2, xy2, xz2, yz2;
  V qx, qy, qz, qq, o[3];

  // (to_x, to_y, to_z) is the vector from source to target; source(n) are the source's components.
  template <class Source>
  KOKKOS_FORCEINLINE_FUNCTION PairInteraction(const Source& source, V to_x, V to_y, V to_z)
      : x(to_x), y(to_y), z(to_z) {
    xx = x * x, yy = y * y, zz = z * z;
    r2 = xx + yy + zz;
    u = inverse_root(r2);
    const V u2 = u * u;
    g1 = -u * u2, g2 = -3.0 * u2 * g1, g3 = -5.0 * u2 * g2, g4 = -7.0 * u2 * g3,
    g5 = -9.0 * u2 * g4;
    x2 = x + x, xy2 = x2 * y, xz2 = x2 * z, yz2 = (y + y) * z;
    constexpr int Q = k_quadrupole;
    qx = fma(source(Q), x, fma(source(Q + 1), y, source(Q + 2) * z));
    qy = fma(source(Q + 1), x, fma(source(Q + 3), y, source(Q + 4) * z));
    qz = fma(source(Q + 2), x, fma(source(Q + 4), y, source(Q + 5) * z));
    qq = fma(qx, x, fma(qy, y, qz * z));
    const auto octupole = [&](int n) OCTANT_INLINE_LAMBDA { return source(k_octupole + n); };
    contract<V>(octupole, xx - zz, yy - zz, xy2, xz2, yz2, o);
  }

  // Contraction t_abcd x_b x_c x_d of a trace-free t, with t(n) in the hexadecapole's order.
  template <class Tensor>
  KOKKOS_FORCEINLINE_FUNCTION void contract_thrice(const Tensor& t, V* out) const {
    V once[9];
    contract_once<V>(t, x, y, z, once);
    const auto third = [&](int n) OCTANT_INLINE_LAMBDA { return once[n]; };
    contract<V>(third, xx - zz, yy - zz, xy2, xz2, yz2, out);
  }
};

// Adds the expansion of a source's potential about a target's centre of mass, and the acceleration
// of that centre (k_couple), to L. ratio(n) are the target's octupole and hexadecapole divided by
// its mass. Second derivatives have traces and are doubled off the diagonal until finish_second().
template <bool Close, class V, class Source, class Ratio>
KOKKOS_FORCEINLINE_FUNCTION void interact(const Source& source, const Ratio& ratio, V to_x, V to_y,
                                          V to_z, V* L) {
  const PairInteraction<V> at(source, to_x, to_y, to_z);
  const V &x = at.x, &y = at.y, &z = at.z, m = source(k_mass);
  const V oo = fma(at.o[0], x, fma(at.o[1], y, at.o[2] * z));
  const V h3 = 0.5 * at.g3, first = fma(h3, at.qq, m * at.g1), s4 = (1.0 / 6) * at.g4;
  const V m2 = m * at.g2, m3 = m * at.g3;
  L[k_value] = fma(m, at.u, fma(0.5 * at.g2, at.qq, fma((-1.0 / 3) * h3, oo, L[k_value])));
  constexpr int G = k_gradient, S = k_second, T = k_third, C = k_couple;
  L[G] = fma(first, x, fma(at.g2, at.qx, L[G]));
  L[G + 1] = fma(first, y, fma(at.g2, at.qy, L[G + 1]));
  L[G + 2] = fma(first, z, fma(at.g2, at.qz, L[G + 2]));
  L[S] = fma(m2, at.xx, L[S]);
  L[S + 1] = fma(m2, at.xy2, L[S + 1]);
  L[S + 2] = fma(m2, at.xz2, L[S + 2]);
  L[S + 3] = fma(m2, at.yy, L[S + 3]);
  L[S + 4] = fma(m2, at.yz2, L[S + 4]);
  L[S + 5] = fma(m2, at.zz, L[S + 5]);
  const V r5 = 0.2 * at.r2, tx = at.xx - r5, ty = at.yy - r5;
  const V mx = m3 * x, my = m3 * y, mz = m3 * z;
  L[T] = fma(mx, tx - (r5 + r5), L[T]);
  L[T + 1] = fma(my, tx, L[T + 1]);
  L[T + 2] = fma(mz, tx, L[T + 2]);
  L[T + 3] = fma(mx, ty, L[T + 3]);
  L[T + 4] = fma(mx, 0.5 * at.yz2, L[T + 4]);
  L[T + 5] = fma(my, ty - (r5 + r5), L[T + 5]);
  L[T + 6] = fma(mz, ty, L[T + 6]);
  if constexpr (!Close) {
    V w[3];
    contract<V>(ratio, at.xx - at.zz, at.yy - at.zz, at.xy2, at.xz2, at.yz2, w);
    for (int d = 0; d < 3; ++d) w[d] = fma(m, w[d], -at.o[d]);
    const V along = s4 * fma(w[0], x, fma(w[1], y, w[2] * z));
    L[C] = fma(along, x, fma(h3, w[0], L[C]));
    L[C + 1] = fma(along, y, fma(h3, w[1], L[C + 1]));
    L[C + 2] = fma(along, z, fma(h3, w[2], L[C + 2]));
    return;
  }
  V h[3], w[3];  // hexadecapole contracted three times: source; sum of both
  at.contract_thrice([&](int n) OCTANT_INLINE_LAMBDA { return source(k_hexadecapole + n); }, h);
  at.contract_thrice([&](int n) OCTANT_INLINE_LAMBDA { return ratio(9 + n); }, w);
  for (int d = 0; d < 3; ++d) w[d] = fma(m, w[d], h[d]);
  const V hh = fma(h[0], x, fma(h[1], y, h[2] * z)), ww = fma(w[0], x, fma(w[1], y, w[2] * z));
  const V along = fma((1.0 / 24) * at.g5, ww, -s4 * oo), m4 = m * at.g4;
  L[k_value] = fma(0.25 * s4, hh, L[k_value]);
  constexpr int F = k_fourth;
  const V s = (1.0 / 7) * at.r2, rest = (1.0 / 35) * (at.r2 * at.r2);
  const V xy = m4 * (0.5 * at.xy2), xz = m4 * (0.5 * at.xz2), yz = m4 * (0.5 * at.yz2);
  const V sx = at.xx - s, sy = at.yy - s, s2 = s + s;
  L[F] = fma(m4, fma(at.xx, at.xx - 6.0 * s, 3.0 * rest), L[F]);
  L[F + 1] = fma(xy, sx - s2, L[F + 1]);
  L[F + 2] = fma(m4, fma(sx, sy, fma(-s, s, rest)), L[F + 2]);
  L[F + 3] = fma(xy, sy - s2, L[F + 3]);
  L[F + 4] = fma(m4, fma(at.yy, at.yy - 6.0 * s, 3.0 * rest), L[F + 4]);
  L[F + 5] = fma(xz, sx - s2, L[F + 5]);
  L[F + 6] = fma(yz, sx, L[F + 6]);
  L[F + 7] = fma(xz, sy, L[F + 7]);
  L[F + 8] = fma(yz, sy - s2, L[F + 8]);
  for (int d = 0; d < 3; ++d) {
    const V r = d == 0 ? x : d == 1 ? y : z;
    L[C + d] = fma(along, r, fma(s4, w[d], fma(-h3, at.o[d], L[C + d])));
  }
}

// Interaction with a point target: adds the potential of the source to F[0], and the force per
// mass, including the term that interact() adds to k_couple, to F[1], F[2] and F[3].
template <bool Close, class V, class Source>
KOKKOS_FORCEINLINE_FUNCTION void interact_point(const Source& source, V to_x, V to_y, V to_z,
                                                V* F) {
  const PairInteraction<V> at(source, to_x, to_y, to_z);
  const V m = source(k_mass);
  const V oo = fma(at.o[0], at.x, fma(at.o[1], at.y, at.o[2] * at.z));
  const V h3 = 0.5 * at.g3, s4 = (1.0 / 6) * at.g4;
  V first = fma(h3, at.qq, fma(-s4, oo, m * at.g1));
  if constexpr (Close) {
    V h[3];
    at.contract_thrice([&](int n) OCTANT_INLINE_LAMBDA { return source(k_hexadecapole + n); }, h);
    const V hh = fma(h[0], at.x, fma(h[1], at.y, h[2] * at.z));
    first = fma((1.0 / 24) * at.g5, hh, first);
    F[0] = fma(0.25 * s4, hh, F[0]);
    for (int d = 0; d < 3; ++d) F[1 + d] = fma(s4, h[d], F[1 + d]);
  }
  F[0] = fma(m, at.u, fma(0.5 * at.g2, at.qq, fma((-1.0 / 3) * h3, oo, F[0])));
  F[1] = fma(first, at.x, fma(at.g2, at.qx, fma(-h3, at.o[0], F[1])));
  F[2] = fma(first, at.y, fma(at.g2, at.qy, fma(-h3, at.o[1], F[2])));
  F[3] = fma(first, at.z, fma(at.g2, at.qz, fma(-h3, at.o[2], F[3])));
}

// Removes the trace of second derivatives and halves off-diagonal ones; see interact().
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void finish_second(V* s) {
  const V trace = (s[0] + s[3] + s[5]) * (1.0 / 3);
  s[0] -= trace, s[3] -= trace, s[5] -= trace;
  s[1] *= 0.5, s[2] *= 0.5, s[4] *= 0.5;
}

// --- between levels ----------------------------------------------------------------------------
// Lengths are in cells of a body's level, relative to the centre of its cell. Masses are in the
// same unit on all levels.

// Coordinate of the centre of a child relative to that of its parent, in cells of the child.
KOKKOS_FORCEINLINE_FUNCTION double offset_of(int octant, int axis) {
  return (octant >> axis & 1) - 0.5;
}

// Number of all components of a hexadecapole, including dependent ones: xxxx xxxy xxxz xxyy xxyz
// xxzz xyyy xyyz xyzz xzzz yyyy yyyz yyzz yzzz zzzz.
inline constexpr int k_symmetric = 15;
// Computes all 15 components from the nine independent ones.
template <class V, class Tensor>
KOKKOS_FORCEINLINE_FUNCTION void complete(const Tensor& t, V* all) {
  const V xxzz = -t(0) - t(2), yyzz = -t(2) - t(4);
  const V values[k_symmetric] = {t(0), t(1), t(5), t(2),         t(6),
                                 xxzz, t(3), t(7), -t(1) - t(3), -t(5) - t(7),
                                 t(4), t(8), yyzz, -t(6) - t(8), -xxzz - yyzz};
  for (int n = 0; n < k_symmetric; ++n) all[n] = values[n];
}

// Adds the fourth moments of a body whose centre of mass lies at x: m x x x x, 6 Q x x, 4 O x, and
// H. `o` includes the component zzz.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void add_fourth(V m, const V (&x)[3], const V (&q)[6], const V (&o)[10],
                                            const V* h, V* sum) {
  constexpr int second[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  constexpr int third[3][6] = {{0, 1, 2, 3, 4, 5}, {1, 3, 4, 6, 7, 8}, {2, 4, 5, 7, 8, 9}};
  constexpr int axes[k_symmetric][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 1, 1},
                                        {0, 0, 1, 2}, {0, 0, 2, 2}, {0, 1, 1, 1}, {0, 1, 1, 2},
                                        {0, 1, 2, 2}, {0, 2, 2, 2}, {1, 1, 1, 1}, {1, 1, 1, 2},
                                        {1, 1, 2, 2}, {1, 2, 2, 2}, {2, 2, 2, 2}};
  OCTANT_UNROLL(15)
  for (int n = 0; n < k_symmetric; ++n) {
    const int a = axes[n][0], b = axes[n][1], c = axes[n][2], d = axes[n][3];
    const auto Q = [&](int i, int j) OCTANT_INLINE_LAMBDA { return q[second[i][j]]; };
    const auto O = [&](int i, int j, int k)
                       OCTANT_INLINE_LAMBDA { return o[third[i][second[j][k]]]; };
    const V ab = fma(m * x[a], x[b], Q(a, b));  // m x x + Q
    V value = fma(O(a, b, c), x[d], h[n]);
    value = fma(O(a, b, d), x[c], value);
    value = fma(O(a, c, d), x[b], value);
    value = fma(O(b, c, d), x[a], value);
    value = fma(Q(a, c) * x[b], x[d], value);
    value = fma(Q(a, d) * x[b], x[c], value);
    value = fma(Q(b, c) * x[a], x[d], value);
    value = fma(Q(b, d) * x[a], x[c], value);
    value = fma(Q(c, d) * x[a], x[b], value);
    sum[n] += fma(ab * x[c], x[d], value);
  }
}

// Computes the hexadecapole, the trace-free part of a sum of fourth moments.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void without_traces(const V (&t)[k_symmetric], V* h) {
  const V xx = t[0] + t[3] + t[5], xy = t[1] + t[6] + t[8], xz = t[2] + t[7] + t[9],
          yy = t[3] + t[10] + t[12], yz = t[4] + t[11] + t[13], zz = t[5] + t[12] + t[14];
  const V trace = (xx + yy + zz) * (1.0 / 35);
  constexpr double k = 1.0 / 7;
  h[0] = t[0] - 6.0 * k * xx + 3.0 * trace;
  h[1] = t[1] - 3.0 * k * xy;
  h[2] = t[3] - k * (xx + yy) + trace;
  h[3] = t[6] - 3.0 * k * xy;
  h[4] = t[10] - 6.0 * k * yy + 3.0 * trace;
  h[5] = t[2] - 3.0 * k * xz;
  h[6] = t[4] - k * yz;
  h[7] = t[7] - k * xz;
  h[8] = t[11] - 3.0 * k * yz;
}

// Combines the multipole moments of eight children into those of the parent, w (M2M). child(octant,
// n) is moment n of a child. With `Points`, children are point masses at cell centres.
template <bool Points, class V, class Child>
KOKKOS_FORCEINLINE_FUNCTION void combine(const Child& child, V* w) {
  V sum[k_hexadecapole + 1];  // sums of moments; octupole with the component zzz
  V fourth[k_symmetric];
  for (V& part : fourth) part = V{};
  for (V& part : sum) part = V{};
  for (int s = 0; s < 8; ++s) {
    const V m = child(s, k_mass);
    sum[0] += m;
    for (int d = 0; d < 3; ++d) {
      const V place = Points ? V{} + offset_of(s, d) : offset_of(s, d) + child(s, k_centre + d);
      sum[k_centre + d] += 0.5 * (m * place);
    }
  }
  const V one = V{} + 1.0, inverse = sum[0] != 0.0 ? one / sum[0] : V{};
  for (int d = 0; d < 3; ++d) sum[k_centre + d] *= inverse;
  for (int s = 0; s < 8; ++s) {
    const V m = child(s, k_mass);
    V x[3], q[6], o[10], h[k_symmetric];
    for (int d = 0; d < 3; ++d)
      x[d] = (Points ? V{} + 0.5 * offset_of(s, d)
                     : 0.5 * (offset_of(s, d) + child(s, k_centre + d))) -
             sum[k_centre + d];
    for (int n = 0; n < 6; ++n) q[n] = Points ? V{} : 0.25 * child(s, k_quadrupole + n);
    for (int n = 0; n < 9; ++n) o[n] = Points ? V{} : 0.125 * child(s, k_octupole + n);
    o[9] = -o[2] - o[7];
    complete<V>([&](int n) { return Points ? V{} : 0.0625 * child(s, k_hexadecapole + n); }, h);
    add_fourth<V>(m, x, q, o, h, fourth);
    const V mx = m * x[0], my = m * x[1], mz = m * x[2];
    const V xx = fma(mx, x[0], q[0]), xy = fma(mx, x[1], q[1]), xz = fma(mx, x[2], q[2]),
            yy = fma(my, x[1], q[3]), yz = fma(my, x[2], q[4]), zz = fma(mz, x[2], q[5]);
    V* Q = sum + k_quadrupole;
    Q[0] += xx, Q[1] += xy, Q[2] += xz, Q[3] += yy, Q[4] += yz, Q[5] += zz;
    // Third moments m x x x + 3 Q x, from the product of x x and m + Q.
    V* O = sum + k_octupole;
    O[0] += fma(xx + 2.0 * q[0], x[0], o[0]);
    O[1] += fma(xx, x[1], fma(2.0 * q[1], x[0], o[1]));
    O[2] += fma(xx, x[2], fma(2.0 * q[2], x[0], o[2]));
    O[3] += fma(yy, x[0], fma(2.0 * q[1], x[1], o[3]));
    O[4] += fma(xy, x[2], fma(q[2], x[1], fma(q[4], x[0], o[4])));
    O[5] += fma(zz, x[0], fma(2.0 * q[2], x[2], o[5]));
    O[6] += fma(yy + 2.0 * q[3], x[1], o[6]);
    O[7] += fma(yy, x[2], fma(2.0 * q[4], x[1], o[7]));
    O[8] += fma(zz, x[1], fma(2.0 * q[4], x[2], o[8]));
    O[9] += fma(zz + 2.0 * q[5], x[2], o[9]);
  }
  V *Q = sum + k_quadrupole, *O = sum + k_octupole;
  const V t = (Q[0] + Q[3] + Q[5]) * (1.0 / 3);
  Q[0] -= t, Q[3] -= t, Q[5] -= t;
  const V tx = 0.2 * (O[0] + O[3] + O[5]), ty = 0.2 * (O[1] + O[6] + O[8]),
          tz = 0.2 * (O[2] + O[7] + O[9]);
  O[0] -= 3.0 * tx, O[3] -= tx, O[5] -= tx;
  O[6] -= 3.0 * ty, O[1] -= ty, O[8] -= ty;
  O[2] -= tz, O[7] -= tz;
  for (int n = 0; n < k_hexadecapole; ++n) w[n] = sum[n];
  without_traces(fourth, w + k_hexadecapole);
}

// Expansion p(n) about a parent's centre, translated to a position x, in units of the parent (L2L).
// The value includes the term of k_couple and so is the change of the energy of all pairs per mass
// that is added at x, which moves the centre of mass. The gradient does not include the term.
template <class V>
struct Expanded {
  V value, gradient[3], second[6], third[7];

  template <class Parent>
  KOKKOS_FORCEINLINE_FUNCTION Expanded(const Parent& p, V x, V y, V z) {
    constexpr int S = k_second, T = k_third;
    const V t[9] = {p(T),     p(T + 1), p(T + 2),
                    p(T + 3), p(T + 4), -p(T) - p(T + 3),
                    p(T + 5), p(T + 6), -p(T + 1) - p(T + 5)};
    V c[3];
    V f[9], e[3];  // fourth derivatives contracted with x once, and three times
    contract_once<V>([&](int n) OCTANT_INLINE_LAMBDA { return p(k_fourth + n); }, x, y, z, f);
    const V xx_zz = x * x - z * z, yy_zz = y * y - z * z, xy2 = 2.0 * x * y, xz2 = 2.0 * x * z,
            yz2 = 2.0 * y * z;
    contract<V>([&](int n) OCTANT_INLINE_LAMBDA { return t[n]; }, xx_zz, yy_zz, xy2, xz2, yz2, c);
    contract<V>([&](int n) OCTANT_INLINE_LAMBDA { return f[n]; }, xx_zz, yy_zz, xy2, xz2, yz2, e);
    const V a[3] = {fma(p(S), x, fma(p(S + 1), y, p(S + 2) * z)),
                    fma(p(S + 1), x, fma(p(S + 3), y, p(S + 4) * z)),
                    fma(p(S + 2), x, fma(p(S + 4), y, p(S + 5) * z))};
    const V r[3] = {x, y, z};
    value = p(k_value);
    for (int d = 0; d < 3; ++d) {
      const V g = p(k_gradient + d);
      value =
          fma(r[d], g + p(k_couple + d) + 0.5 * a[d] + (1.0 / 6) * c[d] + (1.0 / 24) * e[d], value);
      gradient[d] = g + a[d] + 0.5 * c[d] + (1.0 / 6) * e[d];
    }
    V b[9];  // third derivatives, evaluated half way to x
    for (int n = 0; n < 9; ++n) b[n] = t[n] + 0.5 * f[n];
    const V xx = fma(b[0], x, fma(b[1], y, b[2] * z)), yy = fma(b[3], x, fma(b[6], y, b[7] * z));
    second[0] = p(S) + xx;
    second[1] = p(S + 1) + fma(b[1], x, fma(b[3], y, b[4] * z));
    second[2] = p(S + 2) + fma(b[2], x, fma(b[4], y, b[5] * z));
    second[3] = p(S + 3) + yy;
    second[4] = p(S + 4) + fma(b[4], x, fma(b[7], y, b[8] * z));
    second[5] = p(S + 5) - xx - yy;
    constexpr int stored[7] = {0, 1, 2, 3, 4, 6, 7};
    for (int n = 0; n < 7; ++n) third[n] = t[stored[n]] + f[stored[n]];
  }
};

}  // namespace octant::gravity::fmm
