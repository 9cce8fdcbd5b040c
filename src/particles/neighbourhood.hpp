// Tables of the cells around every own block, on any level and rank.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/exchanger.hpp"
#include "decomp/key_table.hpp"
#include "mesh/halo.hpp"
#include "mesh/tree.hpp"

namespace octant::particles {

template <class T>
using DeviceArray = mesh::DeviceArray<T>;

// Location of cells: on this level, on the coarser level, or among the ghosts.
enum Source : std::int32_t { k_here, k_coarser, k_ghost, k_sources };

// Values of cells, in the blocks of a level ([slot][component][cell] if stride_cell is 1) or in
// ghosts ([cell][component]), each with a slot. Values added to null `data` are dropped.
template <class T>
struct CellArray {
  T* data = nullptr;
  std::int64_t stride_slot = 0, stride_component = 0;
  std::int64_t stride_cell = 1;
};

// Arrays of values at all locations.
template <class T>
struct CellArrays {
  CellArray<T> source[k_sources];
};

// Cell of this rank that is a ghost of another rank.
struct SentCell {
  std::int32_t source, slot, cell;
};

// Ghosts (cells of other ranks) of one level: boxes of cells of this level and of the coarser one.
// Ghost n of the plan's receive buffer is a copy of one cell of another rank.
class RemoteCells {
 public:
  // Requests a region of a block, in its own cells; several regions of a block are merged. Returns
  // the number of the box.
  int request(Source source, Key key, int owner, const mesh::Region& region);

  // Sends the requests to the owners and builds the exchange plan. Collective.
  void exchange_requests(const mesh::Tree& tree, int level);

  // Region of a box, after exchange_requests().
  const mesh::Region& region(int box) const { return boxes_[box].region; }
  // Index of the first ghost of a box.
  std::int64_t first_ghost(int box) const { return boxes_[box].first; }

  // Number of ghosts.
  std::int64_t ghosts() const { return plan_->items_received(); }

  // Fetches the values of `components` from the owners into ghosts [ghost][component]. Collective.
  void fetch(const CellArrays<const double>& fields, int components, double* ghosts,
             Exchanger& exchanger) const;

  // Adds the ghosts' values to the owners' cells. Collective.
  void add_to_owners(const std::int64_t* ghosts, const CellArrays<std::int64_t>& cells,
                     Exchanger& exchanger) const;

  // Memory of the tables in bytes.
  std::int64_t bytes() const;

 private:
  struct Box {
    Source source;
    int owner;
    Key key;
    mesh::Region region;
    std::int64_t first = 0;
  };
  std::vector<Box> boxes_;
  KeyTable<std::int32_t> box_of_[2];  // by source
  DeviceArray<const SentCell> sent_;
  std::unique_ptr<ExchangePlan> plan_;
};

// Number of cells by which a cloud may extend beyond its home block. A particle stays on its level
// until that level is synchronised with the coarser one, and may go up to 1.5 cells beyond it.
inline constexpr int k_depth = 2;
inline constexpr double k_largest_excursion = k_depth - 0.5;

// Distance from a level's end, in cells, within which a particle uses the potential and receives
// the cloud of the next coarser level. Near the end the level's own potential, with boundary values
// interpolated from the coarser level, lacks the symmetry of the particle's cloud. A single
// particle then accelerates itself: at this distance by 0.001 G m / dx^2 with dx of the coarser
// level, decreasing with the fourth power of the distance.
inline constexpr double k_margin = 3.0;

// Home block of particles.
struct HomeBlock {
  BlockCoordinate first_cell[3] = {-1, -1, -1};  // -1 if the slot has no block
  std::uint32_t refined = 0;                     // mask of octants
  // Mask of positions, bit n for position n of the 27 around the block: set where the level
  // continues or the domain ends.
  std::uint32_t level_continues = (1u << 27) - 1;

  // Returns true if a position in or beside the block is within k_margin of the end of its level.
  KOKKOS_FORCEINLINE_FUNCTION bool is_near_end(const double (&cells_from_first)[3],
                                               int block_size) const {
    constexpr std::uint32_t all = (1u << 27) - 1;
    if (level_continues == all) return false;
    std::uint32_t near[3];  // along each axis: below, here, above
    for (int d = 0; d < 3; ++d)
      near[d] = 2u | (cells_from_first[d] < k_margin ? 1u : 0u) |
                (cells_from_first[d] > block_size - k_margin ? 4u : 0u);
    for (int n = 0; n < 27; ++n) {
      const bool is_near =
          ((near[0] >> (n % 3)) & (near[1] >> (n / 3 % 3)) & (near[2] >> (n / 9)) & 1u) != 0;
      if (is_near && (level_continues >> n & 1u) == 0) return true;
    }
    return false;
  }
};

// Location of the cells of one block position: in an own block of the level or of the coarser one,
// or among the copies of other ranks' cells. Cell (i, j, k), counted from the first cell of the
// position's block, has the index
//   origin + ((k >> shift) * rows + (j >> shift)) * cells + (i >> shift)
// in the block of a slot, or relative to the ghost of that number. Blocks have at most 32^3 cells.
struct CellLocation {
  std::int32_t slot = 0;  // a rank has fewer ghosts than 2^31
  std::int16_t origin = 0;
  std::uint16_t source : 2 = k_none;
  std::uint16_t shift : 1 = 0;  // 1 on the coarser level
  std::uint16_t cells : 6 = 0, rows : 6 = 0;

  static constexpr unsigned k_none = k_sources;

  // Index of cell (i, j, k), as defined above, without the origin of the slot's block.
  KOKKOS_FORCEINLINE_FUNCTION int cell(int i, int j, int k) const {
    return origin + ((k >> shift) * rows + (j >> shift)) * cells + (i >> shift);
  }
};
static_assert(sizeof(CellLocation) == 8, "there are 27 for every block");

// Address, without the component, of a cell that is counted from the first cell of a home block and
// lies at most k_depth cells beyond it. `locations` are the 27 of that block.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T* find_cell(const CellLocation* locations, const CellArrays<T>& arrays,
                                         int block_size, int i, int j, int k,
                                         std::int64_t& stride_component) {
  const int N = block_size, mask = N - 1;
  const auto side = [N](int c) { return (c >= 0) + (c >= N); };
  const CellLocation& location = locations[side(i) + 3 * side(j) + 9 * side(k)];
  const CellArray<T>& array = arrays.source[location.source];
  stride_component = array.stride_component;
  if (array.data == nullptr) return nullptr;
  return array.data + location.slot * array.stride_slot +
         location.cell(i & mask, j & mask, k & mask) * array.stride_cell;
}

// Tables of one level, rebuilt by each regrid.
struct Neighbourhood {
  // Builds the tables. Collective.
  Neighbourhood(const mesh::Tree& tree, int level);

  DeviceArray<const HomeBlock> blocks;  // by slot
  DeviceArray<const CellLocation>
      locations;  // by slot, the 27 positions [z][y][x] around the block
  // Cells of the coarser level at the same positions, also where the level has cells; by slot.
  DeviceArray<const CellLocation> coarse_locations;
  RemoteCells around, coarse;  // ghosts of `locations` and of `coarse_locations`
  // Memory of the tables in bytes.
  std::int64_t bytes() const;

 private:
  class Builder;
};

}  // namespace octant::particles
