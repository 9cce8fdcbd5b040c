// Random sequences of refinement, derefinement, migration and restart against a model of the octree
// that every rank keeps as a whole, from the rules alone. OCTANT_TREE_SEQUENCES sets the number of
// sequences, and OCTANT_TREE_SEED the first of their seeds.
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "mesh/nesting.hpp"
#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

// Octree without ranks: the refined octants of each block, by level and position.
class TreeModel {
 public:
  using Blocks = std::map<BlockCoordinates, std::uint8_t>;

  TreeModel(const Geometry& geometry, int distance) : geometry_(geometry), distance_(distance) {
    levels_.resize(geometry.max_level() + 1);
    const BlockCoordinates extent = geometry.extent(0);
    for (BlockCoordinate z = 0; z < extent[2]; ++z)
      for (BlockCoordinate y = 0; y < extent[1]; ++y)
        for (BlockCoordinate x = 0; x < extent[0]; ++x) levels_[0][{x, y, z}] = 0;
  }

  const Blocks& level(int l) const { return levels_[l]; }

  // Refines the flagged octants, what contains them, and what must lie around them.
  template <class FlagOf>
  void regrid(const FlagOf& flag_of) {
    wanted_.assign(levels_.size(), {});
    for (int l = 0; l + 1 < std::ssize(levels_); ++l)
      for (const auto& [block, refined] : levels_[l])
        for (int bit = 0; bit < 64; ++bit)
          if (flag_of(l, block) >> bit & 1)
            want(l, {2 * block[0] + (bit & 3) - 1, 2 * block[1] + (bit >> 2 & 3) - 1,
                     2 * block[2] + (bit >> 4) - 1});
    for (int l = static_cast<int>(std::ssize(levels_)) - 2; l > 0; --l)
      for (const BlockCoordinates& octant : std::set(wanted_[l])) want_around(l, octant);
    apply();
  }

 private:
  // Wants an octant, at a position among the blocks of the next level, or the octant of the next
  // coarser level that contains it.
  void want(int level, BlockCoordinates octant) {
    if (!geometry_.wrap(level + 1, octant)) return;
    while (!levels_[level].contains(halved(octant))) {
      octant = halved(octant);
      --level;
    }
    wanted_[level].insert(octant);
  }

  // Wants all blocks of a level with cells within the nesting distance of an octant.
  void want_around(int level, const BlockCoordinates& octant) {
    const BlockCoordinates block = halved(octant);
    const int size = geometry_.block_size(), half = size / 2;
    for (int n = 0; n < 27; ++n) {
      const int offset[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
      bool is_near = true;
      BlockCoordinates around;
      for (int d = 0; d < 3; ++d) {
        const int begin = static_cast<int>(octant[d] & 1) * half, end = begin + half;
        if (offset[d] < 0) is_near = is_near && begin < distance_;
        if (offset[d] > 0) is_near = is_near && size - end < distance_;
        around[d] = block[d] + offset[d];
      }
      if (is_near) want(level - 1, around);
    }
  }

  void apply() {
    for (int l = 0; l < std::ssize(levels_); ++l) {
      Blocks blocks;
      if (l == 0) blocks = levels_[0];
      else
        for (const BlockCoordinates& block : wanted_[l - 1]) blocks[block] = 0;
      for (auto& [block, refined] : blocks) refined = 0;
      for (const BlockCoordinates& octant : wanted_[l])
        blocks.at(halved(octant)) |= static_cast<std::uint8_t>(
            1 << ((octant[0] & 1) + 2 * (octant[1] & 1) + 4 * (octant[2] & 1)));
      levels_[l] = std::move(blocks);
    }
  }

  static BlockCoordinates halved(const BlockCoordinates& b) {
    return {b[0] >> 1, b[1] >> 1, b[2] >> 1};
  }

  Geometry geometry_;
  int distance_;
  std::vector<Blocks> levels_;
  std::vector<std::set<BlockCoordinates>> wanted_;  // by level; octants as blocks of the next level
};

double position_value(const Point& x) { return 1.0 + x[0] + 2.0 * x[1] - 0.5 * x[2]; }

// A sequence of random operations, which a seed determines.
class Sequence {
 public:
  Sequence(std::uint64_t seed, const MeshOptions& options, int ghosts)
      : seed_(seed),
        fixture_(options, {ghosts}, 8),
        model_(fixture_.mesh.geometry(), nesting_distance(ghosts)) {}

  // Ends at the first operation that fails on any rank.
  void run(int operations) {
    for (round_ = 0; round_ < operations && !has_failed(); ++round_) {
      const double choice = random(1, 0);
      if (choice < 0.6) regrid();
      else if (choice < 0.85) migrate();
      else restart();
      compare();
    }
  }

 private:
  // A random number in [0, 1) of this operation.
  double random(std::uint64_t what, std::uint32_t number) const {
    return RandomStream(1000 * seed_ + round_, what, 7).uniform(number);
  }
  int random_rank(int level, Key key) const {
    const int ranks = fixture_.mesh.communicator().size();
    const auto block = 64 * static_cast<std::uint64_t>(key) + static_cast<std::uint64_t>(level);
    return static_cast<int>(random(block, 65) * ranks) % ranks;
  }

  void regrid() {
    const double chances[] = {0.0, 0.02, 0.2, 0.5};
    const double chance = chances[static_cast<int>(4 * random(1, 1)) % 4];
    const auto flag_of = [&](int level, Key key) {
      return MeshFixture::random_flag(static_cast<int>(1000 * seed_) + round_, level, key, chance);
    };
    Mesh& mesh = fixture_.mesh;
    FlagMasks flags(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      flags[l].assign(mesh.blocks(l).slots(), 0);
      for (const int slot : mesh.blocks(l).own())
        flags[l][slot] = flag_of(l, mesh.blocks(l).key(slot));
    }
    mesh.regrid(flags);
    model_.regrid([&](int l, const BlockCoordinates& b) { return flag_of(l, morton_encode(b)); });
  }

  // Moves most blocks, or a few; their cells must move with them.
  void migrate() {
    Mesh& mesh = fixture_.mesh;
    fixture_.set(position_value, position_value);
    const double fraction = random(1, 1);
    std::vector<std::vector<int>> owners(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.geometry().max_level(); ++l)
      for (const int slot : mesh.blocks(l).own()) {
        const Key key = mesh.blocks(l).key(slot);
        const bool moves = random(64 * static_cast<std::uint64_t>(key) + l, 64) < fraction;
        owners[l].push_back(moves ? random_rank(l, key) : mesh.communicator().rank());
      }
    mesh.migrate(owners);
    for (int l = 0; l <= mesh.finest_level(); ++l)
      fixture_.for_own_cells(
          l, [](const Point& x, double* cell) { ASSERT_EQ(cell[0], position_value(x)); });
  }

  // Replaces all blocks by those of the model, on other ranks.
  void restart() {
    Mesh& mesh = fixture_.mesh;
    std::vector<Mesh::BlockList> levels(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      std::map<Key, std::uint8_t> sorted;
      for (const auto& [block, refined] : model_.level(l)) sorted[morton_encode(block)] = refined;
      for (const auto& [key, refined] : sorted) {
        if (random_rank(l, key) != mesh.communicator().rank()) continue;
        levels[l].keys.push_back(key);
        levels[l].refined.push_back(refined);
      }
    }
    mesh.replace_blocks(levels);
    fixture_.set(position_value, position_value);
  }

  bool has_failed() const { return fixture_.mesh.communicator().any(testing::Test::HasFailure()); }

  void compare() {
    const Mesh& mesh = fixture_.mesh;
    const std::vector<std::int64_t> counts = mesh.tree().global_counts();
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      EXPECT_EQ(counts[l], std::ssize(model_.level(l))) << where(l);
      for (const int slot : mesh.blocks(l).own()) {
        const auto found = model_.level(l).find(morton_decode(mesh.blocks(l).key(slot)));
        ASSERT_NE(found, model_.level(l).end()) << where(l);
        EXPECT_EQ(mesh.blocks(l).refined(slot), found->second) << where(l);
      }
    }
  }

  std::string where(int level) const {
    return "seed " + std::to_string(seed_) + ", operation " + std::to_string(round_) + ", level " +
           std::to_string(level);
  }

  std::uint64_t seed_;
  int round_ = 0;
  MeshFixture fixture_;
  TreeModel model_;
};

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

TEST(TreeSequences, agree_with_a_model_without_ranks) {
  const int first = from_environment("OCTANT_TREE_SEED", 1);
  const int sequences = from_environment("OCTANT_TREE_SEQUENCES", 6);
  const char* boundaries[] = {"periodic", "outflow", "reflecting"};
  for (int seed = first; seed < first + sequences; ++seed) {
    const int block_size = seed % 3 == 0 ? 8 : 4;
    Sequence(seed, small_box(block_size, 1 + seed % 3, boundaries[seed / 3 % 3]), 2 + seed % 2)
        .run(12);
  }
}

}  // namespace
}  // namespace octant::mesh::test
