// Ranges of cells of own blocks of a level, as kernels use them, in device memory.
#pragma once

#include <utility>

#include "core/compiler.hpp"
#include "core/observer.hpp"
#include "mesh/tiles.hpp"

namespace octant::mesh {

// A block that this rank owns.
struct OwnBlock {
  std::int32_t slot = 0;
  std::uint32_t refined = 0;  // mask of octants whose cells are not leaves
  double corner[3] = {};      // lower corner, in code length
};

// A cell of a range, or the first one of a SIMD vector of cells.
struct Cell {
  std::int32_t block_index;  // index of the cell's block in the range
  std::int32_t slot;         // slot of the cell's block in the level
  std::int32_t index;        // index (k N + j) N + i in the block
};

// Centre of a cell, in code length, on the device.
using DevicePosition = Kokkos::Array<double, 3>;

// A scalar on own blocks: cell (i, j, k) of a block lies at slot * stride + (k N + j) N + i.
struct BlockField {
  double* data = nullptr;
  std::int64_t stride = 0;

  // Address of the value in a cell.
  KOKKOS_FORCEINLINE_FUNCTION double* at(const Cell& cell) const {
    return data + cell.slot * stride + cell.index;
  }
};

// The cells of some own blocks of a level. Passed by value; loops over them are in cell_loop.hpp.
struct CellRange {
  // own blocks of the range; for a whole level in the order of TreeLevel::own()
  DeviceArray<const OwnBlock> blocks;
  int log2_block_size = 0;
  double cell_size = 0.0;
  bool leaves_only = false;         // if false, cells of refined octants are included
  std::uint64_t* cycles = nullptr;  // counters of BlockCycles by slot; null: not counted

  int count() const { return static_cast<int>(blocks.extent(0)); }  // number of blocks
  // Number of cells along the edge of a block, N.
  KOKKOS_FORCEINLINE_FUNCTION int block_size() const { return 1 << log2_block_size; }
  // Number of cells of a block, N^3.
  KOKKOS_FORCEINLINE_FUNCTION int cells_per_block() const { return 1 << 3 * log2_block_size; }

  // The leaf cells of this range.
  CellRange leaves() const {
    CellRange range = *this;
    range.leaves_only = true;
    return range;
  }

  // The cells of blocks `begin` to `begin + count - 1` of the range.
  CellRange batch(std::int64_t begin, std::int64_t count) const {
    CellRange range = *this;
    range.blocks = Kokkos::subview(blocks, std::make_pair(begin, begin + count));
    return range;
  }

  // Octant, 0 to 7, of its block in which cell `index` lies.
  KOKKOS_FORCEINLINE_FUNCTION int octant_of(int index) const {
    int octant = 0;
    for (int d = 0; d < 3; ++d) octant |= (index >> ((d + 1) * log2_block_size - 1) & 1) << d;
    return octant;
  }

  // Index of a cell along an axis of its block, 0..N-1.
  KOKKOS_FORCEINLINE_FUNCTION int coordinate(int index, int axis) const {
    return index >> axis * log2_block_size & (block_size() - 1);
  }

  // Centre of a cell in code length.
  KOKKOS_FORCEINLINE_FUNCTION DevicePosition centre(const Cell& cell) const {
    const OwnBlock& block = blocks(cell.block_index);
    DevicePosition x;
    for (int d = 0; d < 3; ++d)
      x[d] = block.corner[d] + (coordinate(cell.index, d) + 0.5) * cell_size;
    return x;
  }
};

// Counter of the processor cycles from construction to the end of the scope, which are added to the
// counter of a block if the range has counters.
class BlockCycles {
 public:
  KOKKOS_FORCEINLINE_FUNCTION BlockCycles(const CellRange& range, std::int32_t slot)
      : counter_(range.cycles ? range.cycles + slot : nullptr),
        begun_(counter_ ? cycle_count() : 0) {}
  KOKKOS_FORCEINLINE_FUNCTION ~BlockCycles() {
    if (counter_) Kokkos::atomic_add(counter_, cycle_count() - begun_);  // integer sum
  }
  BlockCycles(const BlockCycles&) = delete;
  BlockCycles& operator=(const BlockCycles&) = delete;

 private:
  std::uint64_t* counter_;
  std::uint64_t begun_;
};

// Records the work of a loop over a range (mesh/cell_loop.hpp) for profiling.
inline void record_cells(std::string_view kernel, const CellRange& range,
                         const KernelCost& cost_per_item) {
  record_kernel_work(kernel, range.count() * std::int64_t{range.cells_per_block()}, cost_per_item);
}

}  // namespace octant::mesh
