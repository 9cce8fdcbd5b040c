// Masses as whole numbers of quanta: sums that do not depend on their order.
//
// The quantum is the power of two not above the smallest particle's mass, times 2^-36. So a mass is
// right to 2^-36 of the smallest particle's, every share of a cloud to another 2^-36 or so, all
// shares of a particle add up to exactly its mass, and a cell may hold 2^26 (67 million) times the
// smallest mass or more, before its sum exceeds 63 bits: that is noticed, and ends the run.
#pragma once

#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include "mesh/tiles.hpp"

namespace octant::particles {

inline constexpr int k_quantum_bits = 36;
inline constexpr std::int64_t k_largest_mass = std::numeric_limits<std::int64_t>::max();

// Adds quanta >= 0 to a cell; sets `overflow` where the sum does not fit any more.
KOKKOS_FORCEINLINE_FUNCTION void add_mass(std::int64_t* cell, std::int64_t mass,
                                          std::int32_t* overflow) {
  const std::int64_t before = Kokkos::atomic_fetch_add(cell, mass);  // integer sum
  if (before > k_largest_mass - mass || before < 0) *overflow = 1;
}

// The part `weight` of a mass.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t share(std::int64_t mass, double weight) {
  const auto part = static_cast<std::int64_t>(static_cast<double>(mass) * weight + 0.5);
  return part < mass ? part : mass;
}

}  // namespace octant::particles
