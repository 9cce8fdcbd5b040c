// Sums of doubles whose bits do not depend on the order of the terms or the number of ranks.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "comm/communicator.hpp"

namespace octant {

// An exact sum: a fixed-point number wide enough for any double, so that no term is ever rounded.
// to_double() rounds once, to nearest even. 560 bytes; a few nanoseconds per term; host only.
class ReproducibleSum {
 public:
  void add(double value);
  ReproducibleSum& operator+=(const ReproducibleSum& other);
  ReproducibleSum& operator+=(double value) {
    add(value);
    return *this;
  }
  // NaN if a term was NaN or infinities of both signs were added; infinite if one sign was, or if the
  // exact sum exceeds the largest double.
  double to_double() const;

 private:
  friend void reproducible_sum(const Communicator&, std::span<ReproducibleSum>);

  // Digit n counts multiples of 2^(32 n - 1074). Doubles reach bit 2097, which leaves the last digits
  // to carries. After normalize() all digits but the last lie in [0, 2^32).
  static constexpr int k_digits = 67;
  static constexpr std::int32_t k_terms_before_carry = 1 << 30;

  void add_finite(double value);
  void normalize();

  std::array<std::int64_t, k_digits> digits_{};
  std::int64_t nans_ = 0, plus_infinities_ = 0, minus_infinities_ = 0;
  std::int64_t terms_ = 0;  // since the last normalize()
};

// The sum of the terms of all ranks, the same bits on every rank. Collective.
double reproducible_sum(const Communicator& communicator, std::span<const double> terms);

// Replaces each sum by its total over all ranks, in one reduction. Collective.
void reproducible_sum(const Communicator& communicator, std::span<ReproducibleSum> sums);

}  // namespace octant
