#include "mesh/tiling.hpp"

#include <algorithm>
#include <bit>

#include "mesh/device.hpp"

namespace octant::mesh {

void Tiling::begin_anew(int patch, int first_need_box) {
  patch_ = patch;
  first_need_box_ = first_need_box;
  block_size_ = tree_.geometry().block_size();
  blocks_per_patch_ = std::max(1, patch / block_size_);
  reach_ = blocks_per_patch_ + 2;
  shift_ = 3 * std::countr_zero(static_cast<unsigned>(blocks_per_patch_));
  groups_.clear();
  index_.clear();
  free_.clear();
  table_.clear();
}

void Tiling::touch(Key block) {
  if (const std::int32_t* group = index_.find(block >> shift_)) groups_[*group].touched = true;
}

// The groups of all own blocks, in the order of their keys.
void Tiling::gather_groups() {
  const TreeLevel& blocks = tree_.level(level_);
  const std::span<const int> own = blocks.own();
  for (Group& group : groups_) group.slots = {};
  order_.clear();
  for (std::size_t begin = 0, end = 0; begin < own.size(); begin = end) {
    const Key ancestor = blocks.key(own[begin]) >> shift_;
    while (end < own.size() && blocks.key(own[end]) >> shift_ == ancestor) ++end;
    const std::int32_t* known = index_.find(ancestor);
    int group = known ? *known : static_cast<int>(groups_.size());
    if (!known) {
      if (!free_.empty()) {
        group = free_.back();
        free_.pop_back();
      } else {
        groups_.emplace_back();
        table_.resize(groups_.size() * entries());
      }
      index_.insert(ancestor, group);
      groups_[group].ancestor = ancestor;
      groups_[group].first = morton_decode(ancestor);
      for (auto& c : groups_[group].first) c *= blocks_per_patch_;
    }
    groups_[group].slots = own.subspan(begin, end - begin);
    order_.push_back(group);
  }
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    if (groups_[n].ancestor == k_no_key || !groups_[n].slots.empty()) continue;
    index_.erase(groups_[n].ancestor);
    groups_[n] = {};
    free_.push_back(static_cast<int>(n));
  }
}

std::array<int, 3> Tiling::place_in_group(const Group& group, int slot) const {
  const BlockCoordinates c = morton_decode(tree_.level(level_).key(slot));
  return {static_cast<int>(c[0] - group.first[0]), static_cast<int>(c[1] - group.first[1]),
          static_cast<int>(c[2] - group.first[2])};
}

// Whether an own block among a tile's central ones is there only because a periodic axis wraps.
bool Tiling::reaches_itself(const Group& group, int slot, const std::array<int, 3>& place) const {
  return std::all_of(place.begin(), place.end(),
                     [this](int c) { return c >= 0 && c < blocks_per_patch_; }) &&
         place_in_group(group, slot) != place;
}

void Tiling::write_table(int number, const LevelNeeds& needs) {
  Group& group = groups_[number];
  std::int32_t* table = table_.data() + static_cast<std::ptrdiff_t>(number) * entries();
  std::fill_n(table, entries(), k_nowhere);
  group.afar = false;
  for (const int slot : group.slots) {
    const std::array<int, 3> centre = place_in_group(group, slot);
    for (int n = 0; n < 27; ++n) {
      const Reference r = needs.around(slot)[n];
      if (r == k_nowhere) continue;
      const std::array<int, 3> place{centre[0] + n % 3 - 1, centre[1] + n / 3 % 3 - 1,
                                     centre[2] + n / 9 - 1};
      const bool is_borrowed = r >= 0 && needs.may_borrow() && reaches_itself(group, r, place);
      table[table_index(place)] = is_borrowed ? needs.borrowed_box_of(r) : needs.box_of(r);
      group.afar = group.afar || needs.comes_from_afar(r);
    }
  }
  for (const int slot : group.slots) table[table_index(place_in_group(group, slot))] = slot;
  group.touched = false;
}

// Collects the device tables of a level.
struct Tiling::TileBuilder {
  const Tiling& tiling;
  const BlockFluxRequests& requests;
  std::vector<Tile> interior, border;
  std::vector<const Group*> interior_groups, border_groups;  // of each tile
  std::vector<FluxRequest> tile_requests;

  void add(int number) {
    const Group& group = tiling.groups_[number];
    for (const auto& origin : origins()) {
      Tile tile{.table = number * tiling.entries(),
                .request_begin = static_cast<std::int32_t>(tile_requests.size()),
                .request_end = 0,
                .origin = {origin[0], origin[1], origin[2]},
                .unused = 0,
                .first = {}};
      for (int d = 0; d < 3; ++d)
        tile.first[d] = std::int64_t{group.first[d]} * tiling.block_size_ + origin[d];
      for (const int slot : group.slots) {
        if (requests[slot].empty()) continue;
        const auto place = tiling.place_in_group(group, slot);
        for (const FluxRequest& request : requests[slot]) add_request(request, place, origin);
      }
      tile.request_end = static_cast<std::int32_t>(tile_requests.size());
      (group.afar ? border : interior).push_back(tile);
      (group.afar ? border_groups : interior_groups).push_back(&group);
    }
  }

  std::vector<std::array<std::int16_t, 3>> origins() const {
    std::vector<std::array<std::int16_t, 3>> all;
    const int M = tiling.patch_, parts = std::max(1, tiling.block_size_ / M);
    for (int k = 0; k < parts; ++k)
      for (int j = 0; j < parts; ++j)
        for (int i = 0; i < parts; ++i)
          all.push_back({static_cast<std::int16_t>(i * M), static_cast<std::int16_t>(j * M),
                         static_cast<std::int16_t>(k * M)});
    return all;
  }

  // Moves a request from block cells to patch cells and keeps the part inside the patch.
  void add_request(FluxRequest request, const std::array<int, 3>& place,
                   const std::array<std::int16_t, 3>& origin) {
    const int N = tiling.block_size_, M = tiling.patch_;
    const int a = request.axis == 0 ? 1 : 0, b = request.axis == 2 ? 1 : 2;
    const auto shift = [&](int axis) { return place[axis] * N - origin[axis]; };
    // A plane between two parts of a block belongs to the upper one, the block's last plane to the
    // last.
    const int plane = request.plane + shift(request.axis);
    const bool last_part = origin[request.axis] + M >= N;
    if (plane < 0 || plane > M || (plane == M && !last_part)) return;
    const int faces = request.average ? 2 : 1;
    const int a_begin = request.a_begin + shift(a), b_begin = request.b_begin + shift(b);
    request.plane = static_cast<std::int16_t>(plane);
    request.a_begin = static_cast<std::int16_t>(std::max(a_begin, 0));
    request.b_begin = static_cast<std::int16_t>(std::max(b_begin, 0));
    request.a_end = static_cast<std::int16_t>(std::min(request.a_end + shift(a), M));
    request.b_end = static_cast<std::int16_t>(std::min(request.b_end + shift(b), M));
    if (request.a_begin >= request.a_end || request.b_begin >= request.b_end) return;
    request.base += (request.a_begin - a_begin) / faces +
                    static_cast<std::int64_t>(request.b_begin - b_begin) / faces * request.stride_b;
    tile_requests.push_back(request);
  }
};

void Tiling::follow(int patch, const LevelNeeds& needs, const BlockFluxRequests& requests,
                    LevelHalo& halo) {
  if (patch != patch_ || needs.first_need_box() != first_need_box_)
    begin_anew(patch, needs.first_need_box());
  const TreeLevel& blocks = tree_.level(level_);
  for (const Key key : blocks.changed()) touch(key);
  for (const int slot : needs.touched())
    if (slot < blocks.slots() && blocks.key(slot) != k_no_key) touch(blocks.key(slot));
  gather_groups();
  TileBuilder builder{*this, requests, {}, {}, {}, {}, {}};
  for (const int group : order_) {
    if (groups_[group].touched) write_table(group, needs);
    builder.add(group);
  }

  halo.interior_tiles = static_cast<int>(builder.interior.size());
  std::vector<Tile> tiles = std::move(builder.interior);
  tiles.insert(tiles.end(), builder.border.begin(), builder.border.end());

  halo.tile_slots.clear();
  halo.tile_slot_begin = {0};
  for (const auto* groups : {&builder.interior_groups, &builder.border_groups})
    for (const Group* group : *groups) {
      halo.tile_slots.insert(halo.tile_slots.end(), group->slots.begin(), group->slots.end());
      halo.tile_slot_begin.push_back(static_cast<std::int32_t>(halo.tile_slots.size()));
    }

  halo.tiles.block_size = block_size_;
  halo.tiles.log2_block_size = std::countr_zero(static_cast<unsigned>(block_size_));
  halo.tiles.patch = patch_;
  halo.tiles.blocks_per_patch = blocks_per_patch_;
  halo.tiles.reach = reach_;
  halo.tiles.tiles = to_device("tiles", tiles);
  halo.tiles.table = to_device("tile table", table_);
  halo.tiles.requests = to_device("flux requests", builder.tile_requests);
}

}  // namespace octant::mesh
