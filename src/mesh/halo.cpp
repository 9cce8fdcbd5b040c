#include "mesh/halo.hpp"

#include "comm/route.hpp"
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

void write_boundary_tasks(const LevelNeeds& needs, LevelHalo& halo) {
  halo.halo_boundaries.clear();
  halo.scratch_boundaries.clear();
  halo.inflow_boxes.clear();
  halo.inflow_cells = 0;
  for (const int n : needs.mirrored()) {
    const Need& need = needs.need_number(n);
    BoundaryTask task = needs.mirror(n);
    task.target = needs.box_of(reference_to_need(n));
    task.source = task.inflow < 0 ? needs.box_of(task.source) : k_nowhere;
    if (task.inflow >= 0) {
      task.inflow_cell = halo.inflow_cells;
      halo.inflow_boxes.push_back({task.inflow, need.position, task.region, task.inflow_cell});
      halo.inflow_cells += task.region.volume();
    }
    (need.scratch ? halo.scratch_boundaries : halo.halo_boundaries).push_back(task);
  }
  halo.halo_boundaries.upload();
  halo.scratch_boundaries.upload();
}

void write_interpolation_tasks(const LevelNeeds& needs, const LevelNeeds& coarser, int block_size,
                               LevelHalo& halo) {
  halo.interpolations.clear();
  halo.interpolations.resize(needs.interpolated().size());
  InterpolationTask* next = halo.interpolations.write(0, halo.interpolations.size());
  for (const int n : needs.interpolated()) {
    const Need& need = needs.need_number(n);
    InterpolationTask& task = *next++;
    task.target = needs.box_of(reference_to_need(n));
    task.fine = need.region.begin;
    for (int s = 0; s < 7; ++s) task.source[s] = coarser.box_of(need.coarse[s]);
    for (int d = 0; d < 3; ++d) {
      const int corner = static_cast<int>(need.position[d] & 1) * block_size / 2;
      task.first[d] = static_cast<std::int16_t>(corner + need.region.begin[d] / 2);
      task.cells[d] = static_cast<std::int16_t>((need.region.end[d] - need.region.begin[d]) / 2);
    }
  }
  halo.interpolations.upload();
}

}  // namespace

struct Halos::Level {
  Level(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int level)
      : needs(tree, layout, ghosts, level), tiling(tree, level) {}

  LevelNeeds needs;
  Tiling tiling;
  LevelHalo halo;
};

Halos::Halos(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int patch)
    : tree_(tree), layout_(layout), patch_(patch) {
  for (int l = 0; l <= tree.max_level(); ++l) levels_.emplace_back(tree, layout, ghosts, l);
}

Halos::~Halos() = default;
Halos::Halos(Halos&&) noexcept = default;

const LevelHalo& Halos::operator[](int level) const { return levels_[level].halo; }

int Halos::box_across(int level, int slot, int face) const {
  const LevelNeeds& needs = levels_[level].needs;
  return needs.box_of(needs.around(slot)[k_face_neighbours[face]]);
}

void Halos::follow(const std::vector<FluxRequests>& requests) {
  for (Level& level : levels_) level.needs.follow();
  for (int l = tree_.max_level(); l >= 0; --l)
    levels_[l].needs.resolve(l > 0 ? &levels_[l - 1].needs : nullptr);
  for (int l = 0; l <= tree_.max_level(); ++l) {
    auto& [needs, tiling, halo] = levels_[l];
    needs.place(halo);
    write_boundary_tasks(needs, halo);
    if (l > 0) write_interpolation_tasks(needs, levels_[l - 1].needs, layout_.block_size, halo);
    tiling.follow(patch_, needs, requests[l], halo);
    halo.boxes.upload();
    halo.tiles.boxes = halo.boxes.on_device();
  }
  agree_on_messages();
}

// Sends the requests of all levels to the owners, who turn them into packing tasks and plans.
void Halos::agree_on_messages() {
  std::vector<Request> requests;
  std::vector<int> owners;
  std::vector<std::vector<Segment>> receives(levels_.size()), sends(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const LevelNeeds& needs = levels_[l].needs;
    for (const int n : needs.remote()) {
      const Need& need = needs.need_number(n);
      requests.push_back({static_cast<int>(l), need.region, morton_encode(need.position)});
      owners.push_back(need.owner);
      count_items(receives[l], need.owner, need.region.volume());
    }
    levels_[l].halo.sent_cells = 0;
  }
  const auto asked = route<Request>(tree_.communicator(), owners, requests);
  for (Level& level : levels_) level.halo.packs.clear();
  for (std::size_t n = 0; n < asked.items.size(); ++n) {
    const Request& r = asked.items[n];
    std::int64_t& cells = levels_[r.level].halo.sent_cells;
    const int slot = tree_.level(r.level).find(r.key)->slot;
    levels_[r.level].halo.packs.push_back({slot, r.region, cells * layout_.variables});
    cells += r.region.volume();
    count_items(sends[r.level], asked.sources[n], r.region.volume());
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    levels_[l].halo.packs.upload();
    levels_[l].halo.plan = std::make_unique<ExchangePlan>(tree_.communicator(), std::move(sends[l]),
                                                          std::move(receives[l]));
  }
}

}  // namespace octant::mesh
