// Groups the own blocks of a level into tiles and finds what surrounds each. A tool of the halos.
#pragma once

#include <span>
#include <vector>

#include "mesh/needs.hpp"

namespace octant::mesh {

class Tiling {
 public:
  Tiling(const Tree& tree, int level) : tree_(tree), level_(level) {}

  // Writes tables, tiles of side `patch` and flux requests, interior tiles first, and uploads
  // everything. Tables that no touched block is in are those of the last time.
  void follow(int patch, const LevelNeeds& needs, const BlockFluxRequests& requests,
              LevelHalo& halo);

 private:
  struct Group {               // one table: a block (N >= M), or blocks under one ancestor
    Key ancestor = k_no_key;   // none: not in use
    BlockCoordinates first{};  // position of the table's first central block
    std::span<const int> slots;
    bool touched = true, afar = false;
  };
  struct TileBuilder;

  void begin_anew(int patch, int first_need_box);
  void touch(Key block);
  void gather_groups();
  void write_table(int group, const LevelNeeds& needs);

  bool reaches_itself(const Group& group, int slot, const std::array<int, 3>& place) const;
  std::array<int, 3> place_in_group(const Group& group, int slot) const;
  int table_index(const std::array<int, 3>& place) const {
    return ((place[2] + 1) * reach_ + place[1] + 1) * reach_ + place[0] + 1;
  }
  int entries() const { return reach_ * reach_ * reach_; }

  const Tree& tree_;
  int level_;
  int patch_ = 0, first_need_box_ = -1, block_size_ = 0, blocks_per_patch_ = 0, reach_ = 0;
  int shift_ = 0;  // from a block's key to its group's
  std::vector<Group> groups_;
  KeyTable<std::int32_t> index_;     // of groups, by ancestor
  std::vector<int> free_, order_;    // groups not in use; those in use, by key
  std::vector<std::int32_t> table_;  // by group: a box per position
};

}  // namespace octant::mesh
