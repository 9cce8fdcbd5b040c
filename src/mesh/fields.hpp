// Stored state of one level: arrays of blocks, [slot][variable][k][j][i], in device memory.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "mesh/cell_range.hpp"

namespace octant::mesh {

// Memory layout of the cells of a block.
struct BlockLayout {
  int block_size = 0, variables = 0;
  int swept = 0;  // number of leading variables, which the sweeps of the gas advance
  std::int32_t stride_variable = 0;
  std::int64_t stride_slot = 0;

  BlockLayout() = default;
  // `others` is the number of variables that sweeps of the gas do not advance.
  BlockLayout(int block_size, int variables, int others = 0);

  // Box of the block in a slot, in the buffer k_own.
  CellBox box(std::int64_t slot) const;
  // Offset of the first variable of a cell.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset(const Cell& cell) const {
    return cell.slot * stride_slot + cell.index;
  }
};

// Margin in doubles around memory that contains boxes. A gather loads whole rows and SIMD vectors
// even if only some cells of a box are present; the additional values are never used but must be
// readable.
inline constexpr std::int64_t k_margin = 8 * 8 * 8 + 64;

// Allocates device memory for `doubles` values with a margin on both sides, filled with ones.
DeviceArray<double> allocate_with_margin(const std::string& label, std::int64_t doubles);

// Full states (the present one and `spares` others) of the blocks of one level.
//
// A time integrator reads `now`, writes spares, and commits one spare, which becomes the present
// state; the former present state, called `old`, becomes a spare. Each state also has a halo:
// copies of other ranks' cells and cells beyond boundaries, in the layout of LevelHalo. Memory is
// not accessed before values are stored there, so that unused capacity costs no pages.
class LevelFields {
 public:
  LevelFields(BlockLayout layout, int spares);

  // Layout of the blocks.
  const BlockLayout& layout() const { return layout_; }
  // Number of states.
  int states() const { return static_cast<int>(states_.size()); }
  static constexpr int k_now = 0;  // state 0 is the present one; 1, 2, ... are the spares
  // Index of the state before the last commit().
  int old() const { return old_; }

  // Blocks of a state, in device memory.
  double* blocks(int state) const { return states_[state].blocks.data(); }
  // Halo of a state, in device memory.
  double* halo(int state) const { return states_[state].halo.data() + k_margin; }

  // Makes a spare the present state `now`; the former present state becomes `old`.
  void commit(int spare);

  // Allocates slots 0..slots-1. A change of capacity preserves the present state only; it is
  // allowed between coarse steps, when no old state is needed.
  void reserve(int slots, int slots_in_use);

  // Memory of the present state, for users that keep it after the next regridding.
  const DeviceArray<double>& present() const { return states_[k_now].blocks; }
  // Moves the present state to new memory if other objects hold its memory, whose values then
  // remain unchanged for them.
  void leave_shared(int slots_in_use);

  // Resizes the halo of every state to `doubles`. Its contents are lost.
  void resize_halo(std::int64_t doubles);

  // Bytes of blocks and halos when all slots in use are written.
  std::int64_t bytes_in_use(int slots) const;

 private:
  struct State {
    DeviceArray<double> blocks, halo;
  };
  void move_current_state(std::int64_t doubles, int slots_in_use);

  BlockLayout layout_;
  std::vector<State> states_;
  int old_ = 1, capacity_ = 0;
  std::int64_t halo_doubles_ = 0;
};

}  // namespace octant::mesh
