// Ghost cells of one level: the cells needed outside a rank's own blocks, and their sources.
//
// A block position that is not an own block is a block of another rank, a position beyond a
// physical boundary, an interpolation from the coarser level, or a mirror image of one of these.
// Each position has a box: in the halo, which is stored with the state, or, if interpolation is
// involved, in scratch memory that all levels share and that is valid for one sweep. A ghost value
// is a function of level, cell and time alone, never of the block or rank that reads it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "mesh/device.hpp"
#include "mesh/fields.hpp"
#include "mesh/tiles.hpp"
#include "mesh/tree.hpp"

namespace octant::mesh {

// Box of cells of a block, lower corner included, upper corner excluded.
struct Region {
  std::array<std::int16_t, 3> begin{0, 0, 0}, end{0, 0, 0};

  // True if the box contains no cell.
  constexpr bool empty() const { return end[0] <= begin[0]; }
  // Number of cells.
  constexpr std::int64_t volume() const {
    return std::int64_t{end[0] - begin[0]} * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
  // Index of a cell of the region, in the order [k][j][i].
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t index(int i, int j, int k) const {
    return (std::int64_t{k - begin[2]} * (end[1] - begin[1]) + j - begin[1]) * (end[0] - begin[0]) +
           i - begin[0];
  }
  // Cell with a given index.
  std::array<int, 3> cell(std::int64_t index) const {
    const int ni = end[0] - begin[0], nj = end[1] - begin[1];
    return {begin[0] + static_cast<int>(index % ni), begin[1] + static_cast<int>(index / ni % nj),
            begin[2] + static_cast<int>(index / ni / nj)};
  }
  void merge(const Region& other);  // extends this region to the bounding box of both
  bool operator==(const Region&) const = default;
};

// Copy of a region of a box to contiguous memory, [variable][k][j][i], or from there to the box.
struct PackTask {
  std::int32_t box;
  Region region;
  std::int64_t destination;  // offset in the contiguous memory, in doubles
};

// Boundary condition of a box beyond a boundary, whose cells are mirrored or extrapolated from a
// source box. Along each axis the source cell of ghost cell i is `offset + sign * i`, or `offset`
// if sign is 0 (outflow).
struct BoundaryTask {
  std::int32_t target, source;
  Region region;
  std::array<std::int16_t, 3> offset, sign;
  std::int32_t flipped;  // bit d: vector components along axis d change sign
  std::int32_t inflow;   // 2 * axis + side of an inflow boundary, which has no source box; else -1
  std::int64_t inflow_cell = 0;  // InflowBox::first of the region
};

// Region of a block beyond an inflow boundary. The values, [variable][k][j][i], begin at offset
// first * variables in the level's array of inflow values.
struct InflowBox {
  int boundary;  // 2 * axis + side
  BlockCoordinates block;
  Region region;
  std::int64_t first;
};

// Interpolation of cells of a fine box from the coarse block that contains the box and the six face
// neighbours of this block.
struct InterpolationTask {
  std::int32_t target;                 // fine box
  std::array<std::int32_t, 7> source;  // coarse boxes: the block, then below and above in x, y, z
  std::array<std::int16_t, 3> first, cells;  // first coarse cell, and number of coarse cells
  std::array<std::int16_t, 3> fine;          // fine cell at the lower corner of `first`
};

// Boxes of cells that are exchanged together.
struct HaloMessages {
  DeviceTable<PackTask> pack_tasks{"pack tasks"};
  std::int64_t sent_cells = 0;
  std::unique_ptr<ExchangePlan> plan;
};

// Tables and buffers for the exchange of ghost data of one level.
struct LevelHalo {
  TileSet tiles;  // interior tiles first: those that need no remote data
  int interior_tiles = 0;
  // Slots of the own blocks that tile t updates, in full or in part: tile_slots[n] for n from
  // tile_slot_begin[t] to tile_slot_begin[t + 1] - 1.
  std::vector<std::int32_t> tile_slot_begin, tile_slots;
  DeviceTable<CellBox> boxes{"boxes"};  // table of which tiles.boxes is the device copy
  DeviceTable<std::int32_t> tile_table{"tile table"};
  DeviceTable<Tile> tile_list{"tiles"};
  DeviceTable<FluxRegisterFaces> tile_requests{"flux requests"};

  std::int64_t halo_doubles = 0, scratch_doubles = 0;
  // number of received cells, whose boxes are the first in the halo, in the order of messages
  std::int64_t received_cells = 0;
  HaloMessages whole;
  // messages that contain only the cells from which the finer level is interpolated
  HaloMessages for_finer_level;
  DeviceTable<PackTask> unpack_tasks{"unpack tasks"};  // tasks for the messages for_finer_level
  DeviceTable<BoundaryTask> halo_boundaries{"boundary tasks"},
      scratch_boundaries{"scratch boundary tasks"};
  DeviceTable<InterpolationTask> interpolations{"interpolation tasks"};
  std::vector<InflowBox> inflow_boxes;
  std::int64_t inflow_cells = 0;  // number of cells in all inflow boxes
};

// Flux requests of a level's own blocks, in cells of the block (see FluxRegisterFaces).
struct FluxRequests {
  // function that appends the requests of the block in a slot
  std::function<void(int slot, std::vector<FluxRegisterFaces>& requests)> append;
  std::vector<int> changed;  // slots whose requests changed, in any order
};

// Halos of all levels. An update rewrites only table entries of blocks near changed ones; in the
// first update all blocks are new.
class Halos {
 public:
  // `ghosts` are the cells that a sweep reads; `patch` is the side of a tile in cells, or 0 to
  // select it for each level. The tree must outlive the halos.
  Halos(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int patch);
  ~Halos();
  Halos(Halos&&) noexcept;

  // Applies the changes of the tree and of the flux requests since the last call. `requests` has
  // one entry per level. Collective.
  void follow(const std::vector<FluxRequests>& requests);

  const LevelHalo& operator[](int level) const;
  // Index of the box across a face of an own block; face = 2 * axis + side.
  int box_across(int level, int slot, int face) const;

 private:
  struct Level;

  void agree_on_messages();

  const Tree& tree_;
  BlockLayout layout_;
  int patch_;
  std::vector<Level> levels_;
};

}  // namespace octant::mesh
