// Places that are refined whatever the flow does.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/expression.hpp"
#include "mesh/mesh.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::problems {

// The parameters `refine.region_*`.
struct RefinedRegion {
  std::array<double, 3> lower{0.0, 0.0, 0.0};
  std::array<double, 3> upper{0.0, 0.0, 0.0};
  int level = 0;  // of the cells inside; 0 for no region

  void declare(ParameterSchema& schema);

  // Throws InputError for a box that is inside out or a level that the mesh does not have.
  void check(const mesh::Geometry& geometry) const;

  // Flags the cells of this level that overlap the box, if the box asks for a finer level. `masks`
  // has one word per slot, as in hydro/refinement.hpp.
  void flag_cells(const mesh::Mesh& mesh, int mesh_level,
                  const mesh::DeviceArray<std::uint64_t>& masks) const;
};

// The places where an expression of position, time and level is not 0: `refine.where`.
class RefinedPlaces {
 public:
  void declare(ParameterSchema& schema);

  // To be called once before flag_cells. Throws InputError for what is no expression.
  void compile();

  // Flags the cells of a level at whose centres the expression is not 0, at this time. Throws
  // RunError where it is not a number.
  void flag_cells(const mesh::Mesh& mesh, int level, double time,
                  const mesh::DeviceArray<std::uint64_t>& masks) const;

 private:
  struct Variables {
    ExpressionPoint point;
    double level = 0.0;
  };
  [[noreturn]] void refuse(const ExpressionPoint& point, int level) const;

  std::string where_;
  std::unique_ptr<Variables> variables_;  // which the condition refers to
  std::unique_ptr<const Expression> condition_;
};

}  // namespace octant::problems
