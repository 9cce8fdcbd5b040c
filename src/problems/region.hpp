// Refined regions that do not depend on the flow.
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

// Parameters `refine.region_*`.
struct RefinedRegion {
  std::array<double, 3> lower{0.0, 0.0, 0.0};
  std::array<double, 3> upper{0.0, 0.0, 0.0};
  int level = 0;  // level of the cells inside; 0: no region

  // Declares the parameters; this object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);

  // Throws InputError if the box is inverted or the mesh lacks the level.
  void check(const mesh::Geometry& geometry) const;

  // Flags the cells of this level that overlap the box if the region requires a finer level.
  // `masks` has one word per slot, as in hydro/refinement.hpp.
  void flag_cells(const mesh::Mesh& mesh, int mesh_level,
                  const mesh::DeviceArray<std::uint64_t>& masks) const;
};

// Region where an expression of position, time and level is not 0: `refine.where`.
class RefinedPlaces {
 public:
  // Declares refine.where; this object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);

  // Must be called once before flag_cells. Throws InputError for an invalid expression.
  void compile();

  // Flags the cells of a level at whose centres the expression is not 0 at this time. Throws
  // RunError if the expression is NaN.
  void flag_cells(const mesh::Mesh& mesh, int level, double time,
                  const mesh::DeviceArray<std::uint64_t>& masks) const;

 private:
  struct Variables {
    ExpressionPoint point;
    double level = 0.0;
  };
  [[noreturn]] void refuse(const ExpressionPoint& point, int level) const;

  std::string where_;
  std::unique_ptr<Variables> variables_;  // variables of the expression
  std::unique_ptr<const Expression> condition_;
};

}  // namespace octant::problems
