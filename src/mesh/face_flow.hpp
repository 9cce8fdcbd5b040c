// What flows through the faces of cells, each face seen from both of its cells.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace octant::mesh {

// On own blocks: [slot][axis][side][cell], side 0 being a cell's lower face; null where nobody asks
// for it.
struct FaceFlow {
  double* data = nullptr;
  std::int64_t cells_per_block = 0;

  KOKKOS_FORCEINLINE_FUNCTION explicit operator bool() const { return data != nullptr; }
  KOKKOS_FORCEINLINE_FUNCTION double* of_face(std::int64_t slot, int axis, int side) const {
    return data + (6 * slot + 2 * axis + side) * cells_per_block;
  }
};

}  // namespace octant::mesh
