// Masses as whole numbers of quanta: sums that do not depend on their order.
//
// The quantum of a kind is a power of two: that not above its smallest particle's mass, times
// 2^-36, or, where the kind as a whole is too heavy for that, the one of which its total mass has
// 2^61 to 2^62. So no sum exceeds 63 bits, whatever shares a cell. A mass is right to half a
// quantum, every share of a cloud likewise, and all shares of a particle add up to exactly its
// mass. The first rule holds up to 2^25 (33 million) times the smallest mass at the least.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include "mesh/tiles.hpp"

namespace octant::particles {

// Of particles whose masses add up to `total` or less.
inline double quantum_of(double smallest, double total) {
  return std::ldexp(1.0, std::max(std::ilogb(smallest) - 36, std::ilogb(total) - 61));
}

// Adds quanta to a cell.
KOKKOS_FORCEINLINE_FUNCTION void add_mass(std::int64_t* cell, std::int64_t mass) {
  Kokkos::atomic_add(cell, mass);  // integer sum
}

// The part `weight` of a mass.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t share(std::int64_t mass, double weight) {
  const auto part = static_cast<std::int64_t>(static_cast<double>(mass) * weight + 0.5);
  return part < mass ? part : mass;
}

}  // namespace octant::particles
