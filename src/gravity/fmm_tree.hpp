// The bricks of 8^3 cells that the fast multipole method works on: those of the mesh's levels,
// whatever the size of its blocks, and above them a pyramid of coarser levels up to one of 4^3
// cells or less. Every rank holds its own bricks, copies of those around them, and who their
// parents and children are; tables are built when the mesh changes.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "comm/exchanger.hpp"
#include "gravity/fmm_arithmetic.hpp"
#include "gravity/fmm_lists.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity::fmm {

// What a refined cell tells of its children where leaf cells may be near, beside its moments: their
// masses. They are points: octants of four cells and more keep cells that are refined twice three
// cells away from a leaf, which is further than near cells are.
inline constexpr int k_child_fields = 8;

// A part of a brick that other ranks have a copy of, or the part that was copied: in parents, lower
// corner included, upper corner excluded; `offset` is that in a message, in doubles.
struct SharedBrick {
  std::int32_t slot;
  std::array<std::int16_t, 3> begin, end;
  std::int64_t offset;
};

// A finer brick: the octant that it fills of which own brick.
struct ChildBrick {
  std::int32_t parent, octant;
};

// What a brick has: octants of leaf cells, and octants of cells with finer ones; neither is outside
// the domain.
struct BrickCells {
  std::uint8_t leaves = 0, refined = 0;
};

// One level's bricks on this rank: own ones by key, then copies. Collective to build.
class BrickLevel {
 public:
  // A level of the mesh.
  BrickLevel(const mesh::Tree& tree, int level);
  // The bricks above those of a level, each with the owner of the lowest brick in it.
  static BrickLevel above(BrickLevel& finer);

  // For the finer level: sends word to the coarser one. To be called once.
  void join(BrickLevel& coarser);
  // Finds the bricks around own ones, `reach` parents away, once all children are known.
  void connect(int reach);

  int level() const { return level_; }  // of the mesh; above it, negative
  int own() const { return own_; }
  int slots() const { return static_cast<int>(keys_.size()); }
  Key key(int slot) const { return keys_[slot]; }
  const std::vector<BrickCells>& cells() const { return cells_; }
  // By own slot, the bricks around, [z][y][x] of offsets -1, 0, 1; -1: none.
  const std::vector<PatchTable>& near() const { return near_; }
  // On any rank.
  bool has_leaves() const { return has_leaves_; }
  bool has_refined() const { return has_refined_; }
  // Whether leaf cells may be near refined ones.
  bool has_jumps() const { return has_leaves_ && has_refined_; }

  const std::vector<SharedBrick>& sent() const { return sent_; }
  const std::vector<SharedBrick>& received() const { return received_; }
  const ExchangePlan& copies() const { return *copies_; }  // of doubles

  // To the coarser level, items being own bricks: their slots in the order of sending, and what
  // arrives from the finer level.
  const std::vector<std::int32_t>& leaving() const { return leaving_; }
  const ExchangePlan& upward() const { return *upward_; }
  const std::vector<ChildBrick>& children() const { return children_; }

  // Doubles of a copied parent's octet.
  std::int64_t shared_doubles(BrickCells cells) const;
  const Communicator& communicator() const { return communicator_; }

 private:
  BrickLevel(const Communicator& communicator, int level, std::array<std::int64_t, 3> extent)
      : communicator_(communicator), tree_(nullptr), level_(level), shift_(0), extent_(extent) {}
  struct Request {
    Key key;
    std::uint32_t directions;
  };
  std::vector<int> owners_of(const std::vector<Key>& keys) const;
  SharedBrick shared(std::int32_t slot, std::uint32_t directions, int reach,
                     std::int64_t& doubles) const;

  Communicator communicator_;
  const mesh::Tree* tree_;              // none above the mesh
  int level_, shift_;                   // bits of a key beyond those of the mesh's block
  std::array<std::int64_t, 3> extent_;  // in bricks
  std::unique_ptr<PatchDirectory> directory_;
  int own_ = 0;
  std::vector<Key> keys_;
  std::vector<BrickCells> cells_;
  std::vector<PatchTable> near_;
  bool has_leaves_ = false, has_refined_ = false;
  std::vector<SharedBrick> sent_, received_;
  std::unique_ptr<ExchangePlan> copies_, upward_;
  std::vector<std::int32_t> leaving_;
  std::vector<int> parent_owners_;
  std::vector<ChildBrick> children_;
};

// Whether a level above the mesh is the last one: with four cells or less along each axis.
bool is_top(const mesh::Geometry& geometry, int level);

}  // namespace octant::gravity::fmm
