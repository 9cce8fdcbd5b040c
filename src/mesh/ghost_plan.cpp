#include "mesh/ghost_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "core/error.hpp"

namespace octant::mesh {

void Region::merge(const Region& other) {
  if (empty()) {
    *this = other;
    return;
  }
  for (int d = 0; d < 3; ++d) {
    begin[d] = std::min(begin[d], other.begin[d]);
    end[d] = std::max(end[d], other.end[d]);
  }
}

namespace {

// Key of a block position in the domain or up to one block outside.
Key position_key(const BlockCoordinates& c) {
  return morton_encode({c[0] + 1, c[1] + 1, c[2] + 1});
}

constexpr std::array<int, 3> offset_of(int neighbour) {
  return {neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1};
}

// Box of the ghost cells of a block that lie in the neighbour at `offset`; may be empty.
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

// Returns true if tiles of any size could extend across a periodic boundary to blocks of other
// tiles.
bool tiles_overlap(const Geometry& geometry, int level) {
  constexpr int k_largest_patch = 16;
  const int blocks_per_patch = std::max(1, k_largest_patch / geometry.block_size());
  const BlockCoordinates extent = geometry.extent(level);
  return std::any_of(extent.begin(), extent.end(),
                     [=](BlockCoordinate blocks) { return blocks % blocks_per_patch != 0; });
}

}  // namespace

GhostPlan::GhostPlan(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts,
                     int level)
    : tree_(tree),
      layout_(layout),
      level_(level),
      may_borrow_(tiles_overlap(tree.geometry(), level)) {
  for (int n = 0; n < 27; ++n) {
    ghosts_[n] = ghost_region(offset_of(n), layout.block_size, ghosts);
    if (!ghosts_[n].empty()) read_ |= 1u << n;
  }
}

void GhostPlan::follow() {
  const TreeLevel& blocks = tree_.level(level_);
  for (const Key key : blocks.changed())
    if (const std::int32_t* n = index_.find(position_key(morton_decode(key))))
      coarse_slots_[*n] = k_not_located;
  rows_.resize(std::max(rows_.size(), static_cast<std::size_t>(blocks.slots())));
  rewritten_.clear();
  const auto has_block = [&](int slot) {
    return slot < blocks.slots() && blocks.key(slot) != k_no_key;
  };
  for (const int slot : blocks.touched())
    if (slot < std::ssize(rows_) && (!has_block(slot) || rows_[slot].key != blocks.key(slot)))
      release(rows_[slot]);
  for (const int slot : blocks.touched())
    if (has_block(slot)) request_ghosts(slot, blocks.changed_around(slot) & read_);

  open_.clear();
  for (int n = 0; n < std::ssize(coarse_slots_); ++n) {
    if (coarse_slots_[n] >= 0 && has_changed_coarse_block(coarse_slots_[n]))
      coarse_slots_[n] = k_not_located;
    if (coarse_slots_[n] == k_not_located) open(n);
  }
  for (const int n : changed_)
    if (!sources_[n].is_open) open(n);
  changed_.clear();
}

// Returns true if the coarse block in a slot, or one of its face neighbours, has changed.
bool GhostPlan::has_changed_coarse_block(std::int32_t coarse_slot) const {
  constexpr Positions k_sources = [] {
    Positions sources = 1u << k_middle;
    for (const int face : k_face_neighbours) sources |= 1u << face;
    return sources;
  }();
  return (tree_.level(level_ - 1).changed_around(coarse_slot) & k_sources) != 0;
}

// Marks a source that must be resolved again.
void GhostPlan::open(int n) {
  GhostSource& source = sources_[n];
  source.is_open = true;
  source.is_changed = source.is_required = source.feeds_finer_level = false;
  source.region = region_of(source.requesters);
  open_.push_back(n);
}

void GhostPlan::release(Row& row) {
  if (row.key == k_no_key) return;
  row.key = k_no_key;
  for (int n = 0; n < 27; ++n) drop(row.around[n], n);
}

GhostSource& GhostPlan::change(Reference r) {
  GhostSource& source = sources_[source_index(r)];
  if (!source.is_changed) changed_.push_back(source_index(r));
  source.is_changed = true;
  return source;
}

void GhostPlan::drop(Reference r, int neighbour) {
  if (is_source(r)) change(r).requesters &= ~(1u << neighbour);
}

Region GhostPlan::region_of(Positions requesters) const {
  Region requested;
  for (; requesters != 0; requesters &= requesters - 1)
    requested.merge(ghosts_[std::countr_zero(requesters)]);
  return requested;
}

// Sets the ghost sources of an own block at `positions`, where holders changed and which its sweep
// reads. A source remains valid as long as this rank owns no block at its position.
void GhostPlan::request_ghosts(int slot, Positions positions) {
  if (positions == 0) return;
  Row& row = rows_[slot];
  const Key key = tree_.level(level_).key(slot);
  if (row.key != key) row.around.fill(k_none);
  row.key = key;
  const BlockCoordinates block = morton_decode(key);
  const Neighbours& holders = tree_.level(level_).neighbours(slot);
  Positions changed = 0;
  for (; positions != 0; positions &= positions - 1) {
    const int n = std::countr_zero(positions);
    Reference& r = row.around[n];
    if (is_own(holders[n]) ? r == holders[n] : is_source(r)) continue;
    changed |= 1u << n;
    drop(r, n);
    r = holders[n];
    if (is_own(r)) continue;
    BlockCoordinates position;
    for (int d = 0; d < 3; ++d) position[d] = block[d] + offset_of(n)[d];
    tree_.geometry().wrap(level_, position);
    r = number_of(position);
    change(r).requesters |= 1u << n;
  }
  if (changed != 0) rewritten_.push_back({slot, changed});
}

// Returns the source at a position inside the domain, or outside along non-periodic axes; creates
// it if it does not exist.
Reference GhostPlan::number_of(const BlockCoordinates& position) {
  const Key key = position_key(position);
  if (const std::int32_t* known = index_.find(key)) return reference_to_source(*known);
  auto n = static_cast<int>(sources_.size());
  if (free_.empty()) {
    sources_.emplace_back();
    coarse_slots_.emplace_back();
  } else {
    n = free_.back();
    free_.pop_back();
    sources_[n] = {};
  }
  coarse_slots_[n] = k_not_located;
  index_.insert(key, n);
  sources_[n].position = position;
  const BlockCoordinates extent = tree_.geometry().extent(level_);
  for (int d = 0; d < 3; ++d)
    if (position[d] < 0 || position[d] >= extent[d]) sources_[n].is_outside = true;
  return reference_to_source(n);
}

// Requests cells at a block position, wrapped along periodic axes. Returns their reference.
Reference GhostPlan::require(BlockCoordinates position, const Region& region,
                             bool feeds_finer_level) {
  if (tree_.geometry().wrap(level_, position)) {
    const Node* node = tree_.level(level_).find(morton_encode(position));
    if (node && node->slot >= 0) return node->slot;
  }
  const Reference r = number_of(position);
  if (!sources_[source_index(r)].is_open) open(source_index(r));
  coarse_slots_[source_index(r)] = k_not_located;
  GhostSource& source = sources_[source_index(r)];
  source.region.merge(region);
  source.is_required = true;
  source.feeds_finer_level = source.feeds_finer_level || feeds_finer_level;
  return r;
}

void GhostPlan::resolve(GhostPlan* coarser) {
  // Mirrors are resolved first, since they request cells inside the domain.
  for (std::size_t n = 0; n < open_.size(); ++n)
    if (const GhostSource& source = sources_[open_[n]]; source.is_outside && !source.region.empty())
      resolve_mirror(open_[n]);

  for (const int n : open_) {
    GhostSource& source = sources_[n];
    source.is_open = false;
    if (source.is_outside || source.region.empty()) continue;
    if (coarse_slots_[n] < 0) find_holder(n, coarser);
    if (source.origin == Origin::interpolated) interpolate(n, *coarser);
  }
  for (const int n : open_)
    if (sources_[n].origin == Origin::mirrored) {
      const Reference source = mirrors_[n].source;
      sources_[n].scratch =
          is_source(source) && sources_[source_index(source)].origin == Origin::interpolated;
    }
}

// Finds the rank that owns the block at a source's position inside the domain. If no such block
// exists, the source is interpolated.
void GhostPlan::find_holder(int n, GhostPlan* coarser) {
  GhostSource& source = sources_[n];
  const Node* node = tree_.level(level_).find(morton_encode(source.position));
  source.origin = node ? Origin::remote : Origin::interpolated;
  source.owner = node ? node->owner : -1;
  source.scratch = node == nullptr;
  OCTANT_REQUIRE(node || (coarser && !source.feeds_finer_level),
                 "mesh: level {} has no block at ({}, {}, {}), which level {} requires: the levels "
                 "are not properly nested",
                 level_, source.position[0], source.position[1], source.position[2], level_ + 1);
}

void GhostPlan::resolve_mirror(int n) {
  const Geometry& geometry = tree_.geometry();
  const BlockCoordinates extent = geometry.extent(level_);
  const int N = geometry.block_size();
  const Region region = sources_[n].region;
  BoundaryTask mirror{.target = reference_to_source(n),
                      .source = k_none,
                      .region = region,
                      .offset = {0, 0, 0},
                      .sign = {1, 1, 1},
                      .flipped = 0,
                      .inflow = -1};
  BlockCoordinates position = sources_[n].position;
  Region source = region;
  for (int d = 0; d < 3; ++d) {
    if (position[d] >= 0 && position[d] < extent[d]) continue;
    const int side = position[d] < 0 ? 0 : 1;
    position[d] = side == 0 ? 0 : extent[d] - 1;
    switch (geometry.boundary(d, side)) {
      case Boundary::reflecting:
        mirror.offset[d] = static_cast<std::int16_t>(N - 1);
        mirror.sign[d] = -1;
        mirror.flipped |= 1 << d;
        source.begin[d] = static_cast<std::int16_t>(N - region.end[d]);
        source.end[d] = static_cast<std::int16_t>(N - region.begin[d]);
        break;
      case Boundary::inflow: mirror.inflow = 2 * d + side; [[fallthrough]];
      default:
        mirror.offset[d] = static_cast<std::int16_t>(side == 0 ? 0 : N - 1);
        mirror.sign[d] = 0;
        source.begin[d] = mirror.offset[d];
        source.end[d] = static_cast<std::int16_t>(mirror.offset[d] + 1);
    }
  }
  if (mirror.inflow < 0) mirror.source = require(position, source, sources_[n].feeds_finer_level);
  sources_[n].origin = Origin::mirrored;
  mirrors_.resize(sources_.size());
  mirrors_[n] = mirror;
}

// Requests the cells of the coarser level from which a source is interpolated.
void GhostPlan::interpolate(int n, GhostPlan& coarser) {
  GhostSource& source = sources_[n];
  const int N = tree_.geometry().block_size(), half = N / 2;
  BlockCoordinates parent;
  Region cells;  // cells of the coarse block
  for (int d = 0; d < 3; ++d) {
    // Whole coarse cells are interpolated.
    source.region.begin[d] = static_cast<std::int16_t>(source.region.begin[d] & ~1);
    source.region.end[d] = static_cast<std::int16_t>((source.region.end[d] + 1) & ~1);
    parent[d] = source.position[d] >> 1;
    const int corner = static_cast<int>(source.position[d] & 1) * half;
    cells.begin[d] = static_cast<std::int16_t>(corner + source.region.begin[d] / 2);
    cells.end[d] = static_cast<std::int16_t>(corner + source.region.end[d] / 2);
  }
  Region wider;  // one more cell on each side along each axis, for slopes
  for (int d = 0; d < 3; ++d) {
    wider.begin[d] = static_cast<std::int16_t>(std::max(cells.begin[d] - 1, 0));
    wider.end[d] = static_cast<std::int16_t>(std::min(cells.end[d] + 1, N));
  }
  source.coarse[0] =
      coarse_slots_[n] >= 0 ? coarse_slots_[n] : coarser.require(parent, wider, true);
  for (int d = 0; d < 3; ++d) {
    for (int side = 0; side < 2; ++side) {
      const bool reaches_out = side == 0 ? cells.begin[d] == 0 : cells.end[d] == N;
      source.coarse[1 + 2 * d + side] = k_none;
      if (!reaches_out) continue;
      const Holder holder =
          is_source(source.coarse[0])
              ? k_nobody
              : tree_.level(level_ - 1)
                    .neighbours(source.coarse[0])[k_face_neighbours[2 * d + side]];
      if (is_own(holder)) {
        source.coarse[1 + 2 * d + side] = holder;
        continue;
      }
      BlockCoordinates next = parent;
      next[d] += side == 0 ? -1 : 1;
      Region edge = cells;
      edge.begin[d] = static_cast<std::int16_t>(side == 0 ? N - 1 : 0);
      edge.end[d] = static_cast<std::int16_t>(edge.begin[d] + 1);
      source.coarse[1 + 2 * d + side] = coarser.require(next, edge, true);
    }
  }
  const bool is_resolved =
      !source.is_required && std::none_of(source.coarse.begin(), source.coarse.end(), is_source);
  coarse_slots_[n] = is_resolved ? source.coarse[0] : k_not_located;
}

// Releases a source that is no longer read, unless it has been released before.
void GhostPlan::remove_source(int n) {
  if (coarse_slots_[n] == k_unused) return;
  coarse_slots_[n] = k_unused;
  index_.erase(position_key(sources_[n].position));
  free_.push_back(n);
  sources_[n] = {};
}

void GhostPlan::place(LevelHalo& halo) {
  write_slot_boxes(halo);
  CellBox* const boxes = halo.boxes.write(first_source_box_, sources_.size());
  std::vector<std::tuple<int, Key, int>> remote;  // owner, key and number of each source
  std::vector<int> kept_mirrors, scratch_mirrors, interpolated;
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    const GhostSource& source = sources_[n];
    const auto number = static_cast<int>(n);
    if (source.region.empty()) {
      remove_source(number);
      boxes[n] = {};
      continue;
    }
    if (source.origin == Origin::remote)
      remote.emplace_back(source.owner, morton_encode(source.position), number);
    else if (source.origin == Origin::interpolated) interpolated.push_back(number);
    else (source.scratch ? scratch_mirrors : kept_mirrors).push_back(number);
  }
  std::sort(remote.begin(), remote.end());
  remote_ = remote.size();
  mirrored_ = kept_mirrors.size() + scratch_mirrors.size();
  placed_.clear();
  for (const auto& [owner, key, number] : remote) placed_.push_back(number);
  for (const auto* some : {&kept_mirrors, &scratch_mirrors, &interpolated})
    placed_.insert(placed_.end(), some->begin(), some->end());

  halo.halo_doubles = halo.scratch_doubles = halo.received_cells = 0;
  for (const int n : placed_) {
    const GhostSource& source = sources_[n];
    const Region& r = source.region;
    const int ni = r.end[0] - r.begin[0], nj = r.end[1] - r.begin[1];
    std::int64_t& used = source.scratch ? halo.scratch_doubles : halo.halo_doubles;
    CellBox& box = boxes[n];
    box.stride_j = ni;
    box.stride_k = ni * nj;
    box.stride_variable = static_cast<std::int32_t>(r.volume());
    box.base =
        used - (std::int64_t{r.begin[2]} * box.stride_k + r.begin[1] * box.stride_j + r.begin[0]);
    box.buffer = source.scratch ? k_scratch : k_halo;
    used += r.volume() * layout_.variables;
    if (source.origin == Origin::remote) halo.received_cells += r.volume();
  }
}

// Writes the boxes of slots. The capacity has a margin, so that regridding seldom renumbers the
// boxes of sources.
void GhostPlan::write_slot_boxes(LevelHalo& halo) {
  const int slots = tree_.level(level_).slots();
  if (slots > capacity_) {
    capacity_ = slots + slots / 8 + 8;
    first_source_box_ = may_borrow_ ? 2 * capacity_ : capacity_;
    halo.boxes.resize(first_source_box_);
    for (int slot = 0; slot < capacity_; ++slot) halo.boxes.at(slot) = layout_.box(slot);
    for (int box = capacity_; box < first_source_box_; ++box) {
      halo.boxes.at(box) = layout_.box(box - capacity_);
      halo.boxes.at(box).buffer = k_borrowed;
    }
  }
  halo.boxes.resize(first_source_box_ + sources_.size());
}

bool GhostPlan::is_remote(Reference r) const {
  if (!is_source(r)) return false;
  const GhostSource& source = source_of(r);
  if (source.origin == Origin::mirrored) return is_remote(mirrors_[source_index(r)].source);
  return source.origin == Origin::remote;
}

}  // namespace octant::mesh
