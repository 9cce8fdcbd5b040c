#include "mesh/geometry.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::mesh {

namespace {

constexpr std::array<char, 3> k_axis_names{'x', 'y', 'z'};
// Limits of lengths. Sixth powers, which occur in products of moments, are finite and nonzero.
constexpr double k_shortest = 1e-50, k_longest = 1e50;
// Minimum cell sizes of the base level and of the finest level, in units of the spacing between
// floating-point numbers at the largest coordinate.
constexpr double k_base_spacings = 1e6, k_finest_spacings = 16.0;

}  // namespace

void declare(ParameterSchema& schema, MeshOptions& options) {
  schema.add(
      "mesh.base_cells", options.base_cells,
      {.unit = "cells",
       .meaning = "Number of cells of the base grid along x, y, z; multiples of mesh.block_size",
       .min = 2});
  schema.add("mesh.block_size", options.block_size,
             {.unit = "cells",
              .meaning = "Number of cells along each side of a block: 2, 4, 8, 16 or 32",
              .min = 2,
              .max = 32});
  schema.add(
      "mesh.max_level", options.max_level,
      {.meaning = "Finest level of refinement; the base grid is level 0", .min = 0, .max = 40});
  schema.add("mesh.lower", options.lower,
             {.unit = "length", .meaning = "Lower corner of the domain"});
  schema.add("mesh.upper", options.upper,
             {.unit = "length", .meaning = "Upper corner of the domain"});
  for (int axis = 0; axis < 3; ++axis) {
    schema.add(
        std::string("mesh.boundary_") + k_axis_names[axis], options.boundary[axis],
        {.meaning = std::string("Boundary conditions at the lower and upper ") +
                    k_axis_names[axis] +
                    " boundaries: periodic; reflecting (solid wall); inflow (gas state set by the "
                    "problem); open (zero gradient, gas may leave and enter); diode (zero "
                    "gradient, gas may only leave); outflow (diode in a non-rotating frame with "
                    "gravity.enabled or hydro.acceleration, otherwise open)"});
  }
}

namespace {

// Throws InputError for lengths whose powers or differences are not representable, which would give
// zero or infinite masses, or cells of wrong size.
void require_resolved_lengths(const Geometry& geometry) {
  double longest = 0.0, farthest = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    const double lower = geometry.lower()[axis], upper = geometry.upper()[axis];
    longest = std::max(longest, upper - lower);
    farthest = std::max({farthest, std::abs(lower), std::abs(upper)});
  }
  const double base = geometry.cell_size(0), finest = geometry.cell_size(geometry.max_level());
  if (longest > k_longest || finest < k_shortest)
    throw InputError(
        "mesh.upper - mesh.lower = {}, with cells down to {}: expected lengths between {} and {}; "
        "choose another unit of length",
        longest, finest, k_shortest, k_longest);
  const double spacing = farthest * std::numeric_limits<double>::epsilon();
  if (base < k_base_spacings * spacing || finest < k_finest_spacings * spacing)
    throw InputError(
        "mesh.lower, mesh.upper: the domain extends to {}, where floating-point numbers have a "
        "spacing of {}, but its cell sizes range from {} to {}; move the domain closer to 0, or "
        "decrease mesh.max_level",
        farthest, spacing, finest, base);
}

}  // namespace

Geometry::Geometry(const MeshOptions& options)
    : block_size_(options.block_size),
      max_level_(options.max_level),
      lower_(options.lower),
      upper_(options.upper) {
  if (!std::has_single_bit(static_cast<unsigned>(block_size_)))
    throw InputError("mesh.block_size = {}: expected 2, 4, 8, 16 or 32", block_size_);
  for (int axis = 0; axis < 3; ++axis) {
    const int cells = options.base_cells[axis];
    const double length = upper_[axis] - lower_[axis];
    if (!(length > 0.0) || !std::isfinite(length))
      throw InputError("mesh.upper[{0}] = {1} must be greater than mesh.lower[{0}] = {2}", axis,
                       upper_[axis], lower_[axis]);
    if (cells % block_size_ != 0)
      throw InputError("mesh.base_cells[{}] = {}: expected a multiple of mesh.block_size = {}",
                       axis, cells, block_size_);
    const double cell = length / cells;
    if (axis == 0) base_cell_size_ = cell;
    if (std::abs(cell - base_cell_size_) > 1e-10 * base_cell_size_)
      throw InputError(
          "mesh: cells must be cubes, but (mesh.upper - mesh.lower) / mesh.base_cells is {} along "
          "x "
          "and {} along {}; change mesh.base_cells or the domain",
          base_cell_size_, cell, k_axis_names[axis]);
    base_blocks_[axis] = cells / block_size_;
    const auto deepest = static_cast<std::uint64_t>(base_blocks_[axis]) << max_level_;
    if (max_level_ >= 62 || deepest > static_cast<std::uint64_t>(k_key_coordinate_end))
      throw InputError(
          "mesh.max_level = {}: with {} base blocks along {}, block keys would have more than {} "
          "bits; decrease mesh.max_level or build with OCTANT_KEY128",
          max_level_, base_blocks_[axis], k_axis_names[axis], k_key_bits_per_axis);
    if (options.boundary[axis].size() != 2)
      throw InputError("mesh.boundary_{}: expected two names, [lower, upper], but found {}",
                       k_axis_names[axis], options.boundary[axis].size());
    for (int side = 0; side < 2; ++side) {
      Boundary& boundary = boundary_[axis][side] = options.boundary[axis][side];
      if (boundary == Boundary::outflow)
        boundary = options.outflow_is_diode ? Boundary::diode : Boundary::open;
    }
    if ((boundary_[axis][0] == Boundary::periodic) != (boundary_[axis][1] == Boundary::periodic))
      throw InputError(
          "mesh.boundary_{} = [\"{}\", \"{}\"]: either both boundaries or neither must be periodic",
          k_axis_names[axis], name_of(boundary_[axis][0]), name_of(boundary_[axis][1]));
  }
  require_resolved_lengths(*this);
}

double Geometry::cell_volume(int level) const {
  const double cell = cell_size(level);
  return cell * cell * cell;
}

BlockCoordinates Geometry::extent(int level) const {
  BlockCoordinates blocks;
  for (int axis = 0; axis < 3; ++axis)
    blocks[axis] = static_cast<BlockCoordinate>(base_blocks_[axis]) << level;
  return blocks;
}

std::array<double, 3> Geometry::origin(int level, const BlockCoordinates& block) const {
  const double side = cell_size(level) * block_size_;
  std::array<double, 3> corner;
  for (int axis = 0; axis < 3; ++axis)
    corner[axis] = lower_[axis] + side * static_cast<double>(block[axis]);
  return corner;
}

std::array<Key, 27> Geometry::keys_around(int level, Key block) const {
  const BlockCoordinates centre = morton_decode(block), blocks = extent(level);
  // Key bits of the coordinates below, at and above the block, by axis.
  std::array<std::array<Key, 3>, 3> bits;
  for (int axis = 0; axis < 3; ++axis) {
    for (int step = 0; step < 3; ++step) {
      BlockCoordinate c = centre[axis] + step - 1;
      const bool below = c < 0, above = c >= blocks[axis];
      if (below) c += blocks[axis];
      if (above) c -= blocks[axis];
      bits[axis][step] =
          (below || above) && !periodic(axis) ? k_no_key : morton_encode({c, 0, 0}) << axis;
    }
  }
  std::array<Key, 27> keys;
  for (int n = 0; n < 27; ++n) {
    const Key x = bits[0][n % 3], y = bits[1][n / 3 % 3], z = bits[2][n / 9];
    keys[n] = x | y | z;  // k_no_key if any of the three is k_no_key
  }
  return keys;
}

bool Geometry::wrap(int level, BlockCoordinates& block) const {
  const BlockCoordinates blocks = extent(level);
  bool inside = true;
  for (int axis = 0; axis < 3; ++axis) {
    BlockCoordinate& c = block[axis];
    const bool is_inside = c >= 0 && c < blocks[axis];
    if (!is_inside && periodic(axis)) c = (c % blocks[axis] + blocks[axis]) % blocks[axis];
    inside = inside && (is_inside || periodic(axis));
  }
  return inside;
}

}  // namespace octant::mesh
