// What dense gas lets out into gas that is all but empty.
//
// A profile of the density may end at next to nothing of what a cell has in the mean, while that of
// the pressure does not fall as much. What flows out there would be many times as hot as any gas
// around, as if there were no end to it, and empty the neighbour.
#pragma once

#include "core/pack.hpp"
#include "hydro/euler.hpp"
#include "hydro/scheme.hpp"

namespace octant::hydro {

// Whether a density at a face is less than a tenth of the cell's.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto is_thin(const V& face, const V& cell) {
  constexpr double k_share = 0.1;
  return face < V(k_share) * cell;
}

// Raises densities at faces that are thin until gas there is no hotter than in the cells on both
// sides, but not above the cell's. cell and states are those of Scheme::reconstruct. Seldom needed,
// and kept out of line with copies of both: what a call refers to may lie in no register.
template <bool Inside, class V, class Cell, class States>
OCTANT_OUT_OF_LINE void cool_thin_faces(const Cell cell, const States states) {
  const V density = cell(k_density, 0, 0, 0), coldness = density / cell(k_pressure, 0, 0, 0);
  const auto cool = [&](int face, int x, int y, int z) OCTANT_INLINE_LAMBDA {
    const V beside = cell(k_density, x, y, z) / cell(k_pressure, x, y, z);
    const V cold = states(face, k_pressure) * min(coldness, beside);
    const V found = states(face, k_density);
    states(face, k_density, select(is_thin(found, density), max(found, min(cold, density)), found));
  };
  if constexpr (Inside) {
    cool(lower_face(0), -1, 0, 0), cool(upper_face(0), 1, 0, 0);
    cool(lower_face(1), 0, -1, 0), cool(upper_face(1), 0, 1, 0);
  }
  cool(lower_face(2), 0, 0, -1), cool(upper_face(2), 0, 0, 1);
}

}  // namespace octant::hydro
