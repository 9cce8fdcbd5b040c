// Ghost data of one level: which cells outside a rank's own blocks are needed, and where they come
// from.
//
// A needed block position that is not an own block is one of four things: another rank's block,
// cells beyond a physical boundary, cells interpolated from the coarser level, or the mirror image
// of any of these. Each gets a box, in the halo (kept with its state) or, if interpolation is
// involved, in the scratch that all levels share and that lives for one sweep. A ghost value is a
// function of level, cell and time alone, never of the block or rank that asks for it.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/exchange_plan.hpp"
#include "mesh/device.hpp"
#include "mesh/fields.hpp"
#include "mesh/ghost_shape.hpp"
#include "mesh/tree.hpp"

namespace octant::mesh {

// A box of cells of a block, lower corner included, upper corner excluded.
struct Region {
  std::array<std::int16_t, 3> begin{0, 0, 0}, end{0, 0, 0};

  constexpr bool empty() const { return end[0] <= begin[0]; }
  constexpr std::int64_t volume() const {
    return std::int64_t{end[0] - begin[0]} * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
  // Of a cell of it, in the order [k][j][i].
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t index(int i, int j, int k) const {
    return (std::int64_t{k - begin[2]} * (end[1] - begin[1]) + j - begin[1]) * (end[0] - begin[0]) +
           i - begin[0];
  }
  // And the other way round.
  std::array<int, 3> cell(std::int64_t index) const {
    const int ni = end[0] - begin[0], nj = end[1] - begin[1];
    return {begin[0] + static_cast<int>(index % ni), begin[1] + static_cast<int>(index / ni % nj),
            begin[2] + static_cast<int>(index / ni / nj)};
  }
  void merge(const Region& other);  // becomes the bounding box of both
  bool operator==(const Region&) const = default;
};

// Copies a region of a box to contiguous memory, [variable][k][j][i], or back.
struct PackTask {
  std::int32_t box;
  Region region;
  std::int64_t destination;  // in doubles
};

// Fills a box beyond a boundary from the box that mirrors (or continues) into it. Along each axis
// the source cell of ghost cell i is `offset + sign * i`, or `offset` alone where sign is 0
// (outflow).
struct BoundaryTask {
  std::int32_t target, source;
  Region region;
  std::array<std::int16_t, 3> offset, sign;
  std::int32_t flipped;  // bit d: the component along axis d of every vector changes its sign
  std::int32_t inflow;   // -1, or 2 * axis + side: what enters there, no source
  std::int64_t inflow_cell = 0;  // where the values of the region begin, in cells: see InflowBox
};

// A region of a block beyond an inflow boundary. Its values lie [variable][k][j][i] from
// first * variables on among those of the level.
struct InflowBox {
  int boundary;  // 2 * axis + side
  BlockCoordinates block;
  Region region;
  std::int64_t first;
};

// Interpolates cells of a fine box from the coarse block beneath them and its six face neighbours.
struct InterpolationTask {
  std::int32_t target;                 // fine box
  std::array<std::int32_t, 7> source;  // coarse boxes: the block, then below and above in x, y, z
  std::array<std::int16_t, 3> first, cells;  // coarse cells: the first one and how many
  std::array<std::int16_t, 3> fine;          // the fine cell in the lower corner of `first`
};

// Boxes of cells that travel together.
struct HaloMessages {
  DeviceTable<PackTask> packs{"pack tasks"};
  std::int64_t sent_cells = 0;
  std::unique_ptr<ExchangePlan> plan;
};

// Everything that moves ghost data of one level.
struct LevelHalo {
  TileSet tiles;  // interior tiles first: those that need no other rank's data
  int interior_tiles = 0;
  // Slots of the own blocks that tile t updates, in full or in part: tile_slots[n] for n from
  // tile_slot_begin[t] to tile_slot_begin[t + 1].
  std::vector<std::int32_t> tile_slot_begin, tile_slots;
  DeviceTable<CellBox> boxes{"boxes"};  // tiles.boxes
  DeviceTable<std::int32_t> tile_table{"tile table"};
  DeviceTable<Tile> tile_list{"tiles"};
  DeviceTable<FluxRequest> tile_requests{"flux requests"};

  std::int64_t halo_doubles = 0, scratch_doubles = 0;
  std::int64_t received_cells = 0;  // their boxes lie at the start of the halo, as they come
  HaloMessages whole;
  HaloMessages beneath;  // those alone that the finer level interpolates from
  DeviceTable<PackTask> unpacks{"unpack tasks"};  // of these
  DeviceTable<BoundaryTask> halo_boundaries{"boundary tasks"},
      scratch_boundaries{"scratch boundary tasks"};
  DeviceTable<InterpolationTask> interpolations{"interpolation tasks"};
  std::vector<InflowBox> inflow_boxes;
  std::int64_t inflow_cells = 0;  // of all of them
};

// The flux requests of a level's own blocks, in cells of the block (see FluxRequest).
struct FluxRequests {
  std::function<void(int slot, std::vector<FluxRequest>& requests)> append;  // those of a slot
  std::vector<int> changed;  // slots that have others than the last time, in any order
};

// The halos of all levels. They follow the tree: tables near changed blocks are written anew, the
// others are kept, so that the first time, when all blocks are new, is a time like any other.
class Halos {
 public:
  // `ghosts` are the cells that a sweep reads; `patch` the side of a tile, or 0 to choose it for
  // each level. The tree must outlive the halos.
  Halos(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int patch);
  ~Halos();
  Halos(Halos&&) noexcept;

  // Takes up the tree's changes since the last time, and those of flux requests, by level.
  // Collective.
  void follow(const std::vector<FluxRequests>& requests);

  const LevelHalo& operator[](int level) const;
  // The box of what lies across a face of an own block: below and above in x, y, z.
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
