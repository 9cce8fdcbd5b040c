// Groups the own blocks of a level into tiles and finds what surrounds each. A tool of the halos.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/cubes.hpp"
#include "mesh/needs.hpp"

namespace octant::mesh {

class Tiling {
 public:
  Tiling(const Tree& tree, int level) : tree_(tree), level_(level) {}

  // Writes tables, tiles of side `patch` (0: what is faster) and flux requests, interior tiles
  // first, and uploads what changed. Of tables that last only what touched blocks read is written.
  void follow(int patch, const LevelNeeds& needs, const FluxRequests& requests, LevelHalo& halo);

 private:
  struct Group {                      // one table: a block (N >= M), or blocks under one ancestor
    Key ancestor = k_no_key;          // of a large block its own key; none: not in use
    BlockCoordinates first{};         // position of the table's first central block
    std::vector<std::int32_t> slots;  // by key
    std::vector<FluxRequest> requests;
    std::vector<int> counts;  // of these, by tile and, if there is one tile, by slot
    bool touched = false, afar = false;
    bool is_new = false;  // its table is to be written whole
  };
  struct Place {  // of a slot's block
    Key key = k_no_key;
    std::int32_t group = -1;
    std::array<std::int8_t, 3> in_group{};  // from the group's first central block
  };

  int faster_patch() const;
  void begin_anew(int patch, int first_need_box);
  void update_places();
  void put(int slot, Key key);
  void take(int slot);
  int group_under(Key ancestor);
  Group& touch(int group);
  int group_of(int slot) const;
  void forget_empty_groups();
  struct Lost {  // where a block was
    int group;
    Key ancestor;
    std::array<int, 3> place;
  };
  void write_rows(const LevelNeeds& needs, DeviceTable<std::int32_t>& tables);
  void clear_unread(const Lost& lost, const LevelNeeds& needs, std::int32_t* table) const;
  bool is_read(const std::array<int, 3>& place, const LevelNeeds& needs,
               const std::int32_t* table) const;
  void write_table(int group, const LevelNeeds& needs, DeviceTable<std::int32_t>& tables) const;
  void write_row(int slot, Positions positions, const LevelNeeds& needs, std::int32_t* table) const;
  static bool reaches_afar(const Group& group, const LevelNeeds& needs);
  void write_requests(int slot, const FluxRequests& requests);
  static void replace_requests(Group& group, int part, std::span<const FluxRequest> requests);
  void add_request(const FluxRequest& request, const std::array<int, 3>& place,
                   const std::array<std::int16_t, 3>& origin,
                   std::vector<FluxRequest>& requests) const;
  void write_lists(LevelHalo& halo) const;

  bool reaches_itself(int group, int slot, const std::array<int, 3>& place) const;
  bool is_central(const std::array<int, 3>& place) const;
  std::array<int, 3> place_in_group(int slot) const;
  int table_index(const std::array<int, 3>& place) const {
    return ((place[2] + 1) * reach_ + place[1] + 1) * reach_ + place[0] + 1;
  }
  int entries() const { return reach_ * reach_ * reach_; }
  // A group's table, to be written.
  std::int32_t* table_of(int group, DeviceTable<std::int32_t>& tables) const {
    return tables.write(static_cast<std::size_t>(group) * entries(), entries());
  }

  const Tree& tree_;
  int level_;
  int patch_ = 0, first_need_box_ = -1, block_size_ = 0, blocks_per_patch_ = 0, reach_ = 0;
  Cubes patches_{1, 1};
  std::array<int, 27> steps_;                         // in a table, to the 27 positions around one
  std::vector<std::array<std::int16_t, 3>> origins_;  // of the parts of a large block, in its cells
  std::vector<Place> places_;                         // by slot
  std::vector<Group> groups_;
  KeyTable<std::int32_t> index_;             // of groups, by ancestor
  std::vector<int> touched_, free_, order_;  // groups: to be written; not in use; in use, by key
  std::vector<Lost> lost_;                   // this time, of groups that last
  std::vector<FluxRequest> of_block_, of_tile_;  // scratch
};

}  // namespace octant::mesh
