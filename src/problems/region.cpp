#include "problems/region.hpp"

#include <cmath>

#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "core/parameters.hpp"
#include "mesh/flagging.hpp"

namespace octant::problems {

void RefinedRegion::declare(ParameterSchema& schema) {
  schema.add("refine.region_level", level,
             {.meaning = "Level to which the box from refine.region_lower to refine.region_upper "
                         "is always refined; 0: no such box",
              .min = 0});
  schema.add(
      "refine.region_lower", lower,
      {.unit = "length", .meaning = "Lower corner of the box refined to refine.region_level"});
  schema.add(
      "refine.region_upper", upper,
      {.unit = "length", .meaning = "Upper corner of the box refined to refine.region_level"});
}

void RefinedRegion::check(const mesh::Geometry& geometry) const {
  if (level == 0) return;
  if (level > geometry.max_level())
    throw InputError("refine.region_level = {}: expected at most mesh.max_level = {}", level,
                     geometry.max_level());
  for (int axis = 0; axis < 3; ++axis)
    if (!(upper[axis] > lower[axis]))
      throw InputError(
          "refine.region_upper[{0}] = {1} must be greater than "
          "refine.region_lower[{0}] = {2}",
          axis, upper[axis], lower[axis]);
}

void RefinedRegion::flag_cells(const mesh::Mesh& mesh, int mesh_level,
                               const mesh::DeviceArray<std::uint64_t>& masks) const {
  if (mesh_level >= level) return;
  // A cell overlaps the box if its centre lies in the box widened by half a cell.
  const double half = 0.5 * mesh.geometry().cell_size(mesh_level);
  mesh::DevicePosition below, above;
  for (int axis = 0; axis < 3; ++axis) {
    below[axis] = lower[axis] - half;
    above[axis] = upper[axis] + half;
  }
  mesh::flag_where(
      mesh, mesh_level, masks, KOKKOS_LAMBDA(const mesh::DevicePosition& x) {
        return x[0] > below[0] && x[1] > below[1] && x[2] > below[2] && x[0] < above[0] &&
               x[1] < above[1] && x[2] < above[2];
      });
}

void RefinedPlaces::declare(ParameterSchema& schema) {
  schema.add(
      "refine.where", where_,
      {.meaning =
           "Refinement criterion: an expression in x, y, z, r, t and level, such as \"r < 0.4 * "
           "0.5^level\"; a cell is refined if the expression is non-zero at its centre"});
}

void RefinedPlaces::compile() {
  if (where_.empty()) return;
  variables_ = std::make_unique<Variables>();
  ExpressionNames names = variables_->point.names();
  names.add_variable("refine.where", "level", &variables_->level);
  condition_ = std::make_unique<Expression>("refine.where", where_, names);
  if (condition_->is_constant() && std::isnan(condition_->value()))
    throw InputError("{} is not a number; expected an expression that is zero or non-zero",
                     condition_->description());
}

void RefinedPlaces::refuse(const ExpressionPoint& point, int level) const {
  throw RunError(
      "{} is not a number at x = {}, y = {}, z = {}, t = {} on level {}; expected a number, zero "
      "or non-zero",
      condition_->description(), point.x, point.y, point.z, point.t, level);
}

void RefinedPlaces::flag_cells(const mesh::Mesh& mesh, int level, double time,
                               const mesh::DeviceArray<std::uint64_t>& masks) const {
  if (!condition_) return;
  const mesh::Geometry& geometry = mesh.geometry();
  const int N = geometry.block_size(), half = geometry.octant_size();
  const double dx = geometry.cell_size(level);
  const auto flags = on_host(TransferKind::numbers, masks);
  variables_->level = level;
  for (const int slot : mesh.blocks(level).own()) {
    const auto corner = geometry.origin(level, morton_decode(mesh.blocks(level).key(slot)));
    for (int cell = 0; cell < N * N * N; ++cell) {
      const int i = cell % N, j = cell / N % N, k = cell / N / N;
      variables_->point.set(
          {corner[0] + (i + 0.5) * dx, corner[1] + (j + 0.5) * dx, corner[2] + (k + 0.5) * dx}, {},
          time);
      const double value = condition_->value();
      if (std::isnan(value)) refuse(variables_->point, level);
      if (value != 0.0)
        flags(slot) |= mesh::octant_mask(2u << (i / half), 2u << (j / half), 2u << (k / half));
    }
  }
  copy_to_device(TransferKind::numbers, masks, flags);
}

}  // namespace octant::problems
