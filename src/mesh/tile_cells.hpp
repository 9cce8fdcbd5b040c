// Addresses of the cells of one tile's patch in the boxes around it. Patch cells have the indices
// 0..M-1 along each axis; ghost cells lie below and above.
#pragma once

#include "mesh/tiles.hpp"

namespace octant::mesh {

// Pointer to one cell, or to the first of consecutive cells along x; variable n is at
// from[n * stride].
struct CellPointer {
  const double* from;  // null if there is no box
  std::int32_t stride;
};

// Boxes along x that contain one row of cells of the patch.
struct BlockRow {
  // indices of the boxes in the tile's table, by block position along x
  const std::int32_t* entries;
  int j, k;  // coordinates of the row in its blocks
};

// Addresses of the cells of one tile.
class TileCells {
 public:
  static constexpr int k_none = -1000;  // index that no cell of the patch has

  KOKKOS_FORCEINLINE_FUNCTION TileCells(const TileSet& set, int index)
      : tile_(&set.tiles(index)),
        table_(set.table.data() + tile_->table),
        boxes_(set.boxes.data()),
        closed_(set.closed),
        size_(set.block_size),
        shift_(set.log2_block_size),
        reach_(set.reach),
        blocks_(set.blocks_per_patch) {}

  // Tile whose cells are addressed.
  KOKKOS_FORCEINLINE_FUNCTION const Tile& tile() const { return *tile_; }
  // Box with index `entry` in TileSet::boxes.
  KOKKOS_FORCEINLINE_FUNCTION const CellBox& box(int entry) const { return boxes_[entry]; }

  // Returns the number of axes along which this tile's fluxes must be computed if the gas varies
  // along `gas_dimensions` axes: the same number, or 3 if this rank owns a block of the patch but
  // not the first block along the uniform axes, whose result would be copied.
  KOKKOS_INLINE_FUNCTION int dimensions(int gas_dimensions) const {
    if (gas_dimensions == 3 || blocks_ == 1) return gas_dimensions;
    for (int kb = 0; kb < blocks_; ++kb)
      for (int jb = 0; jb < blocks_; ++jb)
        for (int ib = 0; ib < blocks_; ++ib)
          if (is_own(kb, jb, ib) && !is_own(0, gas_dimensions == 1 ? 0 : jb, ib)) return 3;
    return gas_dimensions;
  }

  // Boxes that contain row (j, k) of the patch.
  KOKKOS_FORCEINLINE_FUNCTION BlockRow block_row(int j, int k) const {
    const int from_j = position(1, j), from_k = position(2, k);
    return {table_ + ((from_k >> shift_) * reach_ + (from_j >> shift_)) * reach_,
            from_j & (size_ - 1), from_k & (size_ - 1)};
  }

  // Returns true if patch cell `index` along an axis is the first of a block or of the patch.
  KOKKOS_FORCEINLINE_FUNCTION bool begins_block(int index) const {
    return index % (1 << shift_) == 0;
  }
  // Cells of row (k, j) of the patch that this rank owns, as bits.
  template <int M>
  std::uint32_t own_cells(int k, int j) const {
    const int run = size_ < M ? size_ : M;
    std::uint32_t cells = 0;
    for (int i = 0; i < M; i += run)
      if (is_own(k >> shift_, j >> shift_, i >> shift_)) cells |= ((1u << run) - 1) << i;
    return cells;
  }

  // Index in TileSet::boxes of the box that contains cell i of a row; -1 if no box does.
  KOKKOS_FORCEINLINE_FUNCTION int entry(const BlockRow& row, int i) const {
    return row.entries[position(0, i) >> shift_];
  }
  // Offset of cell i of a row in the buffer that contains box `entry`.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset(const BlockRow& row, int entry, int i) const {
    return boxes_[entry].offset(position(0, i) & (size_ - 1), row.j, row.k);
  }
  // Pointer to cell i of a row in the arrays of `state`; null if no box contains it.
  KOKKOS_FORCEINLINE_FUNCTION CellPointer cell(const FieldPointers& state, const BlockRow& row,
                                               int i) const {
    const int holder = entry(row, i);
    if (holder < 0) return {nullptr, 0};
    const CellBox& box = boxes_[holder];
    return {state.buffer[box.buffer] + offset(row, holder, i), box.stride_variable};
  }

  // Patch index of the cell whose lower face lies on a closed boundary of the domain (a reflecting
  // wall or a diode) at the lower (side 0) or upper (1) end; k_none if there is no closed boundary.
  KOKKOS_FORCEINLINE_FUNCTION int closed(int axis, int side) const {
    const std::int64_t face = closed_[axis][side].face;
    return face == ClosedSide::k_none ? k_none : static_cast<int>(face - tile_->first[axis]);
  }
  // True if any boundary of the domain is closed.
  KOKKOS_FORCEINLINE_FUNCTION bool has_closed_sides() const {
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side)
        if (closed_[axis][side].face != ClosedSide::k_none) return true;
    return false;
  }
  // True if the closed boundary is a diode, through which gas may leave.
  KOKKOS_FORCEINLINE_FUNCTION bool is_diode(int axis, int side) const {
    return closed_[axis][side].is_diode;
  }

 private:
  // Returns true if this rank owns a block of the patch.
  KOKKOS_INLINE_FUNCTION bool is_own(int kb, int jb, int ib) const {
    const int holder = table_[((kb + 1) * reach_ + jb + 1) * reach_ + ib + 1];
    return holder >= 0 && boxes_[holder].buffer == k_own;
  }
  // Distance in cells of patch cell `index` from the first cell of the table's first block
  // position.
  KOKKOS_FORCEINLINE_FUNCTION int position(int axis, int index) const {
    return index + tile_->origin[axis] + size_;
  }

  const Tile* tile_;
  const std::int32_t* table_;
  const CellBox* boxes_;
  const ClosedSide (*closed_)[2];
  int size_, shift_, reach_, blocks_;
};

}  // namespace octant::mesh
