// Blocks that come from a file make a whole octree, or are refused on every rank.
#include "mesh/nesting.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

using Blocks = std::vector<Mesh::BlockList>;

constexpr int k_ghosts = 2, k_levels = 3;

Blocks blocks_of(const Mesh& mesh) {
  Blocks blocks;
  for (int l = 0; l < k_levels; ++l) {
    auto& list = blocks.emplace_back();
    for (const int slot : mesh.blocks(l).own()) {
      list.keys.push_back(mesh.blocks(l).key(slot));
      list.refined.push_back(mesh.blocks(l).refined(slot));
    }
  }
  return blocks;
}

class StoredOctree : public testing::Test {
 protected:
  StoredOctree() : f(small_box(8, k_levels - 1, "periodic"), {k_ghosts}, 8) {
    // One octant in the middle of each level, refined by the rank that holds the base block.
    FlagMasks flags(k_levels);
    for (int round = 0; round < 2; ++round) {
      for (int l = 0; l < k_levels; ++l) flags[l].assign(f.mesh.blocks(l).slots(), 0);
      const Node* node = f.mesh.blocks(round).find(key_at(round));
      if (node && node->slot >= 0) flags[round][node->slot] = std::uint64_t{1} << 42;
      for (int l = 0; l < round; ++l) {
        const Node* coarse = f.mesh.blocks(l).find(key_at(l));
        if (coarse && coarse->slot >= 0) flags[l][coarse->slot] = std::uint64_t{1} << 42;
      }
      f.mesh.regrid(flags);
    }
    blocks = blocks_of(f.mesh);
  }

  // The upper octant of the block at (1, 1, 1) of the base grid, and of that octant's block.
  static Key key_at(int level) {
    Key key = morton_encode({1, 1, 1});
    for (int l = 0; l < level; ++l) key = child_key(key, 7);
    return key;
  }

  // Where a rank holds a block, or -1.
  std::ptrdiff_t place_of(int level, Key key) const {
    const auto& keys = blocks[level].keys;
    const auto at = std::find(keys.begin(), keys.end(), key);
    return at == keys.end() ? -1 : at - keys.begin();
  }

  void remove(int level, Key key) {
    const auto place = place_of(level, key);
    if (place < 0) return;
    blocks[level].keys.erase(blocks[level].keys.begin() + place);
    blocks[level].refined.erase(blocks[level].refined.begin() + place);
  }

  void set_refined(int level, Key key, int mask) {
    if (const auto place = place_of(level, key); place >= 0)
      blocks[level].refined[place] = static_cast<std::uint8_t>(mask);
  }

  void expect_refused(const std::string& part) {
    try {
      f.mesh.replace_blocks(blocks);
      ADD_FAILURE() << "expected: " << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }

  MeshFixture f;
  Blocks blocks;
};

TEST_F(StoredOctree, of_a_mesh_is_taken_back) {
  ASSERT_EQ(f.mesh.finest_level(), 2);
  f.mesh.replace_blocks(blocks);
  EXPECT_EQ(f.mesh.finest_level(), 2);
  for (int l = 0; l < k_levels; ++l)
    EXPECT_EQ(f.mesh.blocks(l).count(), std::ssize(blocks[l].keys));
}

TEST_F(StoredOctree, has_a_whole_base_grid) {
  remove(0, morton_encode({2, 0, 0}));
  expect_refused("level 0 has 11 blocks");
}

TEST_F(StoredOctree, has_a_child_in_every_refined_octant) {
  remove(2, key_at(2));
  expect_refused("octant 7 of block (3, 3, 3) of level 1 is refined but has no child");
}

TEST_F(StoredOctree, has_children_in_refined_octants_only) {
  set_refined(1, key_at(1), 0);
  expect_refused("octant 7 of block (3, 3, 3) of level 1 has a child but is not refined");
}

TEST_F(StoredOctree, has_a_parent_for_every_block) {
  remove(1, key_at(1));
  expect_refused("block (7, 7, 7) of level 2 has no parent, block (3, 3, 3) of level 1");
}

TEST_F(StoredOctree, is_not_refined_beyond_its_finest_level) {
  set_refined(2, key_at(2), 1);
  expect_refused("octant 0 of block (7, 7, 7) of level 2 is refined but has no child");
}

TEST_F(StoredOctree, is_nested) {
  // The block beside the refined octant of level 1, across the domain's periodic end along y and z.
  const Key beside = morton_encode({4, 0, 0});
  ASSERT_TRUE(f.mesh.communicator().any(place_of(1, beside) >= 0));
  remove(1, beside);
  set_refined(0, parent_key(beside), 0);
  expect_refused(
      "block (3, 3, 3) of level 1 is refined, but its neighbour block (4, 0, 0) of level 1, which "
      "lies within the stencil of");
}

TEST(StoredKeys, lie_on_the_grid_in_ascending_order) {
  const Geometry geometry(small_box(8, 2, "periodic"));
  const Key first = morton_encode({0, 0, 0}), last = morton_encode({2, 1, 1});
  const auto complaint = [&](std::vector<Key> keys) -> std::string {
    try {
      require_keys(geometry, 0, keys);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({first, last}), "");
  EXPECT_NE(complaint({last, first}).find("increasing"), std::string::npos);
  EXPECT_NE(complaint({first, first}).find("twice"), std::string::npos);
  for (const Key outside : {morton_encode({3, 0, 0}), Key{1} << 63 | first, k_no_key})
    EXPECT_NE(complaint({first, outside}).find("outside"), std::string::npos);
}

}  // namespace
}  // namespace octant::mesh::test
