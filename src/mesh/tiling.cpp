#include "mesh/tiling.hpp"

#include <algorithm>
#include <bit>

namespace octant::mesh {

namespace {

constexpr std::uint32_t k_all_positions = (1u << 27) - 1;

}  // namespace

void Tiling::begin_anew(int patch, int first_need_box) {
  patch_ = patch;
  first_need_box_ = first_need_box;
  block_size_ = tree_.geometry().block_size();
  blocks_per_patch_ = std::max(1, patch / block_size_);
  reach_ = blocks_per_patch_ + 2;
  shift_ = 3 * std::countr_zero(static_cast<unsigned>(blocks_per_patch_));
  for (int n = 0; n < 27; ++n)
    steps_[n] = ((n / 9 - 1) * reach_ + n / 3 % 3 - 1) * reach_ + n % 3 - 1;
  origins_.clear();
  const int parts = std::max(1, block_size_ / patch);
  for (int n = 0; n < parts * parts * parts; ++n)
    origins_.push_back({static_cast<std::int16_t>(n % parts * patch),
                        static_cast<std::int16_t>(n / parts % parts * patch),
                        static_cast<std::int16_t>(n / parts / parts * patch)});
  places_.clear();
  groups_.clear();
  index_.clear();
  touched_.clear();
  free_.clear();
  order_.clear();
  for (const int slot : tree_.level(level_).own()) put(slot, tree_.level(level_).key(slot));
}

// Puts blocks that came into their groups, and takes those out that went.
void Tiling::update_places() {
  const TreeLevel& blocks = tree_.level(level_);
  for (const int slot : blocks.touched())
    if (slot < std::ssize(places_) && places_[slot].key != k_no_key &&
        (slot >= blocks.slots() || places_[slot].key != blocks.key(slot)))
      take(slot);
  for (const int slot : blocks.touched())
    if (slot < blocks.slots() && blocks.key(slot) != k_no_key &&
        (slot >= std::ssize(places_) || places_[slot].key == k_no_key))
      put(slot, blocks.key(slot));
  forget_empty_groups();
}

void Tiling::put(int slot, Key key) {
  if (slot >= std::ssize(places_)) places_.resize(slot + 1);
  const int number = group_under(key >> shift_);
  touch(number).is_retiled = true;
  places_[slot] = {key, number};
  std::vector<std::int32_t>& slots = groups_[number].slots;
  const auto after = [this](Key k, std::int32_t other) { return k < places_[other].key; };
  slots.insert(std::upper_bound(slots.begin(), slots.end(), key, after), slot);
}

void Tiling::take(int slot) {
  Group& group = touch(places_[slot].group);
  group.is_remade = group.is_retiled = true;
  std::erase(group.slots, slot);
  places_[slot] = {};
}

Tiling::Group& Tiling::touch(int group) {
  if (!groups_[group].touched) touched_.push_back(group);
  groups_[group].touched = true;
  return groups_[group];
}

// Of a slot, -1 where it has no block.
int Tiling::group_of(int slot) const {
  return slot < std::ssize(places_) ? places_[slot].group : -1;
}

int Tiling::group_under(Key ancestor) {
  if (const std::int32_t* known = index_.find(ancestor)) return *known;
  auto number = static_cast<int>(groups_.size());
  if (free_.empty()) {
    groups_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  index_.insert(ancestor, number);
  Group& group = groups_[number];
  group.ancestor = ancestor;
  group.is_remade = true;
  group.first = morton_decode(ancestor);
  for (auto& c : group.first) c *= blocks_per_patch_;
  order_.push_back(number);
  return number;
}

// And orders the others by their keys.
void Tiling::forget_empty_groups() {
  std::erase_if(order_, [this](int n) { return groups_[n].slots.empty(); });
  std::erase_if(touched_, [this](int n) {
    if (!groups_[n].slots.empty()) return false;
    index_.erase(groups_[n].ancestor);
    groups_[n] = {};
    free_.push_back(n);
    return true;
  });
  const auto by_key = [this](int a, int b) { return groups_[a].ancestor < groups_[b].ancestor; };
  const auto sorted = std::is_sorted_until(order_.begin(), order_.end(), by_key);
  std::sort(sorted, order_.end(), by_key);
  std::inplace_merge(order_.begin(), sorted, order_.end(), by_key);
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

void Tiling::write_table(int number, const LevelNeeds& needs,
                         DeviceTable<std::int32_t>& tables) const {
  const Group& group = groups_[number];
  std::int32_t* const table = table_of(number, tables);
  std::fill_n(table, entries(), k_nowhere);
  for (const int slot : group.slots) write_row(group, slot, k_all_positions, needs, table);
}

// The entries of a block and, as its sweep reads them, of some positions around it.
void Tiling::write_row(const Group& group, int slot, std::uint32_t positions,
                       const LevelNeeds& needs, std::int32_t* table) const {
  const std::array<int, 3> centre = place_in_group(group, slot);
  std::int32_t* const own = table + table_index(centre);
  const std::array<Reference, 27>& around = needs.around(slot);
  for (; positions != 0; positions &= positions - 1) {
    const int n = std::countr_zero(positions);
    const Reference r = around[n];
    if (r == k_nowhere) continue;
    const bool is_borrowed =
        r >= 0 && needs.may_borrow() &&
        reaches_itself(group, r,
                       {centre[0] + n % 3 - 1, centre[1] + n / 3 % 3 - 1, centre[2] + n / 9 - 1});
    own[steps_[n]] = is_borrowed ? needs.borrowed_box_of(r) : needs.box_of(r);
  }
  *own = slot;
}

bool Tiling::reaches_afar(const Group& group, const LevelNeeds& needs) {
  return std::any_of(group.slots.begin(), group.slots.end(), [&](int slot) {
    return std::any_of(needs.around(slot).begin(), needs.around(slot).end(),
                       [&](Reference r) { return needs.comes_from_afar(r); });
  });
}

void Tiling::write_tiles(int number, const BlockFluxRequests& requests) {
  Group& group = groups_[number];
  group.requests.clear();
  group.tiles.clear();
  for (const auto& origin : origins_) {
    Tile tile{.table = number * entries(),
              .request_begin = static_cast<std::int32_t>(group.requests.size()),
              .request_end = 0,
              .origin = {origin[0], origin[1], origin[2]},
              .unused = 0,
              .first = {}};
    for (int d = 0; d < 3; ++d)
      tile.first[d] = std::int64_t{group.first[d]} * block_size_ + origin[d];
    for (const int slot : group.slots) {
      if (requests[slot].empty()) continue;
      const auto place = place_in_group(group, slot);
      for (const FluxRequest& request : requests[slot]) add_request(group, request, place, origin);
    }
    tile.request_end = static_cast<std::int32_t>(group.requests.size());
    group.tiles.push_back(tile);
  }
}

// Moves a request from block cells to patch cells and keeps the part inside the patch.
void Tiling::add_request(Group& group, const FluxRequest& request, const std::array<int, 3>& place,
                         const std::array<std::int16_t, 3>& origin) const {
  const int N = block_size_, M = patch_;
  const int a = request.axis == 0 ? 1 : 0, b = request.axis == 2 ? 1 : 2;
  const auto shift = [&](int axis) { return place[axis] * N - origin[axis]; };
  // A plane between two parts of a block belongs to the upper one, the block's last plane to the
  // last.
  const int plane = request.plane + shift(request.axis);
  const bool last_part = origin[request.axis] + M >= N;
  if (plane < 0 || plane > M || (plane == M && !last_part)) return;
  const int a_first = request.a_begin + shift(a), b_first = request.b_begin + shift(b);
  const int a_begin = std::max(a_first, 0), a_end = std::min(request.a_end + shift(a), M);
  const int b_begin = std::max(b_first, 0), b_end = std::min(request.b_end + shift(b), M);
  if (a_begin >= a_end || b_begin >= b_end) return;
  const int faces = request.average ? 2 : 1;
  FluxRequest& part = group.requests.emplace_back(request);
  part.plane = static_cast<std::int16_t>(plane);
  part.a_begin = static_cast<std::int16_t>(a_begin);
  part.b_begin = static_cast<std::int16_t>(b_begin);
  part.a_end = static_cast<std::int16_t>(a_end);
  part.b_end = static_cast<std::int16_t>(b_end);
  part.base += (a_begin - a_first) / faces +
               static_cast<std::int64_t>(b_begin - b_first) / faces * request.stride_b;
}

// The tiles of all groups, those that need no other rank's data first.
void Tiling::write_lists(LevelHalo& halo) const {
  halo.tile_list.clear();
  halo.tile_requests.clear();
  halo.tile_slots.clear();
  halo.tile_slot_begin = {0};
  for (const bool afar : {false, true}) {
    for (const int number : order_) {
      const Group& group = groups_[number];
      if (group.afar != afar) continue;
      const auto begin = static_cast<std::int32_t>(halo.tile_requests.size());
      halo.tile_requests.resize(begin + group.requests.size());
      std::copy(group.requests.begin(), group.requests.end(),
                halo.tile_requests.write(begin, group.requests.size()));
      for (Tile tile : group.tiles) {
        tile.request_begin += begin;
        tile.request_end += begin;
        halo.tile_list.push_back(tile);
        halo.tile_slots.insert(halo.tile_slots.end(), group.slots.begin(), group.slots.end());
        halo.tile_slot_begin.push_back(static_cast<std::int32_t>(halo.tile_slots.size()));
      }
    }
    if (!afar) halo.interior_tiles = static_cast<int>(halo.tile_list.size());
  }
}

void Tiling::follow(int patch, const LevelNeeds& needs, const BlockFluxRequests& requests,
                    LevelHalo& halo) {
  if (patch != patch_ || needs.first_need_box() != first_need_box_)
    begin_anew(patch, needs.first_need_box());
  update_places();
  halo.tile_table.resize(groups_.size() * entries());
  for (const auto& [slot, positions] : needs.rewritten())
    if (const int group = group_of(slot); group >= 0 && !groups_[group].is_remade)
      write_row(groups_[group], slot, positions, needs, table_of(group, halo.tile_table));
  for (const int slot : requests.changed())
    if (const int group = group_of(slot); group >= 0) touch(group).is_retiled = true;
  // Other ranks' blocks may have become interpolated ones.
  const bool alone = tree_.communicator().size() == 1;
  if (!alone)
    for (const int slot : tree_.level(level_).touched())
      if (const int group = group_of(slot); group >= 0) touch(group);
  for (const int number : touched_) {
    Group& group = groups_[number];
    if (group.is_remade) write_table(number, needs, halo.tile_table);
    if (group.is_retiled) write_tiles(number, requests);
    group.afar = !alone && reaches_afar(group, needs);
    group.touched = group.is_remade = group.is_retiled = false;
  }
  touched_.clear();
  write_lists(halo);

  halo.tiles.block_size = block_size_;
  halo.tiles.log2_block_size = std::countr_zero(static_cast<unsigned>(block_size_));
  halo.tiles.patch = patch_;
  halo.tiles.blocks_per_patch = blocks_per_patch_;
  halo.tiles.reach = reach_;
  halo.tile_table.upload();
  halo.tile_list.upload();
  halo.tile_requests.upload();
  halo.tiles.tiles = halo.tile_list.on_device();
  halo.tiles.table = halo.tile_table.on_device();
  halo.tiles.requests = halo.tile_requests.on_device();
}

}  // namespace octant::mesh
