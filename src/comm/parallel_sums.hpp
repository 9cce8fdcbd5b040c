// Reproducible sums of terms computed in kernels, in the memory space of the kernels.
//
// As for ReproducibleSum, the digits of an exact sum are integers, to which threads may add in any
// order. Each sum has several copies, which reduces contention.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <Kokkos_Core.hpp>

#include "comm/reproducible_sum.hpp"
#include "core/memory_transfer.hpp"

namespace octant {

// Decomposition of a double for an exact sum: see ReproducibleSum, and ParallelSums for kernels.
// Increments of the digits first, first + 1 and first + 2 of a sum, each less than 2^33 in size.
// Digit n counts multiples of 2^(32 n - 1074).
struct SplitTerm {
  int first;
  std::int64_t parts[3];
};

inline constexpr int k_split_digits = 66;  // number of digits that terms may change

// Splits a finite term.
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

// Adds terms to sums within kernels, at most 2^29 terms per sum. Passed by value.
class TermAdder {
 public:
  TermAdder(std::int64_t* words, int sums) : words_(words), sums_(sums) {}

  // Adds a term to a sum; `share`, any non-negative number, selects the copy of the sum.
  KOKKOS_INLINE_FUNCTION void add(int sum, int share, double term) const {
    std::int64_t* words = words_ + (std::ptrdiff_t{share % k_copies} * sums_ + sum) * k_words;
    if (!Kokkos::isfinite(term)) {
      const int kind = Kokkos::isnan(term) ? k_nan : term > 0.0 ? k_plus : k_minus;
      Kokkos::atomic_add(words + kind, std::int64_t{1});  // integer sum
      return;
    }
    const SplitTerm split_term = split(term);
    for (int n = 0; n < 3; ++n)
      Kokkos::atomic_add(words + split_term.first + n, split_term.parts[n]);  // integer sum
  }

  static constexpr int k_copies = 32;
  // Counters of non-finite terms, stored after the digits.
  enum Word { k_nan = k_split_digits, k_plus, k_minus, k_words };

 private:
  std::int64_t* words_;
  int sums_;
};

// Sums of terms computed in kernels.
template <class Space>
class ParallelSums {
 public:
  explicit ParallelSums(int sums)
      : sums_(sums),
        words_("digits of sums",
               static_cast<std::size_t>(sums) * TermAdder::k_copies * TermAdder::k_words),
        on_host_(Kokkos::create_mirror_view(words_)) {}

  // Begins sums at zero; returns the adder for kernels.
  TermAdder begin() {
    fill(words_, 0);
    return TermAdder(words_.data(), sums_);
  }

  // Waits for the kernels since begin() and adds their terms.
  void end(std::span<ReproducibleSum> sums) {
    copy_to_host(TransferKind::numbers, on_host_, words_);
    const std::int64_t* words = on_host_.data();
    for (int copy = 0; copy < TermAdder::k_copies; ++copy)
      for (ReproducibleSum& sum : sums.first(sums_)) {
        add_words(words, sum);
        words += TermAdder::k_words;
      }
  }

 private:
  // Adds the digits, each as two 32-bit numbers, which are exact terms.
  static void add_words(const std::int64_t* words, ReproducibleSum& sum) {
    using Limits = std::numeric_limits<double>;
    for (int n = 0; n < k_split_digits; ++n) {
      if (words[n] == 0) continue;
      const int exponent = 32 * n - 1074;
      sum += std::ldexp(static_cast<double>(words[n] & 0xffffffff), exponent);
      sum += std::ldexp(static_cast<double>(words[n] >> 32), exponent + 32);
    }
    if (words[TermAdder::k_nan] > 0) sum += Limits::quiet_NaN();
    if (words[TermAdder::k_plus] > 0) sum += Limits::infinity();
    if (words[TermAdder::k_minus] > 0) sum += -Limits::infinity();
  }

  int sums_;
  Kokkos::View<std::int64_t*, typename Space::memory_space> words_;
  typename Kokkos::View<std::int64_t*, typename Space::memory_space>::HostMirror on_host_;
};

}  // namespace octant
