// Masses as integer multiples of a quantum: sums do not depend on their order.
//
// The quantum of a kind is a power of two: the largest not above its smallest particle's mass,
// times 2^-36, or, if the kind's total mass is too large for that, the one for which the total is
// 2^61 to 2^62. Sums therefore never exceed 63 bits. Rounding errors of masses and of cloud
// fractions are at most half a quantum, and all fractions of a particle add up to exactly its mass.
// The first rule holds up to a total of at least 2^25 (33 million) times the smallest mass.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "mesh/tiles.hpp"

namespace octant::particles {

// Returns the quantum of particles with a total mass of at most `total`.
inline double quantum_of(double smallest, double total) {
  return std::ldexp(1.0, std::max(std::ilogb(smallest) - 36, std::ilogb(total) - 61));
}

// Rounds a non-negative mass in quanta to an integer.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t nearest_quanta(double mass) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): an ulp below a half may go either way
  return static_cast<std::int64_t>(mass + 0.5);
}

// Adds quanta to a cell.
KOKKOS_FORCEINLINE_FUNCTION void add_mass(std::int64_t* cell, std::int64_t mass) {
  Kokkos::atomic_add(cell, mass);  // integer sum
}

// Returns weight times mass, rounded to whole quanta and limited to the mass.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t share(std::int64_t mass, double weight) {
  const std::int64_t part = nearest_quanta(static_cast<double>(mass) * weight);
  return part < mass ? part : mass;
}

}  // namespace octant::particles
