// Boundary conditions along one axis, the second-order second-derivative operator with these
// conditions, and its eigenvalues.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// Boundary condition of a quantity at one end of an axis.
enum class Condition { periodic, dirichlet, neumann };
// Name of a condition in messages.
std::string to_string(Condition condition);

// Position of the unknowns along the axis: cell centres, cell faces, or interior faces only.
enum class Location { centre, face, inner_face };

// Homogeneous conditions at both ends of an axis with n stored entries; prescribed boundary values
// must be included in the right-hand side. Ghost values follow from the conditions:
//
//   centre  dirichlet: ghost = -interior;  neumann: ghost = interior
//   face    periodic, or dirichlet below: entry i lies on the upper face of cell i; the lower
//           boundary is not stored. dirichlet above: entry n - 1 lies on the boundary, is not an
//           unknown, and keeps its value. neumann above: entry n - 1 lies on the boundary and is
//           an unknown; entry n mirrors entry n - 2.
//           neumann below: entry i lies on the lower face of cell i; entry 0 lies on the boundary
//           and is an unknown; entry -1 mirrors entry 1. With dirichlet above, the upper boundary
//           is then not stored.
//   inner_face  entry i lies on the upper face of cell i. Entry n - 1, which is on the boundary
//           unless the axis is periodic, is never an unknown and keeps its value. The boundary
//           value is 0 (dirichlet) or that of the adjacent interior face (neumann).
struct AxisConditions {
  Condition lower = Condition::periodic, upper = Condition::periodic;
  Location location = Location::centre;

  // True if the axis is periodic.
  bool periodic() const { return lower == Condition::periodic; }
  // Returns true if a constant satisfies both conditions.
  bool allows_constant() const;
  bool operator==(const AxisConditions&) const = default;
};
// Name of the conditions at both ends in messages.
std::string to_string(const AxisConditions& conditions);

// Throws InputError if only one end is periodic. `axis` is the name of the axis in the message.
void check_conditions(const AxisConditions& conditions, const std::string& axis);

// Returns the number of unknowns among n stored entries: n, or n - 1 for inner faces and for faces
// with dirichlet conditions at both ends. The first entry is always an unknown.
int unknowns(int entries, const AxisConditions& conditions);

// A uniform axis of `entries` stored entries with distance `spacing`.
struct UniformAxis {
  int entries;
  double spacing;
  AxisConditions conditions;
};

// Returns the eigenvalues (<= 0) of (phi_(i-1) - 2 phi_i + phi_(i+1)) / spacing^2 in the order of
// the transform's coefficients; for a periodic axis in the order of a complex transform.
std::vector<double> eigenvalues(const UniformAxis& axis);

// Returns the matrix of the second derivative on a stretched axis, for the unknowns only. `faces`
// are the n + 1 positions of the faces of n cells, ascending. For unknowns in centres, row k is
//   [(phi_(k+1) - phi_k) / (c_(k+1) - c_k) - (phi_k - phi_(k-1)) / (c_k - c_(k-1))] / height_k
// with centres c half-way between faces, height_k the distance between the faces of cell k, and
// ghost cells of the same size as the adjacent cells. For unknowns on faces, the roles of centres
// and faces are swapped. Throws InputError unless the faces ascend.
TridiagonalMatrix second_derivative(std::span<const double> faces,
                                    const AxisConditions& conditions);

}  // namespace octant::pencil
