// Tables of the cells around every own block, on any level and rank.
#pragma once

#include <cstdint>

#include "mesh/tree.hpp"
#include "particles/remote_cells.hpp"

namespace octant::particles {

// Number of cells by which a cloud may extend beyond its home block. A particle stays on its level
// until that level is synchronised with the coarser one, and may leave it by a cell and a half.
inline constexpr int k_depth = 2;
inline constexpr double k_largest_excursion = k_depth - 0.5;

// Distance from a level's end, in cells, within which the next coarser level serves a particle.
// Near the end the potential, with boundary values interpolated from the coarser level, lacks the
// symmetry of the particle's cloud. A lone particle accelerates itself, at this distance by 0.001 G
// m / dx^2 with dx of the coarser level, falling with the fourth power of the distance.
inline constexpr double k_margin = 3.0;

// Home block of particles.
struct HomeBlock {
  BlockCoordinate first_cell[3] = {-1, -1, -1};  // -1: no block in this slot
  std::uint32_t refined = 0;                     // mask of octants
  // Bit n: at position n of the 27 around the block the level continues or the domain ends.
  std::uint32_t level_goes_on = (1u << 27) - 1;

  // Returns true if a position in or beside the block is within k_margin of the end of its level.
  KOKKOS_FORCEINLINE_FUNCTION bool is_near_end(const double (&cells_from_first)[3],
                                               int block_size) const {
    constexpr std::uint32_t all = (1u << 27) - 1;
    if (level_goes_on == all) return false;
    std::uint32_t near[3];  // along each axis: below, here, above
    for (int d = 0; d < 3; ++d)
      near[d] = 2u | (cells_from_first[d] < k_margin ? 1u : 0u) |
                (cells_from_first[d] > block_size - k_margin ? 4u : 0u);
    for (int n = 0; n < 27; ++n) {
      const bool is_near =
          ((near[0] >> (n % 3)) & (near[1] >> (n / 3 % 3)) & (near[2] >> (n / 9)) & 1u) != 0;
      if (is_near && (level_goes_on >> n & 1u) == 0) return true;
    }
    return false;
  }
};

// Location of the cells of one block position: in an own block of the level or of the coarser one,
// or among the copies of other ranks' cells. Cell (i, j, k), counted from the first cell of the
// position's block, has the index
//   origin + ((k >> shift) * rows + (j >> shift)) * cells + (i >> shift)
// in the block of a slot, or relative to the ghost of that number. Blocks have at most 32^3 cells.
struct Place {
  std::int32_t slot = 0;  // a rank has fewer ghosts than 2^31
  std::int16_t origin = 0;
  std::uint16_t source : 2 = k_none;
  std::uint16_t shift : 1 = 0;  // 1 on the coarser level
  std::uint16_t cells : 6 = 0, rows : 6 = 0;

  static constexpr unsigned k_none = k_sources;

  KOKKOS_FORCEINLINE_FUNCTION int cell(int i, int j, int k) const {
    return origin + ((k >> shift) * rows + (j >> shift)) * cells + (i >> shift);
  }
};
static_assert(sizeof(Place) == 8, "there are 27 for every block");

// Address, without the component, of a cell that is counted from the first cell of a home block and
// lies at most k_depth cells beyond it. `places` are the 27 of that block.
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

// Tables of one level, rebuilt by each regrid.
struct Neighbourhood {
  // Collective.
  Neighbourhood(const mesh::Tree& tree, int level);

  DeviceArray<const HomeBlock> blocks;  // by slot
  DeviceArray<const Place> places;      // by slot, the 27 positions [z][y][x] around the block
  // Coarser cells at the same positions, with or without cells of the level; by slot.
  DeviceArray<const Place> coarse_places;
  RemoteCells around, coarse;  // ghosts of `places` and of `coarse_places`
  std::int64_t bytes() const;

 private:
  class Builder;
};

}  // namespace octant::particles
