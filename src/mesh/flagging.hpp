// Refinement flags: criteria for cells, and masks of the octants to be refined.
#pragma once

#include <cstdint>

#include "mesh/cell_loop.hpp"
#include "mesh/mesh.hpp"

namespace octant::mesh {

// Mask of the octant positions 0..3 along one axis (1 and 2 lie in the block) within `buffer` cells
// of cell c. `half` is the number of cells along the edge of an octant.
KOKKOS_FORCEINLINE_FUNCTION unsigned octants_near(int c, int buffer, int half) {
  const int first = (c - buffer + half) / half, last = (c + buffer + half) / half;
  return (2u << last) - (1u << first);
}

// Returns a mask with bit ix + 4 iy + 16 iz set for every combination of bits ix, iy, iz that are
// set in x, y and z.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t octant_mask(unsigned x, unsigned y, unsigned z) {
  std::uint64_t plane = 0, mask = 0;
  for (int b = 0; b < 4; ++b)
    if (y >> b & 1) plane |= std::uint64_t{x} << 4 * b;
  for (int b = 0; b < 4; ++b)
    if (z >> b & 1) mask |= plane << 16 * b;
  return mask;
}

// Criterion that flags cells of a level's own blocks where field + more_weight * weighted (if
// `weighted` has data) exceeds a threshold and, if `share` has data, share > least_share * whole.
struct DenseCells {
  BlockField field;
  double threshold = 0.0;
  BlockField weighted{};
  double more_weight = 0.0;
  BlockField share{}, whole{};
  double least_share = 0.0;
};
// Sets the flags of octants within `buffer` cells of cells that fulfil the criterion. `masks` has
// one word per slot, as in hydro/refinement.hpp; other bits are kept.
void flag_dense_cells(const Mesh& mesh, int level, const DenseCells& wanted, int buffer,
                      const DeviceArray<std::uint64_t>& masks);

// Flags octants by a user-defined predicate. Sets, in masks[slot] of every own block, the bits of
// those octants of the block in which the predicate holds for the centre of any cell. Other bits
// are kept. The predicate, bool(const DevicePosition&), runs on the device; it is a KOKKOS_LAMBDA
// that captures plain values. Example: Sedov::flag_cells in problems/sedov.cpp.
template <class Predicate>
void flag_where(const Mesh& mesh, int level, const DeviceArray<std::uint64_t>& masks,
                const Predicate& predicate) {
  const CellRange& cells = mesh.cells(level);
  join_masks(
      "flag by expression", cells, masks, KOKKOS_LAMBDA(const Cell& cell) {
        if (!predicate(cells.centre(cell))) return std::uint64_t{0};
        const int octant = cells.octant_of(cell.index);
        return octant_mask(2u << (octant & 1), 2u << (octant >> 1 & 1), 2u << (octant >> 2));
      });
}

}  // namespace octant::mesh
