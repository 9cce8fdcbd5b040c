#include "problems/region.hpp"

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "mesh/flagging.hpp"

namespace octant::problems {

void RefinedRegion::declare(ParameterSchema& schema) {
  schema.add("refine.region_level", level,
             {.meaning = "Level to which a box of the domain is always refined; 0 for no such box",
              .min = 0});
  schema.add("refine.region_lower", lower,
             {.unit = "length", .meaning = "Lower corner of that box"});
  schema.add("refine.region_upper", upper,
             {.unit = "length", .meaning = "Upper corner of that box"});
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
  // A cell overlaps the box where its centre lies in the box widened by half a cell.
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

}  // namespace octant::problems
