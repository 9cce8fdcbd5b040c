#include "mesh/halo.hpp"

#include <algorithm>
#include <bit>

#include "comm/route.hpp"
#include "mesh/device.hpp"
#include "mesh/needs.hpp"
#include "mesh/tiling.hpp"

namespace octant::mesh {

namespace {

// Asks a block's owner for a part of it.
struct Request {
  std::int32_t level;
  Region region;
  Key key;
};

// Sends the requests of all levels to the owners, who turn them into packing tasks and plans.
void agree_on_messages(const Tree& tree, const BlockLayout& layout,
                       const std::vector<LevelNeeds>& needs, std::vector<LevelHalo>& halos) {
  std::vector<Request> requests;
  std::vector<int> owners;
  std::vector<std::vector<Segment>> receives(needs.size()), sends(needs.size());
  const auto count = [](std::vector<Segment>& segments, int rank, std::int64_t cells) {
    if (segments.empty() || segments.back().rank != rank) segments.push_back({rank, 0});
    segments.back().count += cells;
  };
  for (std::size_t l = 0; l < needs.size(); ++l) {
    for (const int n : needs[l].placed()) {
      const Need& need = needs[l].needs()[n];
      if (need.origin != Origin::remote) continue;
      requests.push_back({static_cast<int>(l), need.region, morton_encode(need.position)});
      owners.push_back(need.owner);
      count(receives[l], need.owner, need.region.volume());
    }
  }
  const auto asked = route<Request>(tree.communicator(), owners, requests);
  std::vector<std::vector<PackTask>> packs(needs.size());
  for (std::size_t n = 0; n < asked.items.size(); ++n) {
    const Request& r = asked.items[n];
    std::int64_t& cells = halos[r.level].sent_cells;
    const int slot = tree.level(r.level).find(r.key)->slot;
    packs[r.level].push_back({slot, r.region, cells * layout.variables});
    cells += r.region.volume();
    count(sends[r.level], asked.sources[n], r.region.volume());
  }
  for (std::size_t l = 0; l < needs.size(); ++l) {
    halos[l].packs = to_device("pack tasks", packs[l]);
    halos[l].plan = std::make_unique<ExchangePlan>(tree.communicator(), std::move(sends[l]),
                                                   std::move(receives[l]));
  }
}

void write_boundary_tasks(const LevelNeeds& needs, LevelHalo& halo) {
  std::vector<BoundaryTask> kept, scratch;
  for (const int n : needs.placed()) {
    const Need& need = needs.needs()[n];
    if (need.origin != Origin::mirrored) continue;
    BoundaryTask task = need.mirror;
    task.target = need.box;
    task.source = task.inflow < 0 ? needs.box_of(task.source) : k_nowhere;
    (need.scratch ? scratch : kept).push_back(task);
  }
  halo.halo_boundaries = to_device("boundary tasks", kept);
  halo.scratch_boundaries = to_device("scratch boundary tasks", scratch);
}

void write_interpolation_tasks(const LevelNeeds& needs, const LevelNeeds& coarser, int block_size,
                               LevelHalo& halo) {
  std::vector<InterpolationTask> tasks;
  for (const int n : needs.placed()) {
    const Need& need = needs.needs()[n];
    if (need.origin != Origin::interpolated) continue;
    InterpolationTask task{
        .target = need.box, .source = {}, .first = {}, .cells = {}, .fine = need.region.begin};
    for (int s = 0; s < 7; ++s) task.source[s] = coarser.box_of(need.coarse[s]);
    for (int d = 0; d < 3; ++d) {
      const int corner = static_cast<int>(need.position[d] & 1) * block_size / 2;
      task.first[d] = static_cast<std::int16_t>(corner + need.region.begin[d] / 2);
      task.cells[d] = static_cast<std::int16_t>((need.region.end[d] - need.region.begin[d]) / 2);
    }
    tasks.push_back(task);
  }
  halo.interpolations = to_device("interpolation tasks", tasks);
}

// Tiles that hold a rank's blocks of one level.
std::int64_t count_tiles(const TreeLevel& blocks, int blocks_per_patch) {
  const int shift = 3 * std::countr_zero(static_cast<unsigned>(blocks_per_patch));
  std::int64_t tiles = 0;
  Key last = k_no_key;
  for (const int slot : blocks.own()) {
    tiles += blocks.key(slot) >> shift != last;
    last = blocks.key(slot) >> shift;
  }
  return tiles;
}

// Large patches sweep a cell about 1.4 times as fast, but also the cells of blocks that are missing
// in them. Results do not depend on the choice, so each rank makes its own.
int choose_patch(const TreeLevel& blocks, int block_size) {
  constexpr double k_gain_of_large_patches = 1.4;
  if (block_size >= 16) return 16;
  if (block_size == 2) return 8;
  const auto large = static_cast<double>(count_tiles(blocks, 16 / block_size)) * 16 * 16 * 16;
  const auto small = static_cast<double>(count_tiles(blocks, 8 / block_size)) * 8 * 8 * 8;
  return large < k_gain_of_large_patches * small ? 16 : 8;
}

}  // namespace

std::vector<LevelHalo> build_halos(const Tree& tree, const BlockLayout& layout,
                                   const GhostShape& ghosts, int patch,
                                   const std::vector<BlockFluxRequests>& requests) {
  const int levels = tree.max_level() + 1;
  std::vector<LevelNeeds> needs;
  std::vector<Tiling> tilings;
  for (int l = 0; l < levels; ++l) {
    needs.emplace_back(tree, l);
    tilings.emplace_back(tree, l,
                         patch > 0 ? patch : choose_patch(tree.level(l), layout.block_size));
  }
  for (int l = levels - 1; l >= 0; --l) {
    tilings[l].require_ghosts(needs[l], ghosts);
    needs[l].resolve(l > 0 ? &needs[l - 1] : nullptr);
  }
  std::vector<LevelHalo> halos(levels);
  for (int l = 0; l < levels; ++l) {
    LevelHalo& halo = halos[l];
    for (int slot = 0; slot < tree.level(l).slots(); ++slot) halo.boxes.push_back(layout.box(slot));
    needs[l].place(layout, halo.boxes, halo);
    write_boundary_tasks(needs[l], halo);
    if (l > 0) write_interpolation_tasks(needs[l], needs[l - 1], layout.block_size, halo);
    tilings[l].finish(needs[l], requests[l], halo.boxes, halo);
    halo.tiles.boxes = to_device("boxes", halo.boxes);
  }
  agree_on_messages(tree, layout, needs, halos);
  return halos;
}

}  // namespace octant::mesh
