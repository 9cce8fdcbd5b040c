// Changes of the mesh structure: refinement, derefinement, migration, restart.
#include <algorithm>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "mesh/device.hpp"
#include "mesh/interpolation.hpp"
#include "mesh/mesh.hpp"
#include "mesh/nesting.hpp"

namespace octant::mesh {

namespace {

// Request to the owner of a block to remove it, because the octant of its parent is derefined.
struct Removal {
  std::int32_t level;
  Key key;
};

}  // namespace

bool Mesh::regrid(const FlagMasks& flags) {
  const OctantMasks wanted = plan_refinement(*tree_, flags, nesting_distance(setup_.ghosts.reach));
  bool changes = false;
  for (int l = 0; l < tree_->max_level(); ++l)
    for (const int slot : tree_->level(l).own())
      changes = changes || wanted[l][slot] != tree_->level(l).refined(slot);
  if (!communicator().any(changes)) return false;

  for (int l = 0; l <= finest_level_ && l < tree_->max_level(); ++l) add_children(l, wanted[l]);
  remove_children(wanted);
  rebuild();
  return true;
}

// Creates and interpolates new children of a level's own blocks; the owner of the parent owns them.
// Ghost cells are those of the structure before the regrid. Where a neighbour is also new, they
// equal its cells, because both are interpolated by the same function.
void Mesh::add_children(int level, const std::vector<std::uint8_t>& wanted) {
  const TreeLevel& parents = tree_->level(level);
  std::vector<int> growing;
  for (const int slot : parents.own())
    if (wanted[slot] & ~unsigned{parents.refined(slot)}) growing.push_back(slot);
  start_ghosts(level, LevelFields::k_now, 1.0, interpolations_around(level, growing));
  finish_ghosts(level, LevelFields::k_now);

  TreeLevel& children = tree_->level(level + 1);
  const int slots_before = children.slots(), half = geometry().octant_size();
  const auto corner = [half](int octant, int axis) {
    return static_cast<std::int16_t>((octant >> axis & 1) * half);
  };
  const auto cells = static_cast<std::int16_t>(half);

  std::vector<InterpolationTask> tasks;
  std::vector<CellBox> boxes;
  for (const int slot : growing) {
    const unsigned added = wanted[slot] & ~unsigned{parents.refined(slot)};
    for (int octant = 0; octant < 8; ++octant) {
      if (!(added >> octant & 1)) continue;
      const int child =
          children.insert(child_key(parents.key(slot), octant), 0, communicator().rank());
      InterpolationTask task{.target = static_cast<std::int32_t>(boxes.size()),
                             .source = {},
                             .first = {corner(octant, 0), corner(octant, 1), corner(octant, 2)},
                             .cells = {cells, cells, cells},
                             .fine = {0, 0, 0}};
      task.source[0] = slot;
      for (int face = 0; face < 6; ++face)
        task.source[1 + face] = halos_.box_across(level, slot, face);
      boxes.push_back(layout_.box(child));
      tasks.push_back(task);
    }
  }
  fields_[level + 1].reserve(children.slots(), slots_before);
  if (tasks.empty()) return;
  const FieldPointers now = pointers(level, LevelFields::k_now);
  FineTarget target{};
  target.buffer[k_own] = fields_[level + 1].blocks(LevelFields::k_now);
  target.boxes = to_device("new blocks", boxes);
  record_interpolation(tasks, layout_.variables, false);
  interpolation_->interpolate(to_device("new children", tasks),
                              {.earlier = now,
                               .later = now,
                               .block_size = layout_.block_size,
                               .cell_size = geometry().cell_size(level),
                               .boxes = halos_[level].tiles.boxes},
                              target, layout_.variables);
}

// Returns the interpolation tasks of a level that fill the positions across faces of the blocks in
// `slots`.
DeviceArray<const InterpolationTask> Mesh::interpolations_around(
    int level, const std::vector<int>& slots) const {
  const LevelHalo& halo = halos_[level];
  std::vector<bool> is_read(halo.boxes.size());
  for (const int slot : slots)
    for (int face = 0; face < 6; ++face)
      if (const int box = halos_.box_across(level, slot, face); box >= 0) is_read[box] = true;
  const auto& mirrors = halo.scratch_boundaries;
  for (std::size_t n = 0; n < mirrors.size(); ++n)
    if (is_read[mirrors[n].target] && mirrors[n].source >= 0) is_read[mirrors[n].source] = true;
  std::vector<InterpolationTask> tasks;
  for (std::size_t n = 0; n < halo.interpolations.size(); ++n)
    if (is_read[halo.interpolations[n].target]) tasks.push_back(halo.interpolations[n]);
  record_interpolation(tasks, layout_.variables, false);  // interpolated at the present time
  return to_device("interpolations", tasks);
}

// Sets the masks of refined octants and removes, on all ranks, the blocks of derefined octants. The
// cells of these blocks are already restricted to their parents.
void Mesh::remove_children(const OctantMasks& wanted) {
  std::vector<Removal> removals;
  std::vector<int> owners;
  for (int l = 0; l < tree_->max_level(); ++l) {
    TreeLevel& parents = tree_->level(l);
    for (const int slot : parents.own()) {
      if (parents.refined(slot) == wanted[l][slot]) continue;
      const unsigned removed = parents.refined(slot) & ~unsigned{wanted[l][slot]};
      for (int octant = 0; octant < 8; ++octant) {
        if (!(removed >> octant & 1)) continue;
        removals.push_back({l + 1, child_key(parents.key(slot), octant)});
        owners.push_back(child_owners(l, slot)[octant]);
      }
      parents.set_refined(slot, wanted[l][slot]);
    }
  }
  const auto received = route<Removal>(communicator(), owners, removals);
  for (const Removal& removal : received.items) tree_->level(removal.level).remove(removal.key);
}

namespace {

// maximum number of bytes that a rank sends per round
constexpr std::int64_t k_max_round_bytes = 4 << 20;

struct Mover {
  int target, slot;  // new owner of a block, and its slot on this rank
};

struct MovedBlock {
  Key key;
  std::uint8_t refined;
};

Region whole_block(int block_size) {
  const auto n = static_cast<std::int16_t>(block_size);
  return {{0, 0, 0}, {n, n, n}};
}

// Sends the blocks in `movers` of a level and receives blocks of other ranks. Slots of sent blocks
// are reused for received ones. Collective.
void move_blocks(const Communicator& communicator, Exchanger& exchanger, std::vector<Mover> movers,
                 const DeviceArray<const CellBox>& boxes, TreeLevel& level, LevelFields& fields) {
  const BlockLayout& layout = fields.layout();
  const Region whole = whole_block(layout.block_size);
  const std::int64_t values = whole.volume() * layout.variables;  // per block
  std::ranges::stable_sort(movers, {}, &Mover::target);
  std::vector<MovedBlock> headers;
  std::vector<int> targets;
  std::vector<Segment> sends;
  std::vector<PackTask> leaving;
  for (const auto& [target, slot] : movers) {
    leaving.push_back({slot, whole, std::ssize(leaving) * values});
    headers.push_back({level.key(slot), level.refined(slot)});
    targets.push_back(target);
    count_items(sends, target);
  }
  const auto arrivals = route<MovedBlock>(communicator, targets, headers);
  const ExchangePlan plan = ExchangePlan::from_sends(communicator, sends);
  auto sent = uninitialised<double>("leaving blocks", plan.items_sent() * values);
  auto received = uninitialised<double>("arriving blocks", plan.items_received() * values);
  pack(to_device("leaving blocks", leaving), boxes, fields.blocks(LevelFields::k_now), sent.data(),
       layout.variables);
  exchanger.run<double>(plan, sent.data(), received.data(), static_cast<int>(values));

  const int slots_before = level.slots();
  for (const MovedBlock& header : headers) level.remove(header.key);
  std::vector<PackTask> arriving;
  for (const MovedBlock& block : arrivals.items) {
    const int slot = level.insert(block.key, block.refined, communicator.rank());
    arriving.push_back({slot, whole, std::ssize(arriving) * values});
  }
  fields.reserve(level.slots(), slots_before);
  unpack_blocks(to_device("arriving blocks", arriving), layout, received.data(),
                fields.blocks(LevelFields::k_now));
}

}  // namespace

// Migrates blocks in batches, so that message buffers are small compared with the fields. Each rank
// sends first to the ranks that follow it, so that not all ranks send to the same one.
void Mesh::migrate(const std::vector<std::vector<int>>& owners) {
  const int rank = communicator().rank(), ranks = communicator().size();
  const std::int64_t block_bytes = layout_.stride_slot * static_cast<std::int64_t>(sizeof(double));
  const auto at_once = std::max<std::int64_t>(k_max_round_bytes / block_bytes, 1);
  std::vector<std::vector<Mover>> movers(tree_->max_level() + 1);
  std::vector<std::int64_t> most;  // by level: largest number of blocks that a rank sends
  for (int l = 0; l <= tree_->max_level(); ++l) {
    for (std::size_t n = 0; n < owners[l].size(); ++n)
      if (owners[l][n] != rank) movers[l].push_back({owners[l][n], tree_->level(l).own()[n]});
    std::ranges::stable_sort(movers[l], {},
                             [&](const Mover& m) { return (m.target - rank + ranks) % ranks; });
    most.push_back(std::ssize(movers[l]));
  }
  communicator().max_in_place(std::span(most));
  for (int l = 0; l <= tree_->max_level(); ++l) {
    const std::int64_t count = std::ssize(movers[l]);
    for (std::int64_t first = 0; first < most[l]; first += at_once) {
      const auto begin = movers[l].begin() + std::min(first, count),
                 end = movers[l].begin() + std::min(first + at_once, count);
      move_blocks(communicator(), migration_, {begin, end}, halos_[l].tiles.boxes, tree_->level(l),
                  fields_[l]);
    }
  }
  rebuild();
}

void Mesh::replace_blocks(const std::vector<BlockList>& levels) {
  for (int l = 0; l <= tree_->max_level(); ++l) {
    tree_->level(l).clear();
    if (l < static_cast<int>(levels.size()))
      for (std::size_t n = 0; n < levels[l].keys.size(); ++n)
        tree_->level(l).insert(levels[l].keys[n], levels[l].refined[n], communicator().rank());
    fields_[l].reserve(tree_->level(l).slots(), 0);
  }
  tree_->discover();
  require_octree(*tree_, nesting_distance(setup_.ghosts.reach));
  build_tables();
}

}  // namespace octant::mesh
