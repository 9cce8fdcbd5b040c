// The cells of one level as the multigrid solver sees them: patches of T^3 cells, T = 16 wherever
// the level's extents allow it, whatever the size of the mesh's blocks. A patch joins the blocks
// under one ancestor (small blocks) or is a part of one (large blocks), and belongs to one rank:
// the owner of the block with its lowest key. Cells of a patch that no block covers are masked.
//
// Coarser multigrid grids keep the patches and halve their cells, 16, 8, 4, 2, so that coarsening
// needs no exchange and all grids share the tables built here, once per regrid.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/cubes.hpp"
#include "mesh/tiles.hpp"
#include "mesh/tree.hpp"

namespace octant::gravity {

using mesh::DeviceArray;

// The patches around a patch, [z][y][x] of offsets -1, 0, 1; -1 where there is none.
using PatchTable = std::array<std::int32_t, 27>;

inline constexpr int k_largest_patch = 16;

inline std::int64_t cells_of(int side) { return std::int64_t{side} * side * side; }

// Patches of 16^3 cells are filled to a tenth or a half where blocks are small. Fields have memory
// only for those strips, of this many rows along x that follow each other along y, that blocks lie
// in; other cells are 0.
inline constexpr int k_strip = 4;

// By [k][j / k_strip], which of all strips of a field it is; -1: none. A patch that blocks fill
// lies in a field as [k][j][split i], as patches of fewer cells do.
using StripTable = std::array<std::int32_t, k_largest_patch * k_largest_patch / k_strip>;

// Where row (j, k) of a patch begins in a field with `side`^3 cells per patch; negative: nowhere.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t place_of_row(const StripTable* strips, int side,
                                                      std::int64_t slot, int j, int k) {
  if (side < k_largest_patch) return ((slot * side + k) * side + j) * side;
  const unsigned row = k * k_largest_patch + j;
  const std::int64_t strip = strips[slot][row / k_strip];
  return strip < 0 ? -1 : (strip * k_strip + row % k_strip) * k_largest_patch;
}

// The row in a field; null: nowhere.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION Value* row_of(const StripTable* strips, int side, Value* field,
                                          std::int64_t slot, int j, int k) {
  const std::int64_t place = place_of_row(strips, side, slot, j, k);
  return place < 0 ? nullptr : field + place;
}

// The largest power of two, at most 16, that divides the cells of a level along every axis.
int patch_side(const mesh::Geometry& geometry, int level);

// What every rank can ask about a patch: its owner (-1: there is no such patch) and how many of
// the mesh's blocks lie in it.
struct PatchFacts {
  std::int32_t owner = -1, blocks = 0;
};

// Who owns the patches of one level; spread over all ranks by a hash of the key.
class PatchDirectory {
 public:
  struct Registration {
    Key patch, first_block;
    std::int32_t blocks;
  };
  // Collective. A patch goes to the rank that registers the lowest block in it.
  PatchDirectory(const Communicator& communicator, std::span<const Registration> registrations);

  // Collective; answers in the order of `patches`.
  std::vector<PatchFacts> ask(std::span<const Key> patches) const;

 private:
  int home_of(Key key) const;

  Communicator communicator_;
  KeyTable<PatchFacts> entries_;
};

// A cube of cells that is a part of both a block and a patch. `patch` or `block` is -1 where the
// other side of the copy is a message.
struct Piece {
  std::int32_t block, patch;
  std::array<std::int16_t, 3> in_block, in_patch;  // its lower corner
};

// A patch of which another rank keeps a copy, or the copy itself: the directions (bits of a
// PatchTable's entries) in which it lies from the patches that read it.
struct SharedPatch {
  int rank;
  std::int32_t slot;
  std::uint32_t directions;
};

// The patches of one level on one rank: own ones by key in slots 0..own()-1, then copies of other
// ranks' patches. Collective to build.
class LevelPatches {
 public:
  LevelPatches(const mesh::Tree& tree, int level);

  // The patches of 2^3 cells of which each is one of the finer patches, in whose slots pieces have
  // their blocks.
  explicit LevelPatches(const LevelPatches& finer);

  int level() const { return level_; }
  int side() const { return side_; }              // T
  int piece_side() const { return piece_side_; }  // cells along the edge of a Piece
  int own() const { return own_; }
  int slots() const { return static_cast<int>(keys_.size()); }
  Key key(int slot) const { return keys_[slot]; }
  std::array<std::int64_t, 3> extent() const { return extent_; }  // in patches
  const std::array<bool, 3>& periodic() const { return periodic_; }
  const Communicator& communicator() const { return communicator_; }
  const PatchDirectory& directory() const { return directory_; }
  const std::vector<PatchTable>& tables() const { return tables_; }
  // Slot of an own patch, or -1.
  int find(Key key) const;

  // By slot, of patches of 16^3 cells: where fields hold them. Copies have all their strips.
  const DeviceArray<const StripTable>& strips() const { return strips_; }
  // The values of a field with `side`^3 cells per patch.
  std::int64_t values(int side) const {
    return side < k_largest_patch ? slots() * cells_of(side) : values_;
  }

  // By own slot: whether some cell of the patch or of those around it is masked.
  const std::vector<std::uint8_t>& masked() const { return masked_; }
  bool any_masked() const { return any_masked_; }  // on any rank

  // Patches sent to other ranks, and the copies received, each by rank and in the same order.
  const std::vector<SharedPatch>& sent() const { return sent_; }
  const std::vector<SharedPatch>& received() const { return received_; }

  // Pieces of own blocks in own patches; in other ranks' patches (by rank); and pieces of other
  // ranks' blocks in own patches (by rank).
  const std::vector<Piece>& local_pieces() const { return local_; }
  const std::vector<Piece>& leaving_pieces() const { return leaving_; }
  const std::vector<Piece>& arriving_pieces() const { return arriving_; }
  const ExchangePlan& piece_plan() const { return *piece_plan_; }

  // The patch next to this one in the given direction; none beyond a boundary that is not periodic.
  std::optional<Key> neighbour(Key key, const std::array<int, 3>& offset) const;

  // Of tables and lists on this rank.
  std::int64_t bytes() const;

 private:
  struct Block {
    std::int32_t slot;
    Key key;
  };
  static std::vector<Block> blocks_of(const mesh::TreeLevel& blocks);
  static std::vector<Block> blocks_of(const LevelPatches& finer);
  void build(const std::vector<Block>& blocks);
  void fill_tables(const std::vector<PatchFacts>& facts);
  void exchange_copies();
  void match_pieces(const std::vector<Block>& blocks, const std::vector<Key>& touched,
                    const std::vector<PatchFacts>& facts);
  void number_strips();
  std::vector<PatchDirectory::Registration> touched_patches(const std::vector<Block>& blocks) const;

  Communicator communicator_;
  int level_, side_, block_size_, piece_side_;
  mesh::Cubes cubes_;  // the patches
  std::array<std::int64_t, 3> extent_;
  std::array<bool, 3> periodic_;
  std::vector<PatchDirectory::Registration> registrations_;
  PatchDirectory directory_;
  int own_ = 0;
  std::vector<Key> keys_;
  std::vector<PatchTable> tables_;
  std::vector<std::uint8_t> masked_;
  bool any_masked_ = false;
  std::vector<SharedPatch> sent_, received_;
  std::vector<Piece> local_, leaving_, arriving_;
  std::unique_ptr<ExchangePlan> piece_plan_;
  DeviceArray<const StripTable> strips_;
  std::int64_t values_ = 0;  // of a field of the finest grid, if it has strips
};

}  // namespace octant::gravity
