#include "mesh/tiling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "mesh/device.hpp"

namespace octant::mesh {

namespace {

constexpr std::array<int, 3> offset_of(int neighbour) {
  return {neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1};
}

// The box around the ghost cells that lie in the neighbour at `offset` of a block; empty if there
// are none.
Region ghost_region(const std::array<int, 3>& offset, int block_size, const GhostShape& ghosts) {
  const int axes = std::abs(offset[0]) + std::abs(offset[1]) + std::abs(offset[2]);
  const int depth = ghosts.layers_across(axes);
  Region region;
  if (depth <= 0) return region;
  for (int d = 0; d < 3; ++d) {
    region.begin[d] = static_cast<std::int16_t>(offset[d] < 0 ? block_size - depth : 0);
    region.end[d] = static_cast<std::int16_t>(offset[d] > 0 ? depth : block_size);
  }
  return region;
}

}  // namespace

Tiling::Tiling(const Tree& tree, int level, int patch)
    : tree_(tree),
      level_(level),
      patch_(patch),
      block_size_(tree.geometry().block_size()),
      blocks_per_patch_(std::max(1, patch / block_size_)),
      reach_(blocks_per_patch_ + 2) {
  const TreeLevel& blocks = tree.level(level);
  const int shift = std::countr_zero(static_cast<unsigned>(blocks_per_patch_));
  Key last = k_no_key;
  for (const int slot : blocks.own()) {
    const Key ancestor = blocks.key(slot) >> (3 * shift);
    if (ancestor != last) {
      BlockCoordinates first = morton_decode(ancestor);
      for (auto& c : first) c <<= shift;
      groups_.push_back({{}, first, std::vector<Reference>(reach_ * reach_ * reach_, k_nowhere)});
      last = ancestor;
    }
    groups_.back().slots.push_back(slot);
  }
}

std::array<int, 3> Tiling::place_in_group(const Group& group, int slot) const {
  const BlockCoordinates c = morton_decode(tree_.level(level_).key(slot));
  return {static_cast<int>(c[0] - group.first[0]), static_cast<int>(c[1] - group.first[1]),
          static_cast<int>(c[2] - group.first[2])};
}

void Tiling::require_ghosts(LevelNeeds& needs, const GhostShape& ghosts) {
  std::array<Region, 27> regions;
  for (int n = 0; n < 27; ++n) regions[n] = ghost_region(offset_of(n), block_size_, ghosts);
  for (Group& group : groups_) {
    for (const int slot : group.slots) {
      const auto place = place_in_group(group, slot);
      const Neighbours& holders = tree_.level(level_).neighbours(slot);
      for (int n = 0; n < 27; ++n) {
        if (regions[n].empty()) continue;
        const auto offset = offset_of(n);
        BlockCoordinates position = group.first;
        for (int d = 0; d < 3; ++d) position[d] += place[d] + offset[d];
        group.table[table_index(place[0] + offset[0] + 1, place[1] + offset[1] + 1,
                                place[2] + offset[2] + 1)] =
            is_own(holders[n]) ? holders[n] : needs.require(position, regions[n]);
      }
    }
    for (const int slot : group.slots) {
      const auto place = place_in_group(group, slot);
      group.table[table_index(place[0] + 1, place[1] + 1, place[2] + 1)] = slot;
    }
  }
}

// Collects the device tables of a level.
struct Tiling::TileBuilder {
  const Tiling& tiling;
  const LevelNeeds& needs;
  const BlockFluxRequests& requests;
  std::vector<CellBox>& boxes;
  std::vector<Tile> interior, border;
  std::vector<const Group*> interior_groups, border_groups;  // of each tile
  std::vector<std::int32_t> table;
  std::vector<FluxRequest> tile_requests;

  void add(const Group& group) {
    const auto first_entry = static_cast<std::int32_t>(table.size());
    bool afar = false;
    for (int k = 0; k < tiling.reach_; ++k)
      for (int j = 0; j < tiling.reach_; ++j)
        for (int i = 0; i < tiling.reach_; ++i) {
          const Reference r = group.table[tiling.table_index(i, j, k)];
          table.push_back(r >= 0 && is_borrowed(group, r, {i - 1, j - 1, k - 1}) ? borrow(r)
                                                                                 : needs.box_of(r));
          afar = afar || needs.comes_from_afar(r);
        }
    for (const auto& origin : origins()) {
      Tile tile{.table = first_entry,
                .request_begin = static_cast<std::int32_t>(tile_requests.size()),
                .request_end = 0,
                .origin = {origin[0], origin[1], origin[2]},
                .unused = 0,
                .first = {}};
      for (int d = 0; d < 3; ++d)
        tile.first[d] = std::int64_t{group.first[d]} * tiling.block_size_ + origin[d];
      for (const int slot : group.slots)
        for (const FluxRequest& request : requests[slot])
          add_request(request, tiling.place_in_group(group, slot), origin);
      tile.request_end = static_cast<std::int32_t>(tile_requests.size());
      (afar ? border : interior).push_back(tile);
      (afar ? border_groups : interior_groups).push_back(&group);
    }
  }

  // An own block among the tile's central ones that is there only because a periodic axis wraps.
  bool is_borrowed(const Group& group, int slot, const std::array<int, 3>& place) const {
    for (int d = 0; d < 3; ++d)
      if (place[d] < 0 || place[d] >= tiling.blocks_per_patch_) return false;
    return tiling.place_in_group(group, slot) != place;
  }

  std::int32_t borrow(int slot) {
    CellBox box = boxes[slot];
    box.buffer = k_borrowed;
    boxes.push_back(box);
    return static_cast<std::int32_t>(boxes.size() - 1);
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

void Tiling::finish(const LevelNeeds& needs, const BlockFluxRequests& requests,
                    std::vector<CellBox>& boxes, LevelHalo& halo) const {
  TileBuilder builder{*this, needs, requests, boxes, {}, {}, {}, {}, {}, {}};
  for (const Group& group : groups_) builder.add(group);

  halo.interior_tiles = static_cast<int>(builder.interior.size());
  std::vector<Tile> tiles = std::move(builder.interior);
  tiles.insert(tiles.end(), builder.border.begin(), builder.border.end());

  halo.tile_slot_begin = {0};
  for (const auto* groups : {&builder.interior_groups, &builder.border_groups})
    for (const Group* group : *groups) {
      halo.tile_slots.insert(halo.tile_slots.end(), group->slots.begin(), group->slots.end());
      halo.tile_slot_begin.push_back(static_cast<std::int32_t>(halo.tile_slots.size()));
    }

  halo.face_boxes.assign(tree_.level(level_).slots(), {-1, -1, -1, -1, -1, -1});
  for (const Group& group : groups_)
    for (const int slot : group.slots)
      for (int face = 0; face < 6; ++face) {
        auto place = place_in_group(group, slot);
        place[face / 2] += face % 2 == 0 ? -1 : 1;
        const Reference r = group.table[table_index(place[0] + 1, place[1] + 1, place[2] + 1)];
        halo.face_boxes[slot][face] = needs.box_of(r);
      }

  halo.tiles.block_size = block_size_;
  halo.tiles.log2_block_size = std::countr_zero(static_cast<unsigned>(block_size_));
  halo.tiles.patch = patch_;
  halo.tiles.blocks_per_patch = blocks_per_patch_;
  halo.tiles.reach = reach_;
  halo.tiles.tiles = to_device("tiles", tiles);
  halo.tiles.table = to_device("tile table", builder.table);
  halo.tiles.requests = to_device("flux requests", builder.tile_requests);
}

}  // namespace octant::mesh
