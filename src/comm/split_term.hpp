// How a double adds to an exact sum: see ReproducibleSum, and ParallelSums for kernels.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace octant {

// Digits first, first + 1 and first + 2 of a sum change by these numbers, each less than 2^33 in
// size. Digit n counts multiples of 2^(32 n - 1074).
struct SplitTerm {
  int first;
  std::int64_t parts[3];
};

inline constexpr int k_split_digits = 66;  // that a term may change

// `term` is finite.
KOKKOS_INLINE_FUNCTION SplitTerm split(double term) {
  constexpr int k_mantissa_bits = 53;
  constexpr std::uint64_t k_hidden_bit = std::uint64_t{1} << (k_mantissa_bits - 1);
  constexpr std::int64_t k_digit_mask = 0xffffffff;
  const auto bits = Kokkos::bit_cast<std::uint64_t>(term);
  const auto exponent = static_cast<int>(bits >> (k_mantissa_bits - 1) & 0x7ff);
  std::uint64_t mantissa = bits & (k_hidden_bit - 1);
  if (exponent > 0) mantissa |= k_hidden_bit;

  // The mantissa begins at this bit, and covers parts of three digits.
  const int position = exponent > 0 ? exponent - 1 : 0;
  const int shift = position % 32;
  const auto low = static_cast<std::int64_t>((mantissa & k_digit_mask) << shift);
  const auto high = static_cast<std::int64_t>((mantissa >> 32) << shift);
  const std::int64_t sign = bits >> 63 != 0 ? -1 : 1;
  return {position / 32,
          {sign * (low & k_digit_mask), sign * ((low >> 32) + (high & k_digit_mask)),
           sign * (high >> 32)}};
}

}  // namespace octant
