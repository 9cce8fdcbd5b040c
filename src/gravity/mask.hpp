// Boundary of a level: the fraction of every grid cell that blocks of the level cover, and the
// resulting equations of cells beside the boundary.
//
// As in Guillet & Teyssier (2011, section 3.2), corrections on a coarse grid vanish at the zero of
// the linearly interpolated mask 2 cover - 1, and cells with a mask of 0 or less are inactive. On
// the finest grid, the solution is prescribed at the centres of the cells outside, half a finest
// cell further out. With the coarse boundary there, V-cycles converge at half the rate.
#pragma once

#include <cstdint>

#include "core/simd.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// Equation of a cell, 0 if masked: diagonal, and row sum, the diagonal minus the number of unmasked
// neighbours. Positive row sums make the solution unique.
struct CellEquation {
  double diagonal, row_sum;
};

// Term added to the diagonal of a coarse cell with holes smaller than half a cell, which only finer
// grids resolve. `finer` is the mean row sum of the eight finer cells. Corrections that are
// constant in the cell give a term of 4 times the mean. Corrections vanish at a hole, which limits
// the term to about 40. With this term, the coarsest grid constrains a level with scattered holes
// as strongly as the finest grid does; otherwise V-cycles diverge.
KOKKOS_FORCEINLINE_FUNCTION double hole_term(double finer) { return finer / (0.25 + finer / 40.0); }

// Returns the equation of a cell. `beside` are the covers of the six neighbours, 0 if there is
// none. `finest` is true if the grid is the level itself. The term for holes is also added if all
// masked neighbours are half covered, because a mask of 0 adds no boundary term.
KOKKOS_FORCEINLINE_FUNCTION CellEquation cell_equation(double cover, const double (&beside)[6],
                                                       bool finest, double finer) {
  if (!(cover > 0.5)) return {0.0, 0.0};
  const double inside = 2.0 * cover - 1.0;
  double boundary = 0.0;
  int masked = 0;
  for (const double other : beside) {
    const double outside = 2.0 * other - 1.0;
    if (outside > 0.0) continue;
    ++masked;
    boundary -= outside / inside;
  }
  if (finest) return {6.0, 1.0 * masked};
  if (boundary > 0.0) return {6.0 + boundary, boundary + masked};
  const double holes = hole_term(finer);
  return {6.0 + holes, holes + masked};
}

// Sets the cover of the finest grid: 1 in the cells of own patches that blocks cover, 0 elsewhere.
void set_cover(const LevelPatches& patches, const DeviceArray<double>& cover);

// Restricts a field to the next coarser grid, with patches of half the side: the mean of 2^3 cells
// in own patches, and 0 elsewhere.
void coarsen_means(const LevelPatches& patches, int side, const DeviceArray<double>& fine,
                   const DeviceArray<double>& coarse);

// Sets the row sums of own patches of the finest grid. `cover` requires copies to a depth of 1.
void find_row_sums(const LevelPatches& patches, const DeviceArray<const PatchTable>& tables,
                   int side, const DeviceArray<double>& cover, const DeviceArray<double>& row_sum);

// Sets the row sums of own patches of a coarse grid, where `finer` are the mean row sums of the
// finer grid. Returns the diagonals, which are 0 in copies.
DeviceArray<double> find_equations(const LevelPatches& patches,
                                   const DeviceArray<const PatchTable>& tables, int side,
                                   const DeviceArray<double>& cover,
                                   const DeviceArray<double>& finer,
                                   const DeviceArray<double>& row_sum);

// Mask of the unmasked cells of a row along x of a patch and its ghost cells to a depth of 2: bit e
// + 2 for cell 2 e, bit e + 18 for cell 2 e + 1.
using RowCells = std::uint32_t;

// Bit of cell 2 e + parity of a row.
KOKKOS_FORCEINLINE_FUNCTION RowCells bit_of(int parity, int e) {
  return RowCells{1} << (e + 2 + 16 * parity);
}

// Bits of the cells of a row of a patch of T^3 cells and of `beside` pairs of cells on both sides.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION constexpr RowCells cells_within(int beside) {
  const RowCells pairs = ((RowCells{1} << (T / 2 + 2 * beside)) - 1) << (2 - beside);
  return pairs | pairs << 16;
}

// Number of RowCells of a patch, [k + 2][j + 2].
inline constexpr int masked_rows(int side) { return (side + 4) * (side + 4); }

// Set of rows in a plane of a patch and its ghost cells to a depth of 3: bit j + 3 for row j.
using RowSet = std::uint32_t;

// Rows of a plane of a patch of T^3 cells and its ghost cells to a depth.
template <int T>
KOKKOS_FORCEINLINE_FUNCTION constexpr RowSet rows_within(int depth) {
  return ((RowSet{1} << (T + 2 * depth)) - 1) << (3 - depth);
}

// Returns bits 0, 2, 4, ... as bits 0, 1, 2, ....
KOKKOS_FORCEINLINE_FUNCTION constexpr std::uint32_t even_bits(std::uint32_t bits) {
  bits &= 0x55555555;
  bits = (bits | bits >> 1) & 0x33333333;
  bits = (bits | bits >> 2) & 0x0f0f0f0f;
  bits = (bits | bits >> 4) & 0x00ff00ff;
  return (bits | bits >> 8) & 0x0000ffff;
}

// Rows with unmasked cells, of a patch and its ghost cells to a depth of 2. Passes over masked
// patches skip all other rows.
struct PatchRows {
  RowSet planes[k_largest_patch + 6];  // [k + 3]

  // Rows of plane k.
  KOKKOS_FORCEINLINE_FUNCTION RowSet of(int k) const { return planes[k + 3]; }
  // Rows that stencils of `reach` read for of(k): also rows up to `reach` rows away along y or z.
  KOKKOS_FORCEINLINE_FUNCTION RowSet near(int k, int reach) const {
    RowSet near = planes[k + 3];
    for (int n = 1; n <= reach; ++n) {
      near |= planes[k + 3] << n | planes[k + 3] >> n;
      if (k + 3 - n >= 0) near |= planes[k + 3 - n];
      if (k + 3 + n < k_largest_patch + 6) near |= planes[k + 3 + n];
    }
    return near;
  }
  // Rows of plane k of the coarse grid from which the rows of this grid are interpolated.
  KOKKOS_FORCEINLINE_FUNCTION RowSet above(int k) const {
    RowSet fine = 0;
    for (int n = 2 * k + 2; n <= 2 * k + 5; ++n)
      if (n >= 0 && n < k_largest_patch + 6) fine |= planes[n];
    // Coarse row j is read for rows 2 j - 1 to 2 j + 2, which begin at bit 2 j + 2.
    const std::uint32_t from_row = fine << 2 | fine << 1 | fine | fine >> 1;
    return even_bits(from_row) << 1;
  }
};

// Mask of one patch of T^3 cells.
template <int T>
struct PatchMask {
  const PatchRows* rows;
  const RowCells* cells;

  // Bits of the unmasked cells of row (j, k).
  KOKKOS_FORCEINLINE_FUNCTION RowCells row(int j, int k) const {
    return cells[(k + 2) * (T + 4) + j + 2];
  }
  // Bits of the unmasked cells of one parity in row (j, k): bit e + 2 for pair e.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t pairs(int parity, int j, int k) const {
    return row(j, k) >> (16 * parity) & 0xffff;
  }
};

// Mask of a grid: empty if nothing is masked, and unset for patches without LevelPatches::masked().
struct GridMask {
  DeviceArray<PatchRows> rows;  // rows with unmasked cells, by own slot
  DeviceArray<RowCells> cells;  // unmasked cells of the rows, masked_rows() per own slot

  // Mask of an own patch.
  template <int T>
  KOKKOS_FORCEINLINE_FUNCTION PatchMask<T> of(std::int64_t patch) const {
    return {rows.data() + patch, cells.data() + patch * masked_rows(T)};
  }
};

// Returns the mask of a grid. `masked` lists the own slots of masked patches. `cells`, which is
// positive in unmasked cells, requires copies to a depth of 2.
GridMask find_mask(const LevelPatches& patches, const DeviceArray<const PatchTable>& tables,
                   const DeviceArray<const std::int32_t>& masked, int side,
                   const DeviceArray<double>& cells);

}  // namespace octant::gravity
