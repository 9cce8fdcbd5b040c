// Where a level ends: the share of every cell of a grid that its blocks cover, and what follows for
// the equations of cells beside the end.
//
// As in Guillet & Teyssier (2011, section 3.2), the mask 2 cover - 1 of a coarse grid places the
// boundary, where its corrections vanish, at the zero of the mask's linear interpolation, and cells
// with a mask of 0 or less take no part. The solution itself is given in the centres of the finest
// cells outside; to move the coarse boundary there, half a finest cell further, was tried: V-cycles
// then converge only half as fast.
#pragma once

#include <cstdint>

#include "core/pack.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// What a neighbour adds to the diagonal, 6, of a coarse cell. `inside` and `outside` are the masks
// of the cell and its neighbour.
KOKKOS_FORCEINLINE_FUNCTION double boundary_term(double inside, double outside) {
  return outside > 0.0 ? 0.0 : -outside / inside;
}

// What a coarse cell adds that has a hole of which no neighbour knows. A cube of side a holds the
// potential like a capacity of about 8 a; twice that allows for several holes in a cell. Without
// this term nothing ties down coarse grids that see no boundary but holes, and V-cycles diverge.
KOKKOS_FORCEINLINE_FUNCTION double hole_term(double cover) {
  return cover < 1.0 ? 16.0 * Kokkos::cbrt(1.0 - cover) : 0.0;
}

// Sets a field of a grid, [slot][k][j][split i], to 1 in the pieces of own patches and 0 elsewhere.
void set_cover(const LevelPatches& patches, const DeviceArray<double>& cover);

// Sets a field of the grid with patches of half the side: in own patches to the mean of 2^3 cells,
// and 0 elsewhere.
void coarsen_cover(const LevelPatches& patches, int side, const DeviceArray<double>& cover,
                   const DeviceArray<double>& coarse);

// The diagonals of own patches of a coarse grid, 0 where masked. `cover` needs copies to a depth
// of 1.
DeviceArray<double> diagonals(const LevelPatches& patches,
                              const DeviceArray<const PatchTable>& tables, int side,
                              const DeviceArray<double>& cover);

// The cells of a row along x, of a patch or its surroundings to a depth of 2, that are not masked:
// bit e + 2 for cell 2 e, bit e + 18 for cell 2 e + 1.
using RowCells = std::uint32_t;

KOKKOS_FORCEINLINE_FUNCTION RowCells bit_of(int parity, int e) {
  return RowCells{1} << (e + 2 + 16 * parity);
}

// The bits of the cells of a row of a patch of T^3 cells, and of `beside` pairs on both sides.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION constexpr RowCells cells_within(int beside) {
  const RowCells pairs = ((RowCells{1} << (T / 2 + 2 * beside)) - 1) << (2 - beside);
  return pairs | pairs << 16;
}

// A patch of T^3 cells has this many such rows, [k + 2][j + 2].
inline constexpr int masked_rows(int side) { return (side + 4) * (side + 4); }

// Rows along x of one plane of a patch and its surroundings to a depth of 3: bit j + 3 for row j.
using RowSet = std::uint32_t;

// Those of a patch of T^3 cells and its surroundings to some depth.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION constexpr RowSet rows_within(int depth) {
  return ((RowSet{1} << (T + 2 * depth)) - 1) << (3 - depth);
}

// Every second bit, from the lowest one on, side by side.
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t even_bits(std::uint32_t bits) {
  bits &= 0x55555555;
  bits = (bits | bits >> 1) & 0x33333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff;
  return (bits | bits >> 8) & 0x0000ffff;
}

// Rows of a patch, and of its surroundings to a depth of 2, with cells that are not masked. Passes
// over masked patches leave out all other rows.
struct PatchRows {
  RowSet planes[k_largest_patch + 6];  // [k + 3]

  KOKKOS_FORCEINLINE_FUNCTION RowSet of(int k) const { return planes[k + 3]; }
  // Those, and the ones up to `reach` beside them along y or z: what is read for them.
  KOKKOS_FORCEINLINE_FUNCTION RowSet near(int k, int reach) const {
    RowSet near = planes[k + 3];
    for (int n = 1; n <= reach; ++n) {
      near |= planes[k + 3] << n | planes[k + 3] >> n;
      if (k + 3 - n >= 0) near |= planes[k + 3 - n];
      if (k + 3 + n < k_largest_patch + 6) near |= planes[k + 3 + n];
    }
    return near;
  }
  // The rows of plane k of the coarse grid that they are interpolated from.
  KOKKOS_FORCEINLINE_FUNCTION RowSet above(int k) const {
    RowSet fine = 0;
    for (int n = 2 * k + 2; n <= 2 * k + 5; ++n)
      if (n >= 0 && n < k_largest_patch + 6) fine |= planes[n];
    // Coarse row j is read for rows 2 j - 1 to 2 j + 2, which begin at bit 2 j + 2.
    const std::uint32_t from_row = fine << 2 | fine << 1 | fine | fine >> 1;
    return even_bits(from_row) << 1;
  }
};

// What is masked in one patch of T^3 cells.
template <int T>
struct PatchMask {
  const PatchRows* rows;
  const RowCells* cells;

  KOKKOS_FORCEINLINE_FUNCTION RowCells row(int j, int k) const {
    return cells[(k + 2) * (T + 4) + j + 2];
  }
  // Of the cells of one parity: bit e + 2 for pair e.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t pairs(int parity, int j, int k) const {
    return row(j, k) >> (16 * parity) & 0xffff;
  }
};

// Of a grid; empty if nothing is masked, and unset for patches that are not LevelPatches::masked().
struct GridMask {
  DeviceArray<PatchRows> rows;  // by own slot
  DeviceArray<RowCells> cells;  // masked_rows() by own slot

  template <int T>
  KOKKOS_FORCEINLINE_FUNCTION PatchMask<T> of(std::int64_t patch) const {
    return {rows.data() + patch, cells.data() + patch * masked_rows(T)};
  }
};

// `masked`: the own slots of masked patches. `cells` are positive where not masked, and need copies
// to a depth of 2.
GridMask find_mask(const LevelPatches& patches, const DeviceArray<const PatchTable>& tables,
                   const DeviceArray<const std::int32_t>& masked, int side,
                   const DeviceArray<double>& cells);

}  // namespace octant::gravity
