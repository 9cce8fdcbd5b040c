// Where blocks are: the domain, its levels, and what lies beyond its boundaries.
#pragma once

#include <array>
#include <vector>

#include "core/named.hpp"
#include "decomp/morton.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::mesh {

// Beyond `open` sides the gas is that of the last cell and may enter; through a `diode` it leaves,
// and none enters. A Geometry has one of these for each side that is given as `outflow`.
enum class Boundary { periodic, outflow, reflecting, inflow, open, diode };
constexpr auto names_of(Boundary) {
  return std::array{"periodic", "outflow", "reflecting", "inflow", "open", "diode"};
}

// The parameters `mesh.*`. Lengths are in code length.
struct MeshOptions {
  std::array<int, 3> base_cells{32, 32, 32};
  int block_size = 8;
  int max_level = 0;
  std::array<double, 3> lower{0.0, 0.0, 0.0};
  std::array<double, 3> upper{1.0, 1.0, 1.0};
  // Below and above along x, y, z.
  static inline const std::vector<Boundary> k_periodic{Boundary::periodic, Boundary::periodic};
  std::array<std::vector<Boundary>, 3> boundary{k_periodic, k_periodic, k_periodic};
  // Not a parameter: whether `outflow` is a diode, as where forces would draw gas in, or open.
  bool outflow_is_diode = false;
};

void declare(ParameterSchema& schema, MeshOptions& options);

// The domain as a stack of levels. Level 0 is the base grid; each further level halves the cells.
// Cells are cubes. A plain value.
class Geometry {
 public:
  // Throws InputError, naming the parameters, where they do not describe a domain: cells that are
  // not cubes, a base grid that the block size does not divide, a periodic side without its
  // partner, more levels than keys can address.
  explicit Geometry(const MeshOptions& options);

  int block_size() const { return block_size_; }       // N
  int octant_size() const { return block_size_ / 2; }  // cells across an octant
  int max_level() const { return max_level_; }
  double cell_size(int level) const { return base_cell_size_ / static_cast<double>(1 << level); }
  double cell_volume(int level) const;
  std::array<double, 3> lower() const { return lower_; }
  std::array<double, 3> upper() const { return upper_; }
  Boundary boundary(int axis, int side) const { return boundary_[axis][side]; }
  bool periodic(int axis) const { return boundary_[axis][0] == Boundary::periodic; }

  // Number of blocks along each axis.
  BlockCoordinates extent(int level) const;

  // Lower corner of a block.
  std::array<double, 3> origin(int level, const BlockCoordinates& block) const;

  // The keys of the 27 positions around a block, [z][y][x] with the block itself in the middle;
  // k_no_key beyond boundaries.
  std::array<Key, 27> keys_around(int level, Key block) const;

  // Wraps periodic axes into the domain. True if the block then lies inside.
  bool wrap(int level, BlockCoordinates& block) const;

 private:
  int block_size_, max_level_;
  double base_cell_size_;
  std::array<int, 3> base_blocks_;
  std::array<double, 3> lower_, upper_;
  std::array<std::array<Boundary, 2>, 3> boundary_;
};

}  // namespace octant::mesh
