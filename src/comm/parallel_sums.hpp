// Reproducible sums whose terms are found by kernels, in the memory where these run.
//
// Like ReproducibleSum's, the digits of an exact sum are integers, to which threads may add in any
// order. Each sum is kept in several copies, so that threads seldom meet.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <Kokkos_Core.hpp>

#include "comm/reproducible_sum.hpp"
#include "comm/split_term.hpp"
#include "core/residency.hpp"

namespace octant {

// What kernels add terms with. At most 2^29 terms per sum. Passed by value.
class TermAdder {
 public:
  TermAdder(std::int64_t* words, int sums) : words_(words), sums_(sums) {}

  // Adds to a sum; `share`, any number that is not negative, chooses the copy.
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
  // After the digits: how many terms were no numbers, or infinite.
  enum Word { k_nan = k_split_digits, k_plus, k_minus, k_words };

 private:
  std::int64_t* words_;
  int sums_;
};

template <class Space>
class ParallelSums {
 public:
  explicit ParallelSums(int sums)
      : sums_(sums),
        words_("digits of sums",
               static_cast<std::size_t>(sums) * TermAdder::k_copies * TermAdder::k_words),
        on_host_(Kokkos::create_mirror_view(words_)) {}

  // For kernels that add to sums which begin with nothing.
  TermAdder begin() {
    fill(words_, 0);
    return TermAdder(words_.data(), sums_);
  }

  // Adds what the kernels have added since begin(), for which it waits.
  void end(std::span<ReproducibleSum> sums) {
    copy_to_host(Cargo::numbers, on_host_, words_);
    const std::int64_t* words = on_host_.data();
    for (int copy = 0; copy < TermAdder::k_copies; ++copy)
      for (ReproducibleSum& sum : sums.first(sums_)) {
        add_words(words, sum);
        words += TermAdder::k_words;
      }
  }

 private:
  // A digit is two numbers of 32 bits, each an exact term.
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
