// Geometry of the mesh: the domain, its levels and boundaries, and positions of blocks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/named.hpp"
#include "decomp/morton.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::mesh {

// Boundary conditions. Beyond `open` boundaries gas has the state of the last cell and may enter;
// `diode` boundaries only let gas leave. A Geometry stores `open` or `diode` for each `outflow`.
enum class Boundary { periodic, outflow, reflecting, inflow, open, diode };
// Names of the boundary conditions in parameter files.
constexpr auto names_of(Boundary) {
  return std::array{"periodic", "outflow", "reflecting", "inflow", "open", "diode"};
}

// Parameters `mesh.*`. Lengths are in code length.
struct MeshOptions {
  std::array<int, 3> base_cells{32, 32, 32};
  int block_size = 8;
  int max_level = 0;
  std::array<double, 3> lower{0.0, 0.0, 0.0};
  std::array<double, 3> upper{1.0, 1.0, 1.0};
  // Lower and upper boundary along x, y, z.
  static inline const std::vector<Boundary> k_periodic{Boundary::periodic, Boundary::periodic};
  std::array<std::vector<Boundary>, 3> boundary{k_periodic, k_periodic, k_periodic};
  // Derived setting: true if `outflow` boundaries are diodes, because forces could accelerate gas
  // into the domain; false if they are open.
  bool outflow_is_diode = false;
};

// Declares the parameters `mesh.*`. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, MeshOptions& options);

// The domain and its levels. Level 0 is the base grid; each finer level halves the cell size. Cells
// are cubes. Plain value type.
class Geometry {
 public:
  // Throws InputError, naming the parameters, for invalid domains: cells that are not cubes, a base
  // grid that is not a multiple of the block size, a periodic boundary opposite a non-periodic one,
  // more levels than keys can address.
  explicit Geometry(const MeshOptions& options);

  int block_size() const { return block_size_; }       // cells along the edge of a block, N
  int octant_size() const { return block_size_ / 2; }  // cells along the edge of an octant
  // Index of the finest level that may exist.
  int max_level() const { return max_level_; }
  // Edge length of the cells of a level, in code length.
  double cell_size(int level) const { return base_cell_size_ / static_cast<double>(1 << level); }
  // Volume of a cell, in code length cubed.
  double cell_volume(int level) const;
  // Lower corner of the domain, in code length.
  std::array<double, 3> lower() const { return lower_; }
  // Upper corner of the domain, in code length.
  std::array<double, 3> upper() const { return upper_; }
  // Boundary condition; side 0 is the lower boundary, side 1 the upper one.
  Boundary boundary(int axis, int side) const { return boundary_[axis][side]; }
  // True for a periodic axis.
  bool periodic(int axis) const { return boundary_[axis][0] == Boundary::periodic; }

  // Number of blocks along each axis.
  BlockCoordinates extent(int level) const;

  // Lower corner of a block, in code length.
  std::array<double, 3> origin(int level, const BlockCoordinates& block) const;

  // Keys of the 27 positions around a block, [z][y][x] with the block itself in the middle;
  // k_no_key beyond non-periodic boundaries.
  std::array<Key, 27> keys_around(int level, Key block) const;

  // Wraps block coordinates along periodic axes into the domain. Returns true if the wrapped block
  // lies inside the domain.
  bool wrap(int level, BlockCoordinates& block) const;

 private:
  int block_size_, max_level_;
  double base_cell_size_;
  std::array<int, 3> base_blocks_;
  std::array<double, 3> lower_, upper_;
  std::array<std::array<Boundary, 2>, 3> boundary_;
};

// Mapping between blocks and cubes of cells of another size: the patches of tiles and of multigrid.
//
// A cube joins the blocks under one ancestor or is a part of one block; both sizes are powers of
// two. The key of a cube encodes its coordinates in units of cubes. Plain value type.
class Cubes {
 public:
  Cubes(int block_side, int cube_side)
      : shift_(std::countr_zero(static_cast<unsigned>(cube_side)) -
               std::countr_zero(static_cast<unsigned>(block_side))) {}

  // Number of blocks along an edge of a cube, at least 1.
  int blocks_across() const { return 1 << std::max(shift_, 0); }
  // Number of blocks in a cube, at least 1.
  int blocks_per_cube() const { return 1 << 3 * std::max(shift_, 0); }
  // Number of cubes in a block, at least 1.
  int cubes_per_block() const { return 1 << 3 * std::max(-shift_, 0); }

  // Key of the cube that contains a block, or that is part n of a block.
  Key key_of(Key block, int n = 0) const {
    return shift_ >= 0 ? block >> 3 * shift_ : (block << -3 * shift_) + static_cast<Key>(n);
  }
  // Position of a block in its cube, in units of blocks.
  BlockCoordinates position_in_cube(Key block) const {
    return morton_decode(block & static_cast<Key>(blocks_per_cube() - 1));
  }
  // Position of part n of a block in the block, in units of cubes.
  static BlockCoordinates position_in_block(int n) { return morton_decode(static_cast<Key>(n)); }

 private:
  // log2 of the number of blocks along a cube's edge; negative if cubes are smaller than blocks
  int shift_;
};

}  // namespace octant::mesh
