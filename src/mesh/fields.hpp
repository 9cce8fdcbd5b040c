// The stored state of one level: packs of blocks, [slot][variable][k][j][i], in device memory.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "mesh/cell_range.hpp"

namespace octant::mesh {

// One stored, conserved field. Components of a vector know their axis, because a reflecting wall
// changes the sign of the component along its normal.
struct Variable {
  std::string name;
  int vector_axis = -1;  // 0, 1, 2 for the component of a vector; -1 for a scalar
};

// How the cells of a block lie in memory.
struct BlockLayout {
  int block_size = 0, variables = 0;
  std::int32_t stride_variable = 0;
  std::int64_t stride_slot = 0;

  BlockLayout() = default;
  BlockLayout(int block_size, int variables);

  CellBox box(std::int64_t slot) const;
  // Where the first variable of a cell lies.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset(const Cell& cell) const {
    return cell.slot * stride_slot + cell.index;
  }
};

// Doubles of margin around memory that boxes lie in. A gather loads whole rows and packs where only
// some cells of a box are present; what it loads beyond them is never used, but must be there to
// load.
inline constexpr std::int64_t k_margin = 8 * 8 * 8 + 64;

// Device memory for `doubles` values with a margin on both sides, filled with ones.
DeviceArray<double> allocate_with_margin(const std::string& label, std::int64_t doubles);

// Several whole states (the present one and `spares` others) of the blocks of one level.
//
// A time integrator reads `now`, writes spares, and commits one of them: it becomes the present
// state, and the former present state, now called `old`, takes its place among the spares. Each
// state also owns a halo: copies of other ranks' cells and of cells beyond boundaries, laid out by
// the halo's builder. Memory is not touched before it is written, so that spare capacity costs no
// pages.
class LevelFields {
 public:
  LevelFields(BlockLayout layout, int spares);

  const BlockLayout& layout() const { return layout_; }
  int states() const { return static_cast<int>(states_.size()); }
  static constexpr int k_now = 0;  // state 0 is the present one; 1, 2, ... are the spares
  int old() const { return old_; }

  double* blocks(int state) const { return states_[state].blocks.data(); }
  double* halo(int state) const { return states_[state].halo.data() + k_margin; }

  // The committed spare becomes `now`; the former `now` becomes `old`.
  void commit(int spare);

  // Makes room for slots 0..slots-1. Only the present state survives a change of capacity: call it
  // where no history is needed, between coarse steps.
  void reserve(int slots, int slots_in_use);

  // The memory of the present state, for those who look at it for longer than the mesh does.
  const DeviceArray<double>& present() const { return states_[k_now].blocks; }
  // Where others hold that memory, leaves it to them as it is, and goes on in a copy.
  void leave_shared(int slots_in_use);

  // Makes the halo of every state `doubles` long. Its contents are lost.
  void resize_halo(std::int64_t doubles);

  // Bytes that blocks and halos hold when all slots in use are written.
  std::int64_t bytes_in_use(int slots) const;

 private:
  struct State {
    DeviceArray<double> blocks, halo;
  };
  void move_present(std::int64_t doubles, int slots_in_use);

  BlockLayout layout_;
  std::vector<State> states_;
  int old_ = 1, capacity_ = 0;
  std::int64_t halo_doubles_ = 0;
};

}  // namespace octant::mesh
