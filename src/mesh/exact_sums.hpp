// Sums of terms that kernels evaluate, bitwise equal to those of comm/reproducible_sum.hpp.
//
// Each term is split into integer multiples of successively smaller units, which begin with that of
// the largest term. Integers add up exactly in any order. If a term has bits below the smallest
// unit, the host adds the terms, with the same result.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "comm/reproducible_sum.hpp"
#include "core/observer.hpp"
#include "mesh/device.hpp"

namespace octant::mesh {

namespace exact {

inline constexpr int k_part_bits = 24, k_parts = 6;
// Exponents beyond which a unit or its inverse might not be a normal number.
inline constexpr int k_largest_exponent = 800;

// Integer multiples of 2^-24, 2^-48, ... of a unit, for up to 2^38 terms.
struct Parts {
  std::int64_t part[k_parts] = {};
  std::int64_t cut = 0;  // terms with bits below the last part

  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const Parts& other) {
    for (int i = 0; i < k_parts; ++i) part[i] += other.part[i];
    cut += other.cut;
  }
  // Adds a term in multiples of the unit; the magnitude must be below 1.
  KOKKOS_FORCEINLINE_FUNCTION void add(double term) {
    for (int i = 0; i < k_parts && term != 0.0; ++i) {
      term *= 1 << k_part_bits;
      const auto whole = static_cast<std::int64_t>(term);
      part[i] += whole;
      term -= static_cast<double>(whole);
    }
    cut += term != 0.0;
  }
};

// Adds the parts, in units of 2^exponent, to `sum`.
inline void add(ReproducibleSum& sum, const Parts& parts, int exponent) {
  for (const std::int64_t part : parts.part) {
    exponent -= k_part_bits;
    sum += std::ldexp(static_cast<double>(part >> 32), exponent + 32);
    sum += std::ldexp(static_cast<double>(part & 0xffffffff), exponent);
  }
}

// Largest magnitudes of terms, joined by +=; infinite if any term is not finite.
template <std::size_t Sums>
struct Largest {
  double size[Sums] = {};

  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const Largest& other) {
    for (std::size_t s = 0; s < Sums; ++s) add(s, other.size[s]);
  }
  // Includes a term of sum number `sum`.
  KOKKOS_FORCEINLINE_FUNCTION void add(std::size_t sum, double here) {
    if (!(here <= size[sum]))
      size[sum] = Kokkos::isfinite(here) ? here : Kokkos::Experimental::infinity_v<double>;
  }
};

// Functor for a Kokkos reduction: the integer parts of all sums.
template <std::size_t Sums>
struct AllParts {
  Parts of[Sums];

  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const AllParts& other) {
    for (std::size_t s = 0; s < Sums; ++s) of[s] += other.of[s];
  }
};

// Adds all terms of sum number `which` on the host.
template <class Terms>
void add_on_host(ReproducibleSum& sum, std::size_t which, std::int64_t count,
                 const Terms& terms_of) {
  const auto terms = uninitialised<double>("terms", count);
  Kokkos::parallel_for(
      "terms", count, KOKKOS_LAMBDA(std::int64_t n) { terms(n) = terms_of(n)[which]; });
  const auto host = on_host(TransferKind::particles, terms);
  for (std::int64_t n = 0; n < count; ++n) sum += host(n);
}

}  // namespace exact

// Adds terms 0 to count - 1 to each of several sums. terms_of(n) returns term n of all sums on the
// device; `cost` is the cost of one call.
template <std::size_t Sums, class Terms>
void add_terms(const std::array<ReproducibleSum*, Sums>& sums, std::int64_t count,
               const KernelCost& cost, const Terms& terms_of) {
  if (count == 0) return;
  record_kernel_work("largest term", count, cost);
  exact::Largest<Sums> largest;
  Kokkos::parallel_reduce(
      "largest term", count,
      KOKKOS_LAMBDA(std::int64_t n, exact::Largest<Sums> & most) {
        const Kokkos::Array<double, Sums> terms = terms_of(n);
        for (std::size_t s = 0; s < Sums; ++s) most.add(s, Kokkos::abs(terms[s]));
      },
      largest);
  int exponents[Sums];
  Kokkos::Array<double, Sums> per_unit;  // 1 / unit; 0: the host adds, or the sum is 0
  for (std::size_t s = 0; s < Sums; ++s) {
    const double size = largest.size[s];
    exponents[s] = size > 0.0 && std::isfinite(size) ? std::ilogb(size) + 1 : 0;
    const bool fits = std::isfinite(size) && std::abs(exponents[s]) <= exact::k_largest_exponent;
    per_unit[s] = fits && size > 0.0 ? std::ldexp(1.0, -exponents[s]) : 0.0;
  }
  // A term has three or four parts, each of which takes a product and a difference.
  record_kernel_work("parts of terms", count, {cost.bytes, cost.operations + 8.0 * Sums});
  exact::AllParts<Sums> parts;
  Kokkos::parallel_reduce(
      "parts of terms", count,
      KOKKOS_LAMBDA(std::int64_t n, exact::AllParts<Sums> & some) {
        const Kokkos::Array<double, Sums> terms = terms_of(n);
        for (std::size_t s = 0; s < Sums; ++s)
          if (per_unit[s] > 0.0) some.of[s].add(per_unit[s] * terms[s]);
      },
      parts);
  for (std::size_t s = 0; s < Sums; ++s) {
    if (largest.size[s] == 0.0) continue;
    if (per_unit[s] == 0.0 || parts.of[s].cut > 0) exact::add_on_host(*sums[s], s, count, terms_of);
    else exact::add(*sums[s], parts.of[s], exponents[s]);
  }
}

}  // namespace octant::mesh
