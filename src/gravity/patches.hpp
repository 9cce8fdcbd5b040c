// Patches of one level for the multigrid solver: T^3 cells, T = 16 if the extents of the level
// allow it, for any size of blocks. A patch consists of the blocks under one ancestor (small
// blocks) or is a part of one block (large blocks), and belongs to the owner of its block with the
// lowest key. Cells of a patch that no block covers are masked.
//
// Coarser grids have the same patches with half the side, 16, 8, 4, 2, so that coarsening requires
// no exchange and all grids use the same tables, which are built once per regrid.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "comm/exchanger.hpp"
#include "mesh/geometry.hpp"
#include "mesh/launch.hpp"
#include "mesh/tree.hpp"

namespace octant::gravity {

using mesh::DeviceArray;
using mesh::for_items;
using mesh::for_items_of;
using mesh::for_teams;
using mesh::in_team;
using mesh::Team;

// Slots of the patches around a patch, [z][y][x] for offsets -1, 0, 1; -1 if there is none.
using PatchTable = std::array<std::int32_t, 27>;

inline constexpr int k_largest_patch = 16;

// Number of cells of a patch with this side.
inline std::int64_t cells_of(int side) { return std::int64_t{side} * side * side; }

// Number of rows along x in a strip, which are adjacent along y. With small blocks, only a tenth to
// a half of the cells of 16^3 patches are covered. Fields have memory only for strips that contain
// blocks; other cells are 0.
inline constexpr int k_strip = 4;

// Indices of a patch's strips among all strips of a field, by [k][j / k_strip]; -1 for a strip
// without memory. A fully covered patch is stored as [k][j][split i], as smaller patches are.
using StripTable = std::array<std::int32_t, k_largest_patch * k_largest_patch / k_strip>;

// Index of the first cell of row (j, k) of a patch in a field with `side`^3 cells per patch;
// negative if the row has no memory.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t offset_of_row(const StripTable* strips, int side,
                                                       std::int64_t slot, int j, int k) {
  if (side < k_largest_patch) return ((slot * side + k) * side + j) * side;
  const unsigned row = k * k_largest_patch + j;
  const std::int64_t strip = strips[slot][row / k_strip];
  return strip < 0 ? -1 : (strip * k_strip + row % k_strip) * k_largest_patch;
}

// Address of a row in a field; null if the row has no memory.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION Value* row_of(const StripTable* strips, int side, Value* field,
                                          std::int64_t slot, int j, int k) {
  const std::int64_t place = offset_of_row(strips, side, slot, j, k);
  return place < 0 ? nullptr : field + place;
}

// Returns the largest power of two, at most 16, that divides the cells of a level along every axis.
int patch_side(const mesh::Geometry& geometry, int level);

// Properties of a patch in the directory: owner (-1: there is no such patch), and number of blocks
// of the mesh in the patch.
struct PatchFacts {
  std::int32_t owner = -1, blocks = 0;
};

// Directory of patch owners of one level, distributed over all ranks by a hash of the key.
class PatchDirectory {
 public:
  // Patch that contains own blocks, and key of the first and number of these blocks.
  struct Registration {
    Key patch, first_block;
    std::int32_t blocks;
  };
  // Assigns each patch to the rank that registers the lowest block in it. Collective.
  PatchDirectory(const Communicator& communicator, std::span<const Registration> registrations);

  // Returns the properties of patches in the order of `patches`. Collective.
  std::vector<PatchFacts> find_owners(std::span<const Key> patches) const;

 private:
  int home_of(Key key) const;

  Communicator communicator_;
  KeyTable<PatchFacts> entries_;
};

// Cube of cells that is a part of both a block and a patch. `patch` or `block` is -1 on the side of
// a copy that is a message.
struct Piece {
  std::int32_t block, patch;
  std::array<std::int16_t, 3> in_block, in_patch;  // lower corner
};

// Part [begin, end) of a patch that another rank stores as a copy, or of the copy, and offset of
// the part in a message. Coordinates are in cells or, for bricks, in parents.
struct PatchCopy {
  std::int32_t slot;
  std::array<std::int16_t, 3> begin, end;
  std::int64_t offset;

  // Number of rows along x.
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return (end[1] - begin[1]) * (end[2] - begin[2]); }
  // Number of items of mesh::for_items_of(), which are rows.
  KOKKOS_FORCEINLINE_FUNCTION int items() const { return rows(); }
  // y coordinate of row n in the patch.
  KOKKOS_FORCEINLINE_FUNCTION int j(int n) const { return begin[1] + n % (end[1] - begin[1]); }
  // z coordinate of row n in the patch.
  KOKKOS_FORCEINLINE_FUNCTION int k(int n) const { return begin[2] + n / (end[1] - begin[1]); }
  // Length of a row.
  KOKKOS_FORCEINLINE_FUNCTION int length() const { return end[0] - begin[0]; }
  // Index of the first value of row n in the message.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(int n) const { return offset + n * length(); }
};

// Patch or brick that another rank stores as a copy, or the copy. `directions` are the directions
// from patches that read the copy to the copy, as bits of the entries of a PatchTable.
struct SharedPatch {
  int rank;
  std::int32_t slot;
  std::uint32_t directions;

  // Returns the bounding box of the parts of a patch of `side`^3 cells that are read to this depth
  // in any of the directions.
  PatchCopy part(int side, int depth, std::int64_t offset) const;
};

// Equal cubes that tile a level, which are patches of multigrid or bricks of the fast multipole
// method, on one rank. Slots 0..own()-1 are the cubes of this rank in the order of their Morton
// keys; the following slots are copies of adjacent cubes of other ranks.
class CubeGrid {
 public:
  // Level of the mesh, negative above the mesh.
  int level() const { return level_; }
  // Number of own cubes.
  int own() const { return own_; }
  // Number of cubes, including copies.
  int slots() const { return static_cast<int>(keys_.size()); }
  // Morton key of a cube.
  Key key(int slot) const { return keys_[slot]; }
  std::array<std::int64_t, 3> extent() const { return extent_; }  // number of cubes along each axis
  // Periodic axes.
  const std::array<bool, 3>& periodic() const { return periodic_; }
  // Communicator of the ranks.
  const Communicator& communicator() const { return communicator_; }
  // Surrounding cubes of each own slot.
  const std::vector<PatchTable>& tables() const { return tables_; }
  // Returns the slot of an own cube, or -1.
  int find(Key key) const;
  // Returns the key of the adjacent cube in a direction; none beyond a non-periodic boundary.
  std::optional<Key> neighbour(Key key, const std::array<int, 3>& offset) const;

  // Own cubes that are sent to other ranks, by rank.
  const std::vector<SharedPatch>& sent() const { return sent_; }
  // Copies received from other ranks, by rank and in the same order as sent() there.
  const std::vector<SharedPatch>& received() const { return received_; }

 protected:
  CubeGrid(const Communicator& communicator, int level)
      : communicator_(communicator), level_(level) {}
  ~CubeGrid() = default;
  CubeGrid(CubeGrid&&) = default;
  CubeGrid& operator=(CubeGrid&&) = default;
  CubeGrid(const CubeGrid&) = default;

  // Function that returns the properties of cubes, in the order of the keys. Collective.
  using FactsOf = std::function<std::vector<PatchFacts>(const std::vector<Key>&)>;
  std::vector<PatchFacts> find_neighbours(const FactsOf& facts_of);

  Communicator communicator_;
  int level_;
  std::array<std::int64_t, 3> extent_{};
  std::array<bool, 3> periodic_{};
  int own_ = 0;
  std::vector<Key> keys_;
  std::vector<PatchTable> tables_;
  std::vector<SharedPatch> sent_, received_;
};

// Patches of one level on one rank. Constructors are collective.
class LevelPatches : public CubeGrid {
 public:
  LevelPatches(const mesh::Tree& tree, int level);

  // Builds coarser patches of 2^3 cells, which are patches of `finer`. Piece::block is their slot.
  explicit LevelPatches(const LevelPatches& finer);

  int side() const { return side_; }              // cells along an edge of a patch, T
  int piece_side() const { return piece_side_; }  // cells along an edge of a Piece
  // Owners of all patches of the level.
  const PatchDirectory& directory() const { return directory_; }

  // Strips by slot, for patches of 16^3 cells. Copies have all their strips.
  const DeviceArray<const StripTable>& strips() const { return strips_; }
  // Number of values of a field with `side`^3 cells per patch.
  std::int64_t values(int side) const {
    return side < k_largest_patch ? slots() * cells_of(side) : values_;
  }

  // Flag for each own slot: true if a cell of the patch or of a neighbouring patch is masked.
  const std::vector<std::uint8_t>& masked() const { return masked_; }
  bool any_masked() const { return any_masked_; }  // true if any rank has masked cells

  // Pieces of own blocks in own patches.
  const std::vector<Piece>& local_pieces() const { return local_; }
  // Pieces of own blocks in other ranks' patches, by rank.
  const std::vector<Piece>& leaving_pieces() const { return leaving_; }
  // Pieces of other ranks' blocks in own patches, by rank.
  const std::vector<Piece>& arriving_pieces() const { return arriving_; }
  // Exchange of pieces.
  const ExchangePlan& piece_plan() const { return *piece_plan_; }

  // Memory of tables and lists on this rank, in bytes.
  std::int64_t bytes() const;

 private:
  struct Block {
    std::int32_t slot;
    Key key;
  };
  static std::vector<Block> blocks_of(const mesh::TreeLevel& blocks);
  static std::vector<Block> blocks_of(const LevelPatches& finer);
  void build(const std::vector<Block>& blocks);
  void fill_tables(std::vector<PatchFacts> attributes);  // `attributes` of own patches
  void match_pieces(const std::vector<Block>& blocks, const std::vector<Key>& touched,
                    const std::vector<PatchFacts>& attributes);
  void number_strips();
  std::vector<PatchDirectory::Registration> patches_with_own_blocks(
      const std::vector<Block>& blocks) const;

  int side_, block_size_, piece_side_;
  mesh::Cubes cubes_;  // conversion between patches and blocks
  std::vector<PatchDirectory::Registration> registrations_;
  PatchDirectory directory_;
  std::vector<std::uint8_t> masked_;
  bool any_masked_ = false;
  std::vector<Piece> local_, leaving_, arriving_;
  std::unique_ptr<ExchangePlan> piece_plan_;
  DeviceArray<const StripTable> strips_;
  std::int64_t values_ = 0;  // number of values of a field with 16^3 cells per patch
};

}  // namespace octant::gravity
