// Bitwise-reproducible sums of doubles: independent of the order of terms and the number of ranks.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "comm/communicator.hpp"

namespace octant {

// Exact sum: a fixed-point number wide enough for any double, so that no term is ever rounded. 568
// bytes; host only. A term costs about 10 ns: sum the cells of a block in a fixed order first, and
// add the block's sum.
class ReproducibleSum {
 public:
  ReproducibleSum& operator+=(double term);
  ReproducibleSum& operator+=(const ReproducibleSum& other);

  // Double nearest to the exact sum (ties to even). NaN if a term was NaN or infinities of both
  // signs were added; infinite if one sign was, or if the sum exceeds the largest double.
  double to_double() const;

 private:
  friend void reproducible_sum(const Communicator&, std::span<ReproducibleSum>,
                               std::span<std::int64_t>);

  // Digit n counts multiples of 2^(32 n - 1074). Doubles end at bit 2097, in digit 65; digit 66
  // takes the carries and the sign. After carry() all digits but the last are in [0, 2^32).
  static constexpr int k_digits = 67;
  // Counters of non-finite terms follow the digits, so that one reduction includes all.
  enum Word { k_nan = k_digits, k_plus_infinity, k_minus_infinity, k_words };
  static constexpr std::int64_t k_terms_before_carry = std::int64_t{1} << 29;

  void add_finite(double term);
  void add_special(double term);
  void carry();
  void negate();
  bool is_negative() const { return words_[k_digits - 1] < 0; }
  double magnitude_to_double() const;

  std::array<std::int64_t, k_words> words_{};
  std::int64_t terms_ = 0;  // since the last carry(); each adds less than 2^33 to a digit
};

// Sum of the terms of all ranks, with the same bits on every rank. Collective.
double reproducible_sum(const Communicator& communicator, std::span<const double> terms);

// Replaces each sum, and each of some integers, by its total over all ranks, in one reduction.
// Collective.
void reproducible_sum(const Communicator& communicator, std::span<ReproducibleSum> sums,
                      std::span<std::int64_t> counts = {});

}  // namespace octant
