// Groups the own blocks of a level into tiles and finds what surrounds each. A tool of the halo's
// builder.
#pragma once

#include <vector>

#include "mesh/ghost_shape.hpp"
#include "mesh/needs.hpp"

namespace octant::mesh {

class Tiling {
 public:
  // Tiles of side `patch` over the own blocks of `level`.
  Tiling(const Tree& tree, int level, int patch);

  // States the ghost cells of every own block. No other cells are read by a sweep.
  void require_ghosts(LevelNeeds& needs, const GhostShape& ghosts);

  // Writes tables, tiles and flux requests, interior tiles first, and uploads everything.
  void finish(const LevelNeeds& needs, const BlockFluxRequests& requests,
              std::vector<CellBox>& boxes, LevelHalo& halo) const;

 private:
  struct Group {  // one table: a block (N >= M), or blocks under one ancestor
    std::vector<int> slots;
    BlockCoordinates first;        // position of the table's first central block
    std::vector<Reference> table;  // reach^3
  };
  struct TileBuilder;

  std::array<int, 3> place_in_group(const Group& group, int slot) const;
  int table_index(int i, int j, int k) const { return (k * reach_ + j) * reach_ + i; }

  const Tree& tree_;
  int level_, patch_, block_size_, blocks_per_patch_, reach_;
  std::vector<Group> groups_;
};

}  // namespace octant::mesh
