// Tables that follow changes of the mesh are those that are built from nothing.
#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

struct Setting {
  int block_size, max_level;
  GhostShape ghosts;
  std::string boundary;
};

std::vector<Mesh::BlockList> own_blocks(const Mesh& mesh) {
  std::vector<Mesh::BlockList> blocks(mesh.geometry().max_level() + 1);
  for (int l = 0; l <= mesh.geometry().max_level(); ++l)
    for (const int slot : mesh.blocks(l).own()) {
      blocks[l].keys.push_back(mesh.blocks(l).key(slot));
      blocks[l].refined.push_back(mesh.blocks(l).refined(slot));
    }
  return blocks;
}

// Gives every block to a rank by a hash of its key and the round, most to where they are.
void migrate_at_random(Mesh& mesh, int round) {
  const int ranks = mesh.communicator().size();
  std::vector<std::vector<int>> owners(mesh.geometry().max_level() + 1);
  for (int l = 0; l <= mesh.geometry().max_level(); ++l)
    for (const int slot : mesh.blocks(l).own()) {
      const auto key = static_cast<std::uint64_t>(mesh.blocks(l).key(slot));
      RandomStream stream(1000 + round, 16 * key + l, 0);
      const bool moves = stream.uniform(0) < (round % 2 == 0 ? 0.3 : 0.01);
      owners[l].push_back(moves ? static_cast<int>(stream.uniform(1) * ranks) % ranks
                                : mesh.communicator().rank());
    }
  mesh.migrate(owners);
}

using Words = std::vector<std::int64_t>;

Words words_of(const Region& r) {
  return {r.begin[0], r.begin[1], r.begin[2], r.end[0], r.end[1], r.end[2]};
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// In any order.
Words words_of(std::span<const FluxRegisterFaces> requests) {
  std::vector<Words> each;
  for (const FluxRegisterFaces& q : requests)
    each.push_back({q.axis, q.average, q.plane, q.a_begin, q.a_end, q.b_begin, q.b_end});
  std::sort(each.begin(), each.end());
  Words words;
  for (const Words& request : each) append(words, request);
  return words;
}

// Which size a level's tiles have may depend on its past.
bool has_same_tiles(const Mesh& a, const Mesh& b, int level) {
  return a.halo(level).tiles.patch == b.halo(level).tiles.patch;
}

// What the tables of a mesh say, without the numbers that they give to blocks, boxes and tasks; of
// tiles only where those of another mesh are as large.
class Description {
 public:
  Description(const Mesh& mesh, const Mesh& other)
      : mesh_(mesh), boxes_(mesh.geometry().max_level() + 1) {
    const int levels = mesh.geometry().max_level() + 1;
    for (int l = 0; l < levels; ++l) describe_boxes(l);
    for (int l = 0; l < levels; ++l) {
      describe_neighbours(l);
      describe_cells(l);
      if (has_same_tiles(mesh, other, l)) describe_tiles(l);
      describe_messages(l);
      if (l > 0) describe_corrections(l);
    }
    std::sort(statements_.begin(), statements_.end());
  }

  const std::vector<Words>& statements() const { return statements_; }

 private:
  enum Kind {
    k_neighbours,
    k_cells,
    k_tile,
    k_counts,
    k_pack,
    k_unpack,
    k_plan,
    k_correction,
    k_children
  };

  // A box that nothing uses any more may stand for a slot that is gone.
  Words block(int level, int slot) const {
    if (slot >= mesh_.blocks(level).slots()) return {-3};
    return {level, static_cast<std::int64_t>(mesh_.blocks(level).key(slot))};
  }

  // What is in each box: a block, or where its cells come from.
  void describe_boxes(int level) {
    const LevelHalo& halo = mesh_.halo(level);
    auto& boxes = boxes_[level];
    boxes.resize(halo.tiles.boxes.extent(0));
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const CellBox& box = halo.tiles.boxes(b);
      if (box.buffer == k_own && static_cast<int>(b) < mesh_.blocks(level).slots())
        boxes[b] = block(level, static_cast<int>(b));
      else if (box.buffer == k_borrowed)
        boxes[b] = block(level, static_cast<int>(box.base / mesh_.layout().stride_slot));
      else boxes[b] = {-2, box.stride_j, box.stride_k, box.stride_variable};
      boxes[b].push_back(box.buffer);
    }
    for (std::size_t t = 0; t < halo.interpolations.size(); ++t) {
      const InterpolationTask& task = halo.interpolations[t];
      Words& words = boxes[task.target];
      for (int d = 0; d < 3; ++d) append(words, {task.first[d], task.cells[d], task.fine[d]});
      for (const std::int32_t source : task.source)
        append(words, source < 0 ? Words{-1} : boxes_[level - 1][source]);
    }
    for (const auto* tasks : {&halo.halo_boundaries, &halo.scratch_boundaries})
      for (std::size_t t = 0; t < tasks->size(); ++t) {
        const BoundaryTask& task = (*tasks)[t];
        Words words = boxes[task.target];
        append(words, words_of(task.region));
        for (int d = 0; d < 3; ++d) append(words, {task.offset[d], task.sign[d]});
        append(words, {task.flipped, task.inflow});
        if (task.source >= 0) append(words, boxes[task.source]);
        boxes[task.target] = words;
      }
  }

  void describe_neighbours(int level) {
    const TreeLevel& blocks = mesh_.blocks(level);
    ASSERT_EQ(std::ssize(blocks.own()), blocks.count());
    for (const int slot : blocks.own()) {
      Words words{k_neighbours};
      append(words, block(level, slot));
      words.push_back(blocks.refined(slot));
      const auto around = mesh_.geometry().keys_around(level, blocks.key(slot));
      for (int n = 0; n < 27; ++n) {
        const Holder holder = blocks.neighbours(slot)[n];
        const Node* node = around[n] == k_no_key ? nullptr : blocks.find(around[n]);
        EXPECT_EQ(holder, node == nullptr   ? k_nobody
                          : node->slot >= 0 ? node->slot
                                            : encode_rank(node->owner));
        append(words, is_own(holder) ? block(level, holder) : Words{holder});
      }
      if (level > 0) words.push_back(owner_of_parent(level, slot));
      append(words, words_of(mesh_.flux_requests(level, slot)));
      statements_.push_back(words);
      if (level == mesh_.geometry().max_level()) continue;
      Words children{k_children};
      append(children, block(level, slot));
      for (const std::int32_t owner : mesh_.child_owners(level, slot)) children.push_back(owner);
      statements_.push_back(children);
    }
  }

  // The owner of a block's parent.
  std::int64_t owner_of_parent(int level, int slot) const {
    return mesh_.blocks(level - 1).find(parent_key(mesh_.blocks(level).key(slot)))->owner;
  }

  // The list that loops over cells go through.
  void describe_cells(int level) {
    const CellRange& cells = mesh_.cells(level);
    const auto own = mesh_.blocks(level).own();
    ASSERT_EQ(cells.count(), std::ssize(own));
    const double side = mesh_.geometry().cell_size(level) * mesh_.geometry().block_size();
    for (std::size_t n = 0; n < own.size(); ++n) {
      const OwnBlock& listed = cells.blocks(n);
      EXPECT_EQ(listed.slot, own[n]);
      Words words{k_cells, static_cast<std::int64_t>(listed.refined)};
      append(words, block(level, listed.slot));
      for (int d = 0; d < 3; ++d) words.push_back(std::lround(listed.corner[d] / side));
      statements_.push_back(words);
    }
  }

  void describe_tiles(int level) {
    const LevelHalo& halo = mesh_.halo(level);
    const TileSet& tiles = halo.tiles;
    const int entries = tiles.reach * tiles.reach * tiles.reach;
    for (int t = 0; t < tiles.count(); ++t) {
      const Tile& tile = tiles.tiles(t);
      Words words{k_tile, level, t < halo.interior_tiles};
      for (int d = 0; d < 3; ++d) append(words, {tile.first[d], tile.origin[d]});
      for (int n = 0; n < entries; ++n) {
        const std::int32_t box = tiles.table(tile.table + n);
        append(words, box < 0 ? Words{-1} : boxes_[level][box]);
      }
      const auto count = static_cast<std::size_t>(tile.request_end - tile.request_begin);
      append(words, words_of(std::span(&tiles.requests(tile.request_begin), count)));
      std::vector<Words> updated;
      for (int n = halo.tile_slot_begin[t]; n < halo.tile_slot_begin[t + 1]; ++n)
        updated.push_back(block(level, halo.tile_slots[n]));
      std::sort(updated.begin(), updated.end());
      for (const Words& slot : updated) append(words, slot);
      statements_.push_back(words);
    }
  }

  void describe_messages(int level) {
    const LevelHalo& halo = mesh_.halo(level);
    statements_.push_back({k_counts, level, halo.halo_doubles, halo.scratch_doubles,
                           halo.received_cells, mesh_.finest_level()});
    int exchange = 0;
    for (const HaloMessages* messages : {&halo.whole, &halo.for_finer_level})
      describe_messages(level, exchange++, *messages);
    for (std::size_t t = 0; t < halo.unpack_tasks.size(); ++t) {
      const PackTask& task = halo.unpack_tasks[t];
      Words words{k_unpack, task.destination};
      append(words, boxes_[level][task.box]);
      append(words, words_of(task.region));
      statements_.push_back(words);
    }
  }

  void describe_messages(int level, int exchange, const HaloMessages& messages) {
    for (std::size_t t = 0; t < messages.pack_tasks.size(); ++t) {
      const PackTask& task = messages.pack_tasks[t];
      Words words{k_pack, exchange, task.destination};
      append(words, block(level, task.box));
      append(words, words_of(task.region));
      statements_.push_back(words);
    }
    messages.plan->check();
    int side = 0;
    for (const auto* segments : {&messages.plan->sends(), &messages.plan->receives()}) {
      Words words{k_plan, level, exchange, side++};
      for (const Segment& segment : *segments) append(words, {segment.rank, segment.count});
      statements_.push_back(words);
    }
  }

  void describe_corrections(int level) {
    const Corrections corrections = mesh_.corrections(level);
    for (int n = 0; n < corrections.count(); ++n) {
      const CorrectedBlock& corrected = corrections.blocks(n);
      if (corrected.begin == corrected.end) continue;
      const int slot = corrections.tasks(corrected.begin).slot;
      Words words{k_correction, corrected.has_remote_fluxes};  // the order of tasks counts
      append(words, block(level - 1, slot));
      for (int t = corrected.begin; t < corrected.end; ++t) {
        const CorrectionTask& task = corrections.tasks(t);
        EXPECT_EQ(task.slot, slot);
        EXPECT_GE(task.fine, 0);
        EXPECT_GE(task.coarse, 0);
        append(words,
               {task.axis, task.sign, task.cell, task.a_begin, task.b_begin, task.is_received});
      }
      statements_.push_back(words);
    }
  }

  const Mesh& mesh_;
  std::vector<std::vector<Words>> boxes_;
  std::vector<Words> statements_;
};

class MendedTables : public testing::TestWithParam<Setting> {};

TEST_P(MendedTables, are_those_built_from_nothing) {
  const auto [block_size, max_level, ghosts, boundary] = GetParam();
  MeshFixture f(small_box(block_size, max_level, boundary), ghosts, 0);
  int changes = 0, compared = 0;
  for (int round = 0; round < 12; ++round) {
    // Much changes now and then, a few blocks in the rounds between.
    const double probability = (round % 4 < 2 ? 0.3 : 0.2) + 0.003 * round;
    if (round % 3 == 2) migrate_at_random(f.mesh, round);
    if (round % 5 == 4) f.mesh.replace_blocks(own_blocks(f.mesh));
    changes += f.mesh.regrid(f.random_flags(0, probability));
    MeshFixture fresh(small_box(block_size, max_level, boundary), ghosts, 0);
    fresh.mesh.replace_blocks(own_blocks(f.mesh));
    ASSERT_EQ(Description(f.mesh, fresh.mesh).statements(),
              Description(fresh.mesh, f.mesh).statements())
        << "round " << round;
    for (int l = 0; l <= max_level; ++l) compared += has_same_tiles(f.mesh, fresh.mesh, l);
  }
  EXPECT_GT(changes, 8);
  EXPECT_GT(compared, 6 * (max_level + 1));
}

INSTANTIATE_TEST_SUITE_P(Meshes, MendedTables,
                         testing::Values(Setting{2, 2, {2}, "periodic"},
                                         Setting{4, 3, {1}, "periodic"},
                                         Setting{4, 3, {2}, "reflecting"},
                                         Setting{4, 3, {3, GhostShape::Kind::cube}, "periodic"},
                                         Setting{8, 2, {2}, "outflow"}));

}  // namespace
}  // namespace octant::mesh::test
