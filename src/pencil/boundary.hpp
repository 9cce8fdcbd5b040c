// Boundary conditions along one axis, the second-order difference operator that they define, and
// its eigenvalues.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// Condition of a quantity at one end of an axis.
enum class Condition { periodic, dirichlet, neumann };
// Name of a condition in messages.
std::string to_string(Condition condition);

// Position of the unknowns along the axis: cell centres, cell faces, or only faces inside.
enum class Location { centre, face, inner_face };

// Homogeneous conditions at both ends of an axis with n stored entries; values that a boundary
// prescribes belong in the right-hand side. Ghosts follow from the conditions:
//
//   centre  dirichlet: ghost = -inside;  neumann: ghost = inside
//   face    periodic, or dirichlet below: entry i lies on the upper face of cell i, the lower
//           boundary is not stored. dirichlet above: entry n - 1 lies on the boundary; it is no
//           unknown, and keeps its value. neumann above: entry n - 1 lies on the boundary and is
//           an unknown, entry n mirrors entry n - 2.
//           neumann below: entry i lies on the lower face of cell i, so that entry 0 lies on the
//           boundary and is an unknown, entry -1 mirrors entry 1. With dirichlet above, the
//           upper boundary is then not stored.
//   inner_face  entry i lies on the upper face of cell i. Entry n - 1, on the boundary unless the
//           axis is periodic, is never an unknown, and keeps its value.
//           dirichlet: the value on the boundary is 0; neumann: it is that of the next face inside.
struct AxisConditions {
  Condition lower = Condition::periodic, upper = Condition::periodic;
  Location location = Location::centre;

  // True if the axis is periodic.
  bool periodic() const { return lower == Condition::periodic; }
  // Returns true if a constant satisfies both conditions.
  bool allows_constant() const;
  bool operator==(const AxisConditions&) const = default;
};
// Names of both conditions in messages.
std::string to_string(const AxisConditions& conditions);

// Throws InputError unless both ends are periodic or none is. `axis` is the name for messages: "x".
void check_conditions(const AxisConditions& conditions, const std::string& axis);

// Returns the number of unknowns among n stored entries: n, or n - 1 (dirichlet at both ends on
// faces, and inner faces). The first entry is always an unknown.
int unknowns(int entries, const AxisConditions& conditions);

// A uniform axis of n stored entries with distance `spacing`.
struct UniformAxis {
  int entries;
  double spacing;
  AxisConditions conditions;
};

// Returns the eigenvalues (<= 0) of (phi_(i-1) - 2 phi_i + phi_(i+1)) / spacing^2 in the order of
// the transform's coefficients; for a periodic axis, of a complex transform.
std::vector<double> eigenvalues(const UniformAxis& axis);

// Returns the matrix of the second derivative on a stretched axis, for the unknowns only. `faces`
// are the n + 1 positions of the faces of n cells, ascending. In centres, row k is
//   [(phi_(k+1) - phi_k) / (c_(k+1) - c_k) - (phi_k - phi_(k-1)) / (c_k - c_(k-1))] / height_k
// with centres c half-way between faces, and ghost cells as high as the adjacent cells. On faces,
// centres and faces are exchanged. Throws InputError unless the faces ascend.
TridiagonalMatrix second_derivative(std::span<const double> faces,
                                    const AxisConditions& conditions);

}  // namespace octant::pencil
