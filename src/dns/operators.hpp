// Coefficients of second-order difference operators for velocity components and pressure.
#pragma once

#include "dns/domain.hpp"
#include "dns/kernels.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Returns the matrix of d2/dz2 of a quantity at cell centres, for the unknown planes of the whole
// grid. A prescribed boundary value times boundary_weight must be added to the right-hand side of
// the adjacent plane.
pencil::TridiagonalMatrix centre_z_matrix(const Grid& grid, Condition lower, Condition upper);
// Returns the matrix of d2/dz2 for the pressure correction.
pencil::TridiagonalMatrix pressure_z_matrix(const Grid& grid, const Boundaries& boundaries);
// Returns the matrix of d2/dz2 for a velocity component.
pencil::TridiagonalMatrix velocity_z_matrix(const Grid& grid, const Boundaries& boundaries,
                                            int component);

// Returns the factor of the boundary value in the second derivative along an axis: 0 for zero
// gradient or periodic sides, 2 / spacing^2 for centres (ghost = 2 value - interior), and
// 1 / spacing^2 for faces.
double boundary_weight(const Grid& grid, const Boundaries& boundaries, int component, int axis,
                       int end);

// Returns boundary_weight() times the boundary value; 0 if this rank does not adjoin the side.
double boundary_source(const Domain& domain, int component, int axis, int end);

// Returns the factor of an outflow's offset in the second derivative of the normal velocity on the
// next interior face. The offset is the velocity on the side minus that on the interior face.
double outflow_weight(const Grid& grid, int axis, int end);

// Returns identity + factor d2/dz2.
pencil::TridiagonalMatrix helmholtz(const pencil::TridiagonalMatrix& second_derivative,
                                    double factor);

// Appends identity rows to a matrix, up to `planes` rows, so that a solve does not change values in
// the corresponding planes, such as w on a wall.
void append_identity_rows(pencil::TridiagonalMatrix& matrix, int planes);

// Returns the solution of a system along z for a right-hand side of 1, in all planes.
std::vector<double> response_to_one(const pencil::TridiagonalMatrix& matrix);

// Returns the Poisson problem of the pressure correction (eq. 4).
pencil::PoissonProblem pressure_problem(const Grid& grid, const Boundaries& boundaries);
// Returns the Helmholtz problem of a velocity component (eq. 8).
pencil::PoissonProblem velocity_problem(const Grid& grid, const Boundaries& boundaries,
                                        int component);

// Returns the coefficients of the scalar in plane k of this rank.
ScalarOperator scalar_operator(const Domain& domain, double diffusivity, int k);
PlaneOperator plane_operator(const Domain& domain, double viscosity, double force, int component,
                             int k);

}  // namespace octant::dns
