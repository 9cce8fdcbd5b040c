// Where the cells around every own block lie, on whatever level and rank.
#pragma once

#include <cstdint>

#include "mesh/tree.hpp"
#include "particles/remote_cells.hpp"

namespace octant::particles {

// How many cells beyond its home block a cloud may reach. A particle stays with its level until
// that level is synchronised with the coarser one, and may leave its end by a cell and a half.
inline constexpr int k_depth = 2;
inline constexpr double k_largest_excursion = k_depth - 0.5;

// A block that particles are listed under.
struct HomeBlock {
  BlockCoordinate first_cell[3] = {-1, -1, -1};  // in the level; -1: there is no block in this slot
  std::uint32_t refined = 0;                     // mask of octants
};

// Where the cells of one block position lie: in an own block of the level or of the coarser one, or
// among the copies of other ranks' cells. Cell (i, j, k), counted from the first cell of the
// position's block, is number
//   origin + ((k >> shift) * rows + (j >> shift)) * cells + (i >> shift)
// of the block in a slot, or counted from the ghost of that number. Blocks have 32^3 cells at most.
struct Place {
  std::int32_t slot = 0;  // a rank has fewer ghosts than 2^31
  std::int16_t origin = 0;
  std::uint16_t source : 2 = k_nowhere;
  std::uint16_t shift : 1 = 0;  // 1 in the coarser level
  std::uint16_t cells : 6 = 0, rows : 6 = 0;

  static constexpr unsigned k_nowhere = k_sources;

  KOKKOS_FORCEINLINE_FUNCTION int cell(int i, int j, int k) const {
    return origin + ((k >> shift) * rows + (j >> shift)) * cells + (i >> shift);
  }
};
static_assert(sizeof(Place) == 8, "there are 27 for every block");

// The address, without the component, of a cell that is counted from the first cell of a home block
// and lies at most k_depth cells beyond it. `places` are the 27 of that block.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T* find_cell(const Place* places, const CellArrays<T>& arrays,
                                         int block_size, int i, int j, int k,
                                         std::int64_t& stride_component) {
  const int N = block_size, mask = N - 1;
  const auto side = [N](int c) { return (c >= 0) + (c >= N); };
  const Place& place = places[side(i) + 3 * side(j) + 9 * side(k)];
  const CellArray<T>& array = arrays.source[place.source];
  stride_component = array.stride_component;
  if (array.data == nullptr) return nullptr;
  return array.data + place.slot * array.stride_slot +
         place.cell(i & mask, j & mask, k & mask) * array.stride_cell;
}

// The tables of one level, built anew by each regrid.
struct Neighbourhood {
  // Collective.
  Neighbourhood(const mesh::Tree& tree, int level);

  DeviceArray<const HomeBlock> blocks;  // by slot
  DeviceArray<const Place> places;      // by slot, the 27 positions [z][y][x] around the block
  DeviceArray<const Place> parents;     // by slot, the coarser cells beneath the block itself
  RemoteCells around, beneath;          // what the ghosts of `places` and of `parents` stand for
  std::int64_t bytes() const;

 private:
  class Builder;
};

}  // namespace octant::particles
