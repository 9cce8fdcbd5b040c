// Metadata of fields, declared once for output, restart and Python: name, unit and centring.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "core/named.hpp"

namespace octant::mesh {

// Centring of a field: means over cells, over faces (the component along the normal), or over edges
// (the component along the edge).
enum class Centring { cell, face, edge };
// Names of the centrings in files.
constexpr auto names_of(Centring) { return std::array{"cell", "face", "edge"}; }

// Returns true if the points of a vector's component lie on the boundaries of cells along `axis`.
// Along such an axis a block of N cells has N + 1 points, 0 to N; along the others N.
constexpr bool is_nodal(Centring centring, int component, int axis) {
  return centring == Centring::face ? axis == component
                                    : centring == Centring::edge && axis != component;
}

// Description of a field, given once where the field is created.
struct FieldInfo {
  std::string name = {}, unit = "1", description = {};
  Centring centring = Centring::cell;
  // Component 0, 1 or 2 of a vector, whose sign changes at a reflecting wall; -1 for a scalar.
  int vector_axis = -1;

  // Number of values of a block of `cells` cells along x, y and z.
  std::array<int, 3> extents(std::array<int, 3> cells) const {
    for (int axis = 0; axis < 3; ++axis)
      if (is_nodal(centring, vector_axis, axis)) ++cells[axis];
    return cells;
  }

  // Description of one component of this vector field.
  FieldInfo component(int axis) const {
    const std::string letter(1, static_cast<char>('x' + axis));
    return {name + "_" + letter, unit, description + ", " + letter + " component", centring, axis};
  }
};

// Component of a vector potential at a position; must be bitwise equal on all ranks.
using VectorPotential = std::function<double(int component, const std::array<double, 3>& position)>;

// Divergence-free face-centred vector field whose initial state is the curl of a potential.
struct SolenoidalField {
  FieldInfo info;
  VectorPotential initial_potential;
};

}  // namespace octant::mesh
