// Refinement flags: from cells to the octants that they want refined.
#pragma once

#include <cstdint>

#include "mesh/mesh.hpp"

namespace octant::mesh {

// The octant positions 0..3 along one axis that the cells within `buffer` of cell c touch, as bits;
// `half` is the number of cells across an octant.
KOKKOS_FORCEINLINE_FUNCTION unsigned octants_near(int c, int buffer, int half) {
  const int first = (c - buffer + half) / half, last = (c + buffer + half) / half;
  return (2u << last) - (1u << first);
}

// Bit ix + 4 iy + 16 iz of every combination of bits of x, y and z.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t octant_mask(unsigned x, unsigned y, unsigned z) {
  std::uint64_t plane = 0, mask = 0;
  for (int b = 0; b < 4; ++b)
    if (y >> b & 1) plane |= std::uint64_t{x} << 4 * b;
  for (int b = 0; b < 4; ++b)
    if (z >> b & 1) mask |= plane << 16 * b;
  return mask;
}

// A scalar on own blocks: cell (i, j, k) of a block lies at slot * stride + (k N + j) N + i.
struct ScalarField {
  const double* data = nullptr;
  std::int64_t stride = 0;
};

// Flags the cells of a level's own blocks where a field exceeds a threshold and, if `share` has
// data, share > least_share * whole. `masks` has one word per slot, as in hydro/refinement.hpp;
// other bits stay.
struct DenseCells {
  ScalarField field;
  double threshold = 0.0;
  ScalarField share{}, whole{};
  double least_share = 0.0;
};
void flag_dense_cells(const Mesh& mesh, int level, const DenseCells& cells, int buffer,
                      const DeviceArray<std::uint64_t>& masks);

}  // namespace octant::mesh
