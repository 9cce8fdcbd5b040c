// Poisson random numbers, which depend only on the random stream, the draw number and the mean.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include "core/random.hpp"

namespace octant::subgrid {

namespace detail {

// Multiplication method: counts the uniform numbers until their product falls below exp(-mean).
KOKKOS_INLINE_FUNCTION std::int64_t poisson_by_inversion(const RandomStream& random,
                                                         std::uint32_t draw, double mean) {
  const double least = Kokkos::exp(-mean);
  std::int64_t count = 0;
  for (double product = random.uniform(draw); product > least; product *= random.uniform(++draw))
    ++count;
  return count;
}

// Logarithm of the Poisson probability of `count` >= 1 by Stirling's series, in a form without
// cancellation for `count` and `mean` up to 1e15.
KOKKOS_INLINE_FUNCTION double log_poisson_probability(double count, double mean) {
  const double excess = (mean - count) / count, inverse = 1.0 / count, square = inverse * inverse;
  const double series = inverse * (1.0 / 12 - square * (1.0 / 360 - square / 1260));
  return count * (Kokkos::log1p(excess) - excess) -
         0.5 * Kokkos::log(2.0 * Kokkos::numbers::pi * count) - series;
}

// Transformed rejection with squeeze (Hormann 1993, algorithm PTRS): two uniform numbers per round,
// fewer than 1.2 rounds on average.
KOKKOS_INLINE_FUNCTION std::int64_t poisson_by_rejection(const RandomStream& random,
                                                         std::uint32_t draw, double mean) {
  const double b = 0.931 + 2.53 * Kokkos::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2.0);
  for (;; draw += 2) {
    const double u = random.uniform(draw) - 0.5, v = random.uniform(draw + 1);
    const double us = 0.5 - Kokkos::fabs(u);
    const double k = Kokkos::floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<std::int64_t>(k);
    // k = 0 has a probability below 1e-13 for mean > 30, for which this function is used.
    if (!(k >= 1.0) || (us < 0.013 && v > us)) continue;
    if (Kokkos::log(v * inverse_alpha / (a / (us * us) + b)) <= log_poisson_probability(k, mean))
      return static_cast<std::int64_t>(k);
  }
}

}  // namespace detail

// Returns a number from the Poisson distribution with this mean, up to 1e15; 0 for a mean of 0.
// Uses the uniform draws from `first_draw` on; fewer than one call in 10^7 uses more than 64.
KOKKOS_INLINE_FUNCTION std::int64_t poisson(const RandomStream& random, std::uint32_t first_draw,
                                            double mean) {
  constexpr double k_max_for_inversion = 30.0;
  if (!(mean > 0.0)) return 0;
  return mean <= k_max_for_inversion ? detail::poisson_by_inversion(random, first_draw, mean)
                                     : detail::poisson_by_rejection(random, first_draw, mean);
}

}  // namespace octant::subgrid
