#include "mesh/halo.hpp"

#include "comm/route.hpp"
#include "mesh/ghost_plan.hpp"

namespace octant::mesh {

namespace {

// Request for a part of a block, sent to its owner.
struct Request {
  std::int16_t level;
  bool for_finer_level;  // true if the finer level interpolates from this part
  Region region;
  Key key;
};

void write_boundary_tasks(const GhostPlan& plan, LevelHalo& halo) {
  halo.halo_boundaries.clear();
  halo.scratch_boundaries.clear();
  halo.inflow_boxes.clear();
  halo.inflow_cells = 0;
  for (const int n : plan.mirrored()) {
    const GhostSource& source = plan.source(n);
    BoundaryTask task = plan.mirror(n);
    task.target = plan.box_of(reference_to_source(n));
    task.source = task.inflow < 0 ? plan.box_of(task.source) : k_none;
    if (task.inflow >= 0) {
      task.inflow_cell = halo.inflow_cells;
      halo.inflow_boxes.push_back({task.inflow, source.position, task.region, task.inflow_cell});
      halo.inflow_cells += task.region.volume();
    }
    (source.scratch ? halo.scratch_boundaries : halo.halo_boundaries).push_back(task);
  }
  halo.halo_boundaries.upload();
  halo.scratch_boundaries.upload();
}

void write_interpolation_tasks(const GhostPlan& plan, const GhostPlan& coarser, int block_size,
                               LevelHalo& halo) {
  halo.interpolations.clear();
  halo.interpolations.resize(plan.interpolated().size());
  InterpolationTask* next = halo.interpolations.write(0, halo.interpolations.size());
  for (const int n : plan.interpolated()) {
    const GhostSource& source = plan.source(n);
    InterpolationTask& task = *next++;
    task.target = plan.box_of(reference_to_source(n));
    task.fine = source.region.begin;
    for (int s = 0; s < 7; ++s) task.source[s] = coarser.box_of(source.coarse[s]);
    for (int d = 0; d < 3; ++d) {
      const int corner = static_cast<int>(source.position[d] & 1) * block_size / 2;
      task.first[d] = static_cast<std::int16_t>(corner + source.region.begin[d] / 2);
      task.cells[d] =
          static_cast<std::int16_t>((source.region.end[d] - source.region.begin[d]) / 2);
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
void list_arrivals(const GhostPlan& plan, int variables, LevelHalo& halo, LevelSegments& segments) {
  std::int64_t cells_for_finer = 0;
  halo.unpack_tasks.clear();
  for (const int n : plan.remote()) {
    const GhostSource& source = plan.source(n);
    const std::int64_t cells = source.region.volume();
    count_items(segments.whole.receives, source.owner, cells);
    if (!source.feeds_finer_level) continue;
    count_items(segments.for_finer_level.receives, source.owner, cells);
    halo.unpack_tasks.push_back(
        {plan.box_of(reference_to_source(n)), source.region, cells_for_finer * variables});
    cells_for_finer += cells;
  }
  halo.unpack_tasks.upload();
}

void clear(HaloMessages& messages) {
  messages.pack_tasks.clear();
  messages.sent_cells = 0;
}

void add_departure(int slot, const Region& region, int variables, int requester,
                   HaloMessages& messages, Segments& segments) {
  messages.pack_tasks.push_back({slot, region, messages.sent_cells * variables});
  messages.sent_cells += region.volume();
  count_items(segments.sends, requester, region.volume());
}

void set_plan(const Communicator& communicator, Segments& segments, HaloMessages& messages) {
  messages.pack_tasks.upload();
  messages.plan = std::make_unique<ExchangePlan>(communicator, std::move(segments.sends),
                                                 std::move(segments.receives));
}

}  // namespace

struct Halos::Level {
  Level(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int level)
      : plan(tree, layout, ghosts, level), tiling(tree, level) {}

  GhostPlan plan;
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
  const GhostPlan& plan = levels_[level].plan;
  return plan.box_of(plan.around(slot)[k_face_neighbours[face]]);
}

void Halos::follow(const std::vector<FluxRequests>& requests) {
  for (Level& level : levels_) level.plan.follow();
  for (int l = tree_.max_level(); l >= 0; --l)
    levels_[l].plan.resolve(l > 0 ? &levels_[l - 1].plan : nullptr);
  for (int l = 0; l <= tree_.max_level(); ++l) {
    auto& [plan, tiling, halo] = levels_[l];
    plan.place(halo);
    write_boundary_tasks(plan, halo);
    if (l > 0) write_interpolation_tasks(plan, levels_[l - 1].plan, layout_.block_size, halo);
    tiling.follow(patch_, plan, requests[l], halo);
    halo.boxes.upload();
    halo.tiles.boxes = halo.boxes.on_device();
  }
  agree_on_messages();
}

// Sends the requests of all levels to the owners, and builds packing tasks and exchange plans.
void Halos::agree_on_messages() {
  std::vector<Request> requests;
  std::vector<int> owners;
  std::vector<LevelSegments> segments(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    auto& [plan, tiling, halo] = levels_[l];
    clear(halo.whole);
    clear(halo.for_finer_level);
    list_arrivals(plan, layout_.variables, halo, segments[l]);
    for (const int n : plan.remote()) {
      const GhostSource& source = plan.source(n);
      requests.push_back({static_cast<std::int16_t>(l), source.feeds_finer_level, source.region,
                          morton_encode(source.position)});
      owners.push_back(source.owner);
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
