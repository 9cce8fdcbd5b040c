#include "mesh/halo.hpp"

#include "comm/route.hpp"
#include "mesh/ghost_plan.hpp"

namespace octant::mesh {

namespace {

// Request for a part of a block, sent to its owner.
struct Request {
  std::int16_t level;
  bool for_finer_level;  // true if the finer level interpolates from it
  Region region;
  Key key;
};

void write_boundary_tasks(const GhostPlan& needs, LevelHalo& halo) {
  halo.halo_boundaries.clear();
  halo.scratch_boundaries.clear();
  halo.inflow_boxes.clear();
  halo.inflow_cells = 0;
  for (const int n : needs.mirrored()) {
    const GhostSource& need = needs.source_number(n);
    BoundaryTask task = needs.mirror(n);
    task.target = needs.box_of(reference_to_source(n));
    task.source = task.inflow < 0 ? needs.box_of(task.source) : k_none;
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

void write_interpolation_tasks(const GhostPlan& needs, const GhostPlan& coarser, int block_size,
                               LevelHalo& halo) {
  halo.interpolations.clear();
  halo.interpolations.resize(needs.interpolated().size());
  InterpolationTask* next = halo.interpolations.write(0, halo.interpolations.size());
  for (const int n : needs.interpolated()) {
    const GhostSource& need = needs.source_number(n);
    InterpolationTask& task = *next++;
    task.target = needs.box_of(reference_to_source(n));
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

// Partners of an exchange, with the numbers of cells to send and to receive.
struct Segments {
  std::vector<Segment> sends, receives;
};
struct LevelSegments {
  Segments whole, for_finer_level;
};

// Lists the cells received from other ranks, in the order of the halo's boxes.
void list_arrivals(const GhostPlan& needs, int variables, LevelHalo& halo,
                   LevelSegments& segments) {
  std::int64_t cells_for_finer = 0;
  halo.unpacks.clear();
  for (const int n : needs.remote()) {
    const GhostSource& need = needs.source_number(n);
    const std::int64_t cells = need.region.volume();
    count_items(segments.whole.receives, need.owner, cells);
    if (!need.feeds_finer_level) continue;
    count_items(segments.for_finer_level.receives, need.owner, cells);
    halo.unpacks.push_back(
        {needs.box_of(reference_to_source(n)), need.region, cells_for_finer * variables});
    cells_for_finer += cells;
  }
  halo.unpacks.upload();
}

void clear(HaloMessages& messages) {
  messages.packs.clear();
  messages.sent_cells = 0;
}

void add_departure(int slot, const Region& region, int variables, int requester,
                   HaloMessages& messages, Segments& segments) {
  messages.packs.push_back({slot, region, messages.sent_cells * variables});
  messages.sent_cells += region.volume();
  count_items(segments.sends, requester, region.volume());
}

void set_plan(const Communicator& communicator, Segments& segments, HaloMessages& messages) {
  messages.packs.upload();
  messages.plan = std::make_unique<ExchangePlan>(communicator, std::move(segments.sends),
                                                 std::move(segments.receives));
}

}  // namespace

struct Halos::Level {
  Level(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int level)
      : needs(tree, layout, ghosts, level), tiling(tree, level) {}

  GhostPlan needs;
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
  const GhostPlan& needs = levels_[level].needs;
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

// Sends the requests of all levels to the owners, which build packing tasks and exchange plans.
void Halos::agree_on_messages() {
  std::vector<Request> requests;
  std::vector<int> owners;
  std::vector<LevelSegments> segments(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    auto& [needs, tiling, halo] = levels_[l];
    clear(halo.whole);
    clear(halo.for_finer_level);
    list_arrivals(needs, layout_.variables, halo, segments[l]);
    for (const int n : needs.remote()) {
      const GhostSource& need = needs.source_number(n);
      requests.push_back({static_cast<std::int16_t>(l), need.feeds_finer_level, need.region,
                          morton_encode(need.position)});
      owners.push_back(need.owner);
    }
  }
  const auto received = route<Request>(tree_.communicator(), owners, requests);
  for (std::size_t n = 0; n < received.items.size(); ++n) {
    const auto& [l, for_finer_level, region, key] = received.items[n];
    LevelHalo& halo = levels_[l].halo;
    const int slot = tree_.level(l).find(key)->slot, requester = received.sources[n];
    add_departure(slot, region, layout_.variables, requester, halo.whole, segments[l].whole);
    if (for_finer_level)
      add_departure(slot, region, layout_.variables, requester, halo.for_finer_level,
                    segments[l].for_finer_level);
  }
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    set_plan(tree_.communicator(), segments[l].whole, levels_[l].halo.whole);
    set_plan(tree_.communicator(), segments[l].for_finer_level, levels_[l].halo.for_finer_level);
  }
}

}  // namespace octant::mesh
