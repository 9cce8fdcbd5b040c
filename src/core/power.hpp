// Vectorised powers. All lanes execute the same operations, so that a power has the same bits in
// any lane, whatever the values in other lanes, on every machine with exact fused multiply-add.
//
//   a^e = 2^n 2^r,  a = 2^k m,  e log2(a) = n + r,
// with log2(m) from the series of artanh and 2^r from that of exp (Muller, Elementary Functions,
// 3rd ed., 2016, chapter 11). The relative error is below 4e-16 max(1, |e|).
#pragma once

#include <cstdint>

#include "core/compiler.hpp"
#include "core/simd.hpp"

namespace octant {

namespace powers {

// Sum of coefficient[n] x^n, in two independent chains that a processor executes in parallel.
template <int Terms, class V>
KOKKOS_FORCEINLINE_FUNCTION V polynomial(const double (&coefficient)[Terms], const V& x) {
  static_assert(Terms % 2 == 0);
  const V square = x * x;
  V even = V(coefficient[Terms - 2]), odd = V(coefficient[Terms - 1]);
  OCTANT_UNROLL(8)
  for (int n = Terms - 4; n >= 0; n -= 2) {
    even = fused_multiply_add(even, square, V(coefficient[n]));
    odd = fused_multiply_add(odd, square, V(coefficient[n + 1]));
  }
  return fused_multiply_add(odd, x, even);
}

// log2(m) for m between the roots of 1/2 and 2: with s = (m - 1) / (m + 1), 2 / ln 2 artanh(s).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V log2_of_mantissa(const V& m) {
  constexpr double odd_inverses[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                     1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  constexpr double two_over_ln2 = 2.8853900817779268;
  const V s = (m - V(1.0)) / (m + V(1.0));
  const V z = s * s;
  return V(two_over_ln2) * fused_multiply_add(s * z, polynomial(odd_inverses, z), s);
}

// 2^r for |r| <= 1/2.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V exp2_of_fraction(const V& r) {
  constexpr double inverse_factorials[] = {1.0,
                                           1.0,
                                           1.0 / 2,
                                           1.0 / 6,
                                           1.0 / 24,
                                           1.0 / 120,
                                           1.0 / 720,
                                           1.0 / 5040,
                                           1.0 / 40320,
                                           1.0 / 362880,
                                           1.0 / 3628800,
                                           1.0 / 39916800,
                                           1.0 / 479001600,
                                           1.0 / 6227020800.0};
  constexpr double ln2 = 0.69314718055994531;
  return polynomial(inverse_factorials, V(V(ln2) * r));
}

// Replaces lanes whose argument or result may not be a normal number by results of ::pow.
template <class V, class Mask>
OCTANT_OUT_OF_LINE V replace_by_library(V result, Mask wrong, V a, double exponent) {
  const auto of_lane = [&](int n) { return ::pow(SimdTraits<V>::lane(a, n), exponent); };
  return select(wrong, SimdTraits<V>::generate(of_lane), result);
}

}  // namespace powers

// a = 2^exponent mantissa, with a mantissa between the roots of 1/2 and 2, for normal a > 0.
template <class V>
struct BinaryForm {
  V exponent, mantissa;

  KOKKOS_FORCEINLINE_FUNCTION explicit BinaryForm(const V& a) {
    using Traits = SimdTraits<V>;
    constexpr std::uint64_t one = std::uint64_t{1023} << 52;
    constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcd;
    constexpr double two_52 = 4503599627370496.0;  // moves integers to the last bits
    constexpr std::uint64_t bits_of_two_52 = std::uint64_t{1023 + 52} << 52;
    const typename Traits::Bits bits = Traits::bits(a);
    const typename Traits::Bits biased = ((bits - root_of_half) + one) >> 52;
    exponent = Traits::from_bits(biased + bits_of_two_52) - V(two_52 + 1023.0);
    mantissa = Traits::from_bits(bits - (biased << 52) + one);
  }
};

// Natural logarithm of a normal a > 0, with a relative error below 4e-16 except near 1, where the
// absolute error is below 1e-16.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V logarithm(const V& a) {
  constexpr double ln2 = 0.69314718055994531;
  const BinaryForm<V> form(a);
  return V(ln2) * (form.exponent + powers::log2_of_mantissa(form.mantissa));
}

// a^exponent.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V power(const V& a, double exponent) {
  using Traits = SimdTraits<V>;
  constexpr double two_52 = 4503599627370496.0;  // moves integers to the last bits
  const BinaryForm<V> form(a);                   // a = 2^k m
  const V k = form.exponent, log2_m = powers::log2_of_mantissa(form.mantissa);

  // Decomposition exponent * log2(a) = n + r. The product of k and `high`, the upper half of the
  // exponent's digits, is exact.
  using Scalar = SimdTraits<double>;
  const double high = Scalar::from_bits(Scalar::bits(exponent) >> 27 << 27);
  const V rest = fused_multiply_add(V(exponent), log2_m, V(exponent - high) * k);
  const V shifted = fused_multiply_add(V(high), k, rest) + V(1.5 * two_52);
  const V n = shifted - V(1.5 * two_52);
  const V r = fused_multiply_add(V(high), k, -n) + rest;

  const V mantissa = powers::exp2_of_fraction(r);
  const V result = Traits::from_bits(Traits::bits(mantissa) + (Traits::bits(shifted) << 52));
  constexpr double least = 2.2250738585072014e-308, most = 1.7976931348623157e308;
  const auto fine = a >= V(least) && a <= V(most) && absolute(n) <= V(1021.0);
  if (any(!fine)) return powers::replace_by_library(result, !fine, a, exponent);
  return result;
}

}  // namespace octant
