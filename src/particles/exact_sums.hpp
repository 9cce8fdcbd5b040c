// Sums over particles on the device that have the bits of comm/reproducible_sum.hpp.
//
// Each term is cut into whole numbers of ever smaller units, from that of the largest term down,
// and whole numbers add up in any order. Where the terms' bits reach further down than all units
// do, the host adds them up instead: the sum is the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "comm/reproducible_sum.hpp"
#include "core/kernel_work.hpp"
#include "mesh/device.hpp"

namespace octant::particles {

namespace exact {

inline constexpr int k_part_bits = 24, k_parts = 6;
// Beyond these powers of two a unit or its inverse might be no normal number.
inline constexpr int k_largest_exponent = 800;

// Whole numbers of 2^-24, 2^-48, ... of a unit: 2^38 terms fit in.
struct Parts {
  std::int64_t part[k_parts] = {};
  std::int64_t cut = 0;  // terms with bits below the last part

  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const Parts& other) {
    for (int i = 0; i < k_parts; ++i) part[i] += other.part[i];
    cut += other.cut;
  }
  // Adds a term of less than a unit, which is given in units.
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

// Adds the parts, of units 2^exponent.
inline void add(ReproducibleSum& sum, const Parts& parts, int exponent) {
  for (const std::int64_t part : parts.part) {
    exponent -= k_part_bits;
    sum += std::ldexp(static_cast<double>(part >> 32), exponent + 32);
    sum += std::ldexp(static_cast<double>(part & 0xffffffff), exponent);
  }
}

// The largest size of a term; infinite if some term is not finite.
template <class Term>
double largest(std::int64_t count, const Term& term) {
  double size = 0.0;
  Kokkos::parallel_reduce(
      "largest term", count,
      KOKKOS_LAMBDA(std::int64_t n, double& most) {
        const double here = Kokkos::abs(term(n));
        if (!(here <= most))
          most = Kokkos::isfinite(here) ? here : Kokkos::Experimental::infinity_v<double>;
      },
      Kokkos::Max<double>(size));
  return std::max(size, 0.0);
}

template <class Term>
void add_on_host(ReproducibleSum& sum, std::int64_t count, const Term& term) {
  const auto terms = mesh::uninitialised<double>("terms", count);
  Kokkos::parallel_for(
      "terms", count, KOKKOS_LAMBDA(std::int64_t n) { terms(n) = term(n); });
  const auto host = on_host(Cargo::particles, terms);
  for (std::int64_t n = 0; n < count; ++n) sum += host(n);
}

}  // namespace exact

// Adds term(0) to term(count - 1), doubles that a function gives on the device at a cost.
template <class Term>
void add_terms(ReproducibleSum& sum, std::int64_t count, const KernelCost& cost, const Term& term) {
  announce_kernel("largest term", count, cost);
  const double largest = exact::largest(count, term);
  if (largest == 0.0) return;
  const int exponent = std::isfinite(largest) ? std::ilogb(largest) + 1 : 0;
  exact::Parts parts;
  parts.cut = !std::isfinite(largest) || std::abs(exponent) > exact::k_largest_exponent;
  if (parts.cut == 0) {
    const double per_unit = std::ldexp(1.0, -exponent);
    // A term has three parts or four, each of which takes a product and a difference.
    announce_kernel("parts of terms", count, {cost.bytes, cost.operations + 8.0});
    Kokkos::parallel_reduce(
        "parts of terms", count,
        KOKKOS_LAMBDA(std::int64_t n, exact::Parts & some) { some.add(per_unit * term(n)); },
        parts);
  }
  if (parts.cut > 0) exact::add_on_host(sum, count, term);
  else exact::add(sum, parts, exponent);
}

}  // namespace octant::particles
