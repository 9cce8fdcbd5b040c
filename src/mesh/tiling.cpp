#include "mesh/ghost_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace octant::mesh {

namespace {

std::array<int, 3> neighbour_of(const std::array<int, 3>& place, int n) {
  return {place[0] + n % 3 - 1, place[1] + n / 3 % 3 - 1, place[2] + n / 9 - 1};
}

// Number of rounds of a sweep in which each thread processes one patch per round. On a device,
// which processes many patches at once, returns the number of patches.
double rounds(std::int64_t patches) {
  const std::int64_t threads = k_device_is_host ? Kokkos::DefaultExecutionSpace().concurrency() : 1;
  const std::int64_t rounds = (patches + threads - 1) / threads;
  return static_cast<double>(rounds);
}

}  // namespace

// Returns the patch size with the smaller estimated sweep time. Large patches have fewer ghosts and
// longer rows, and sweeps skip missing blocks: a large patch that contains n small ones takes
// 0.35 + 0.87 n times as long as a small patch. However, fewer patches can be distributed over
// threads. A change of size rewrites all tables and is made only if it gains at least 1.3 %.
// Results do not depend on the size, so that each rank selects it independently.
int Tiling::faster_patch() const {
  constexpr double k_of_itself = 0.35, k_per_small = 0.87, k_min_gain = 1.013;
  const int block_size = tree_.geometry().block_size();
  if (block_size >= 16) return 16;
  if (block_size == 2) return 8;
  const TreeLevel& blocks = tree_.level(level_);
  if (patch_ > 0 && blocks.touched().empty()) return patch_;
  const Cubes patches(block_size, 8);
  std::int64_t small = 0, large = 0;  // patches that contain own blocks
  Key last = k_no_key;
  for (const int slot : blocks.own()) {
    const Key patch = patches.key_of(blocks.key(slot));
    if (patch == last) continue;
    ++small;
    large += last == k_no_key || parent_key(patch) != parent_key(last);
    last = patch;
  }
  // Sweep times, in units of the sweep time of one small patch.
  const double filled =
      static_cast<double>(small) / static_cast<double>(std::max<std::int64_t>(large, 1));
  const double time_of_small = rounds(small);
  const double time_of_large = rounds(large) * (k_of_itself + k_per_small * filled);
  if (patch_ == 16 && time_of_large < k_min_gain * time_of_small) return 16;
  if (patch_ == 8 && time_of_small < k_min_gain * time_of_large) return 8;
  return time_of_large < time_of_small ? 16 : 8;
}

void Tiling::begin_anew(int patch, int first_source_box) {
  patch_ = patch;
  first_source_box_ = first_source_box;
  block_size_ = tree_.geometry().block_size();
  patches_ = Cubes(block_size_, patch);
  blocks_per_patch_ = patches_.blocks_across();
  reach_ = blocks_per_patch_ + 2;
  for (int n = 0; n < 27; ++n)
    steps_[n] = ((n / 9 - 1) * reach_ + n / 3 % 3 - 1) * reach_ + n % 3 - 1;
  origins_.clear();
  for (int n = 0; n < patches_.cubes_per_block(); ++n) {
    const auto [x, y, z] = patches_.position_in_block(n);
    origins_.push_back({static_cast<std::int16_t>(x * patch), static_cast<std::int16_t>(y * patch),
                        static_cast<std::int16_t>(z * patch)});
  }
  places_.clear();
  groups_.clear();
  index_.clear();
  touched_.clear();
  free_.clear();
  order_.clear();
  removed_blocks_.clear();
  for (const int slot : tree_.level(level_).own()) put(slot, tree_.level(level_).key(slot));
}

// Adds new blocks to their groups and deletes removed blocks from them.
void Tiling::update_positions() {
  const TreeLevel& blocks = tree_.level(level_);
  for (const int slot : blocks.touched())
    if (slot < std::ssize(places_) && places_[slot].key != k_no_key &&
        (slot >= blocks.slots() || places_[slot].key != blocks.key(slot)))
      take(slot);
  for (const int slot : blocks.touched())
    if (slot < blocks.slots() && blocks.key(slot) != k_no_key &&
        (slot >= std::ssize(places_) || places_[slot].key == k_no_key))
      put(slot, blocks.key(slot));
  remove_empty_groups();
}

void Tiling::put(int slot, Key key) {
  if (slot >= std::ssize(places_)) places_.resize(slot + 1);
  const int number = group_under(patches_.cubes_per_block() == 1 ? patches_.key_of(key) : key);
  Group& group = touch(number);
  const BlockCoordinates c = patches_.position_in_cube(key);
  places_[slot] = {key, number, {}};
  for (int d = 0; d < 3; ++d) places_[slot].in_group[d] = static_cast<std::int8_t>(c[d]);
  const auto after = [this](Key k, std::int32_t other) { return k < places_[other].key; };
  const auto place = std::upper_bound(group.slots.begin(), group.slots.end(), key, after);
  if (group.slots.empty()) group.counts.assign(origins_.size(), 0);
  else group.counts.insert(group.counts.begin() + (place - group.slots.begin()), 0);
  group.slots.insert(place, slot);
}

void Tiling::take(int slot) {
  const int number = places_[slot].group;
  Group& group = touch(number);
  removed_blocks_.push_back({number, group.ancestor, position_in_group(slot)});
  const auto place = std::find(group.slots.begin(), group.slots.end(), slot);
  const auto part = static_cast<int>(place - group.slots.begin());
  replace_requests(group, part, {});
  group.counts.erase(group.counts.begin() + part);
  group.slots.erase(place);
  if (group.slots.empty()) {
    group.requests.clear();
    group.is_new = true;  // written in full if blocks are added again
  }
  places_[slot] = {};
}

Tiling::Group& Tiling::touch(int group) {
  if (!groups_[group].touched) touched_.push_back(group);
  groups_[group].touched = true;
  return groups_[group];
}

// Group of a slot, or -1 if the slot has no block.
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
  group.is_new = true;
  group.first = morton_decode(ancestor);
  for (auto& c : group.first) c *= blocks_per_patch_;
  order_.push_back(number);
  return number;
}

// Releases empty groups and sorts the others by key.
void Tiling::remove_empty_groups() {
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

std::array<int, 3> Tiling::position_in_group(int slot) const {
  const auto [x, y, z] = places_[slot].in_group;
  return {x, y, z};
}

bool Tiling::is_central(const std::array<int, 3>& place) const {
  return std::all_of(place.begin(), place.end(),
                     [this](int c) { return c >= 0 && c < blocks_per_patch_; });
}

// Returns true if an own block lies at a central position of a tile only as a periodic image.
bool Tiling::reaches_itself(int group, int slot, const std::array<int, 3>& place) const {
  return is_central(place) && (places_[slot].group != group || position_in_group(slot) != place);
}

// Applies changes to tables that are not rewritten completely.
void Tiling::write_rows(const GhostPlan& plan, DeviceTable<std::int32_t>& tables) {
  std::erase_if(removed_blocks_, [this](const RemovedBlock& lost) {
    const Group& group = groups_[lost.group];
    return group.ancestor != lost.ancestor || group.is_new;
  });
  for (const RemovedBlock& lost : removed_blocks_)
    table_of(lost.group, tables)[table_index(lost.place)] = k_none;
  for (const auto& [slot, positions] : plan.rewritten())
    if (const int group = group_of(slot); group >= 0 && !groups_[group].is_new)
      write_row(slot, positions, plan, table_of(group, tables));
  for (const RemovedBlock& lost : removed_blocks_)
    clear_unread(lost, plan, table_of(lost.group, tables));
  removed_blocks_.clear();
}

// Clears the table entries that were read only by a removed block.
void Tiling::clear_unread(const RemovedBlock& lost, const GhostPlan& plan,
                          std::int32_t* table) const {
  for (Positions rest = plan.read_positions(); rest != 0; rest &= rest - 1) {
    const std::array<int, 3> place = neighbour_of(lost.place, std::countr_zero(rest));
    if (!is_read(place, plan, table)) table[table_index(place)] = k_none;
  }
}

// Returns true if a block of the group lies at position `place` of the table, or if its sweep reads
// this position.
bool Tiling::is_read(const std::array<int, 3>& place, const GhostPlan& plan,
                     const std::int32_t* table) const {
  const auto first = [](int c) { return std::max(c - 1, 0); };
  const auto end = [this](int c) { return std::min(c + 2, blocks_per_patch_); };
  const auto [x, y, z] = place;
  for (int k = first(z); k < end(z); ++k)
    for (int j = first(y); j < end(y); ++j)
      for (int i = first(x); i < end(x); ++i) {
        const int n = 13 + 9 * (z - k) + 3 * (y - j) + x - i;
        if ((plan.read_positions() >> n & 1) != 0 &&
            plan.is_box_of_slot(table[table_index({i, j, k})]))
          return true;
      }
  return false;
}

void Tiling::write_table(int number, const GhostPlan& plan,
                         DeviceTable<std::int32_t>& tables) const {
  const Group& group = groups_[number];
  std::int32_t* const table = table_of(number, tables);
  std::fill_n(table, entries(), k_none);
  for (const int slot : group.slots) write_row(slot, k_all_positions, plan, table);
}

// Writes the table entries of a block and of those `positions` around it that its sweep reads.
void Tiling::write_row(int slot, Positions positions, const GhostPlan& plan,
                       std::int32_t* table) const {
  const std::array<int, 3> centre = position_in_group(slot);
  const int group = places_[slot].group;
  std::int32_t* const own = table + table_index(centre);
  const std::array<Reference, 27>& around = plan.around(slot);
  for (; positions != 0; positions &= positions - 1) {
    const int n = std::countr_zero(positions);
    const Reference r = around[n];
    if (r == k_none) continue;
    const bool is_borrowed =
        r >= 0 && plan.may_borrow() && reaches_itself(group, r, neighbour_of(centre, n));
    own[steps_[n]] = is_borrowed ? plan.borrowed_box_of(r) : plan.box_of(r);
  }
  *own = slot;
}

bool Tiling::reads_remote_data(const Group& group, const GhostPlan& plan) {
  return std::any_of(group.slots.begin(), group.slots.end(), [&](int slot) {
    return std::any_of(plan.around(slot).begin(), plan.around(slot).end(),
                       [&](Reference r) { return plan.is_remote(r); });
  });
}

// Writes the requests of a block to the tiles that contain it.
void Tiling::write_requests(int slot, const FluxRequests& requests) {
  const int number = group_of(slot);
  if (number < 0) return;
  Group& group = groups_[number];
  const std::array<int, 3> place = position_in_group(slot);
  of_block_.clear();
  requests.append(slot, of_block_);
  auto part = static_cast<int>(std::find(group.slots.begin(), group.slots.end(), slot) -
                               group.slots.begin());
  for (const auto& origin : origins_) {
    of_tile_.clear();
    for (const FluxRegisterFaces& request : of_block_)
      add_request(request, place, origin, of_tile_);
    replace_requests(group, part++, of_tile_);
  }
}

void Tiling::replace_requests(Group& group, int part, std::span<const FluxRegisterFaces> requests) {
  const auto begin =
      group.requests.begin() +
      std::accumulate(group.counts.begin(), group.counts.begin() + part, std::ptrdiff_t{0});
  const std::ptrdiff_t count = group.counts[part], kept = std::min(count, std::ssize(requests));
  std::copy_n(requests.begin(), kept, begin);
  if (count > kept) group.requests.erase(begin + kept, begin + count);
  else group.requests.insert(begin + kept, requests.begin() + kept, requests.end());
  group.counts[part] = static_cast<int>(requests.size());
}

// Converts a request from block cells to patch cells and keeps the part inside the patch.
void Tiling::add_request(const FluxRegisterFaces& request, const std::array<int, 3>& place,
                         const std::array<std::int16_t, 3>& origin,
                         std::vector<FluxRegisterFaces>& requests) const {
  const int N = block_size_, M = patch_;
  const int a = request.axis == 0 ? 1 : 0, b = request.axis == 2 ? 1 : 2;
  const auto shift = [&](int axis) { return place[axis] * N - origin[axis]; };
  // A plane between two parts of a block belongs to the upper part; the last plane of the block
  // belongs to the last part.
  const int plane = request.plane + shift(request.axis);
  const bool last_part = origin[request.axis] + M >= N;
  if (plane < 0 || plane > M || (plane == M && !last_part)) return;
  const int a_first = request.a_begin + shift(a), b_first = request.b_begin + shift(b);
  const int a_begin = std::max(a_first, 0), a_end = std::min(request.a_end + shift(a), M);
  const int b_begin = std::max(b_first, 0), b_end = std::min(request.b_end + shift(b), M);
  if (a_begin >= a_end || b_begin >= b_end) return;
  const int faces = request.average ? 2 : 1;
  FluxRegisterFaces& part = requests.emplace_back(request);
  part.plane = static_cast<std::int16_t>(plane);
  part.a_begin = static_cast<std::int16_t>(a_begin);
  part.b_begin = static_cast<std::int16_t>(b_begin);
  part.a_end = static_cast<std::int16_t>(a_end);
  part.b_end = static_cast<std::int16_t>(b_end);
  part.base += (a_begin - a_first) / faces +
               static_cast<std::int64_t>(b_begin - b_first) / faces * request.stride_b;
}

// Lists the tiles of all groups; groups without remote data are first.
void Tiling::write_lists(LevelHalo& halo) const {
  halo.tile_list.clear();
  halo.tile_requests.clear();
  halo.tile_slots.clear();
  halo.tile_slot_begin = {0};
  for (const bool has_remote_data : {false, true}) {
    for (const int number : order_) {
      const Group& group = groups_[number];
      if (group.has_remote_data != has_remote_data) continue;
      auto begin = static_cast<std::int32_t>(halo.tile_requests.size());
      halo.tile_requests.resize(begin + group.requests.size());
      std::copy(group.requests.begin(), group.requests.end(),
                halo.tile_requests.write(begin, group.requests.size()));
      const std::int32_t end = begin + static_cast<std::int32_t>(group.requests.size());
      for (std::size_t t = 0; t < origins_.size(); ++t) {
        Tile tile{.table = number * entries(),
                  .request_begin = begin,
                  .request_end = origins_.size() == 1 ? end : begin + group.counts[t],
                  .origin = {origins_[t][0], origins_[t][1], origins_[t][2]},
                  .unused = 0,
                  .first = {}};
        for (int d = 0; d < 3; ++d)
          tile.first[d] = std::int64_t{group.first[d]} * block_size_ + tile.origin[d];
        begin = tile.request_end;
        halo.tile_list.push_back(tile);
        halo.tile_slots.insert(halo.tile_slots.end(), group.slots.begin(), group.slots.end());
        halo.tile_slot_begin.push_back(static_cast<std::int32_t>(halo.tile_slots.size()));
      }
    }
    if (!has_remote_data) halo.interior_tiles = static_cast<int>(halo.tile_list.size());
  }
}

void Tiling::follow(int patch, const GhostPlan& plan, const FluxRequests& requests,
                    LevelHalo& halo) {
  if (patch == 0) patch = faster_patch();
  const bool begins_anew = patch != patch_ || plan.first_source_box() != first_source_box_;
  if (begins_anew) begin_anew(patch, plan.first_source_box());
  update_positions();
  halo.tile_table.resize(groups_.size() * entries());
  write_rows(plan, halo.tile_table);
  const std::span<const int> own = tree_.level(level_).own();
  for (const int slot : begins_anew ? own : std::span<const int>(requests.changed))
    write_requests(slot, requests);
  // True if this is the only rank, so that no group reads remote data.
  const bool alone = tree_.communicator().size() == 1;
  if (!alone)
    for (const int slot : tree_.level(level_).touched())
      if (const int group = group_of(slot); group >= 0) touch(group);
  for (const int number : touched_) {
    Group& group = groups_[number];
    if (group.is_new) write_table(number, plan, halo.tile_table);
    group.has_remote_data = !alone && reads_remote_data(group, plan);
    group.touched = group.is_new = false;
  }
  touched_.clear();
  write_lists(halo);

  halo.tiles.block_size = block_size_;
  halo.tiles.log2_block_size = std::countr_zero(static_cast<unsigned>(block_size_));
  halo.tiles.patch = patch_;
  const Geometry& geometry = tree_.geometry();
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      if (const Boundary boundary = geometry.boundary(axis, side);
          boundary == Boundary::reflecting || boundary == Boundary::diode)
        halo.tiles.closed[axis][side] = {
            side == 0 ? 0 : std::int64_t{geometry.extent(level_)[axis]} * block_size_,
            boundary == Boundary::diode};
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
