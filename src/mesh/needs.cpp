#include "mesh/needs.hpp"

#include <algorithm>
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

// Positions one block outside the domain have keys too.
Key place_key(const BlockCoordinates& c) { return morton_encode({c[0] + 1, c[1] + 1, c[2] + 1}); }

}  // namespace

Reference LevelNeeds::require(BlockCoordinates position, const Region& region, bool beneath) {
  const bool inside = tree_.geometry().wrap(level_, position);
  if (inside) {
    const Node* node = tree_.level(level_).find(morton_encode(position));
    if (node && node->slot >= 0) return node->slot;
  }
  const Key key = place_key(position);
  const std::int32_t* known = index_.find(key);
  const int n = known ? *known : static_cast<int>(needs_.size());
  if (!known) {
    index_.insert(key, n);
    needs_.emplace_back().position = position;
  }
  needs_[n].region.merge(region);
  needs_[n].beneath = needs_[n].beneath || beneath;
  return reference_to_need(n);
}

Reference LevelNeeds::find(BlockCoordinates position) const {
  const bool inside = tree_.geometry().wrap(level_, position);
  if (inside) {
    const Node* node = tree_.level(level_).find(morton_encode(position));
    if (node && node->slot >= 0) return node->slot;
  }
  const std::int32_t* known = index_.find(place_key(position));
  return known ? reference_to_need(*known) : k_nowhere;
}

void LevelNeeds::resolve(LevelNeeds* coarser) {
  const BlockCoordinates extent = tree_.geometry().extent(level_);
  const auto outside = [&](const Need& need) {
    for (int d = 0; d < 3; ++d)
      if (need.position[d] < 0 || need.position[d] >= extent[d]) return true;
    return false;
  };
  // Mirrors first: they add to what is needed of places inside the domain.
  const std::size_t stated = needs_.size();
  for (std::size_t n = 0; n < stated; ++n)
    if (outside(needs_[n])) resolve_mirror(static_cast<int>(n));

  for (std::size_t n = 0; n < needs_.size(); ++n) {
    Need& need = needs_[n];
    if (need.origin == Origin::mirrored) continue;
    const Node* node = tree_.level(level_).find(morton_encode(need.position));
    if (node) {
      need.origin = Origin::remote;
      need.owner = node->owner;
      continue;
    }
    OCTANT_REQUIRE(coarser && !need.beneath,
                   "mesh: level {} has no block at ({}, {}, {}), though level {} needs it: the "
                   "nesting of levels is broken",
                   level_, need.position[0], need.position[1], need.position[2], level_ + 1);
    need.origin = Origin::interpolated;
    need.scratch = true;
    resolve_interpolation(static_cast<int>(n), *coarser);
  }
  for (Need& need : needs_)
    if (need.origin == Origin::mirrored && is_need(need.mirror.source))
      need.scratch = needs_[need_of(need.mirror.source)].origin == Origin::interpolated;
}

void LevelNeeds::resolve_mirror(int n) {
  const Geometry& geometry = tree_.geometry();
  const BlockCoordinates extent = geometry.extent(level_);
  const int N = geometry.block_size();
  const Region region = needs_[n].region;
  BoundaryTask mirror{.target = reference_to_need(n),
                      .source = k_nowhere,
                      .region = region,
                      .offset = {0, 0, 0},
                      .sign = {1, 1, 1},
                      .flipped = 0,
                      .inflow = -1};
  BlockCoordinates position = needs_[n].position;
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
  if (mirror.inflow < 0) mirror.source = require(position, source, needs_[n].beneath);
  needs_[n].origin = Origin::mirrored;
  needs_[n].mirror = mirror;
}

void LevelNeeds::resolve_interpolation(int n, LevelNeeds& coarser) {
  Need& need = needs_[n];
  const int N = tree_.geometry().block_size(), half = N / 2;
  BlockCoordinates parent;
  Region cells;  // of the coarse block
  for (int d = 0; d < 3; ++d) {
    // Whole coarse cells are interpolated.
    need.region.begin[d] = static_cast<std::int16_t>(need.region.begin[d] & ~1);
    need.region.end[d] = static_cast<std::int16_t>((need.region.end[d] + 1) & ~1);
    parent[d] = need.position[d] >> 1;
    const int corner = static_cast<int>(need.position[d] & 1) * half;
    cells.begin[d] = static_cast<std::int16_t>(corner + need.region.begin[d] / 2);
    cells.end[d] = static_cast<std::int16_t>(corner + need.region.end[d] / 2);
  }
  need.coarse[0] = coarser.require(parent, cells, true);
  for (int d = 0; d < 3; ++d) {
    // One cell more on both sides along each axis, for the slopes.
    Region wider = cells;
    wider.begin[d] = static_cast<std::int16_t>(std::max(cells.begin[d] - 1, 0));
    wider.end[d] = static_cast<std::int16_t>(std::min(cells.end[d] + 1, N));
    coarser.require(parent, wider, true);
    for (int side = 0; side < 2; ++side) {
      const bool reaches_out = side == 0 ? cells.begin[d] == 0 : cells.end[d] == N;
      need.coarse[1 + 2 * d + side] = k_nowhere;
      if (!reaches_out) continue;
      BlockCoordinates next = parent;
      next[d] += side == 0 ? -1 : 1;
      Region edge = cells;
      edge.begin[d] = static_cast<std::int16_t>(side == 0 ? N - 1 : 0);
      edge.end[d] = static_cast<std::int16_t>(edge.begin[d] + 1);
      need.coarse[1 + 2 * d + side] = coarser.require(next, edge, true);
    }
  }
}

void LevelNeeds::place(const BlockLayout& layout, std::vector<CellBox>& boxes, LevelHalo& halo) {
  const auto group = [](const Need& need) {
    return need.scratch ? 2 : need.origin == Origin::remote ? 0 : 1;
  };
  placed_.resize(needs_.size());
  for (std::size_t n = 0; n < needs_.size(); ++n) placed_[n] = static_cast<int>(n);
  std::sort(placed_.begin(), placed_.end(), [&](int a, int b) {
    const Need &p = needs_[a], &q = needs_[b];
    return std::tuple(group(p), p.owner, place_key(p.position)) <
           std::tuple(group(q), q.owner, place_key(q.position));
  });
  for (const int n : placed_) {
    Need& need = needs_[n];
    const Region& r = need.region;
    const int ni = r.end[0] - r.begin[0], nj = r.end[1] - r.begin[1];
    std::int64_t& used = need.scratch ? halo.scratch_doubles : halo.halo_doubles;
    CellBox box;
    box.stride_j = ni;
    box.stride_k = ni * nj;
    box.stride_variable = static_cast<std::int32_t>(r.volume());
    box.base =
        used - (std::int64_t{r.begin[2]} * box.stride_k + r.begin[1] * box.stride_j + r.begin[0]);
    box.buffer = need.scratch ? k_scratch : k_halo;
    used += r.volume() * layout.variables;
    if (need.origin == Origin::remote) halo.received_cells += r.volume();
    need.box = static_cast<int>(boxes.size());
    boxes.push_back(box);
  }
}

bool LevelNeeds::comes_from_afar(Reference r) const {
  if (!is_need(r)) return false;
  const Need& n = need(r);
  if (n.origin == Origin::mirrored) return comes_from_afar(n.mirror.source);
  return n.origin == Origin::remote;
}

}  // namespace octant::mesh
