#include "mesh/frame.hpp"

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "mesh/geometry.hpp"

namespace octant::mesh {

void FrameOptions::declare(ParameterSchema& schema) {
  schema.add(
      "frame.angular_velocity", angular_velocity,
      {.unit = "radians per time",
       .meaning = "Angular velocity of the rotating reference frame about an axis parallel to z; "
                  "gas velocities are inertial velocities projected onto the rotating axes"});
  schema.add("frame.centre", centre,
             {.unit = "length",
              .meaning = "Position (x, y) of the rotation axis; empty: centre of the domain"});
}

Frame FrameOptions::frame(const Geometry& geometry) const {
  if (!centre.empty() && centre.size() != 2)
    throw InputError("frame.centre has {} numbers; expected two, x and y of the axis",
                     centre.size());
  if (angular_velocity == 0.0) return {};
  Frame frame{.angular_velocity = angular_velocity};
  for (int axis = 0; axis < 2; ++axis) {
    frame.centre[axis] =
        centre.empty() ? 0.5 * (geometry.lower()[axis] + geometry.upper()[axis]) : centre[axis];
    for (int side = 0; side < 2; ++side) {
      const Boundary boundary = geometry.boundary(axis, side);
      if (boundary == Boundary::periodic || boundary == Boundary::reflecting)
        throw InputError(
            "frame.angular_velocity = {}: not supported with mesh.boundary_{} = \"{}\"; expected "
            "\"outflow\" or \"inflow\"",
            angular_velocity, axis == 0 ? "x" : "y", name_of(boundary));
    }
  }
  return frame;
}

}  // namespace octant::mesh
