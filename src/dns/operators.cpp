#include "dns/operators.hpp"

namespace octant::dns {

namespace {

using pencil::TridiagonalMatrix;

// Coefficients that couple an unknown to the unknowns below and above.
struct Couplings {
  double below, above;
};

Couplings at_centre(const Grid& g, int k) {
  return {1.0 / (g.dz_cell[k] * g.dz_face[k - 1]), 1.0 / (g.dz_cell[k] * g.dz_face[k])};
}
Couplings at_face(const Grid& g, int k) {
  return {1.0 / (g.dz_face[k] * g.dz_cell[k]), 1.0 / (g.dz_face[k] * g.dz_cell[k + 1])};
}

// Returns the ratio of the ghost value to the interior value for homogeneous conditions in centres.
double ghost_factor(Condition condition) { return condition == Condition::dirichlet ? -1.0 : 1.0; }

// Returns the matrix for the faces between the boundaries. Boundary faces have a prescribed value
// or the value of the next interior face.
TridiagonalMatrix face_matrix(const Grid& grid, Condition lower, Condition upper) {
  TridiagonalMatrix m;
  m.periodic = lower == Condition::periodic;
  for (int k = 0; k < grid.cells[2] - (m.periodic ? 0 : 1); ++k) {
    const auto [below, above] = at_face(grid, k);
    m.lower.push_back(below);
    m.upper.push_back(above);
    m.diagonal.push_back(-(below + above));
  }
  if (lower == Condition::neumann) m.diagonal.front() += m.lower.front();
  if (upper == Condition::neumann) m.diagonal.back() += m.upper.back();
  return m;
}

pencil::AxisConditions conditions(const Boundaries& b, int component, int axis) {
  return {b.velocity_condition(component, axis, 0), b.velocity_condition(component, axis, 1),
          component == axis ? pencil::Location::inner_face : pencil::Location::centre};
}

}  // namespace

TridiagonalMatrix centre_z_matrix(const Grid& grid, Condition lower, Condition upper) {
  TridiagonalMatrix m;
  const int n = grid.cells[2];
  m.periodic = lower == Condition::periodic;
  for (int k = 0; k < n; ++k) {
    const auto [below, above] = at_centre(grid, k);
    m.lower.push_back(below);
    m.upper.push_back(above);
    m.diagonal.push_back(-(below + above));
  }
  if (m.periodic) return m;
  m.diagonal.front() += ghost_factor(lower) * m.lower.front();
  m.diagonal.back() += ghost_factor(upper) * m.upper.back();
  return m;
}

TridiagonalMatrix pressure_z_matrix(const Grid& grid, const Boundaries& boundaries) {
  return centre_z_matrix(grid, boundaries.pressure_condition(2, 0),
                         boundaries.pressure_condition(2, 1));
}

TridiagonalMatrix velocity_z_matrix(const Grid& grid, const Boundaries& boundaries, int component) {
  const Condition lower = boundaries.velocity_condition(component, 2, 0);
  const Condition upper = boundaries.velocity_condition(component, 2, 1);
  return component == k_w ? face_matrix(grid, lower, upper) : centre_z_matrix(grid, lower, upper);
}

double boundary_weight(const Grid& grid, const Boundaries& boundaries, int component, int axis,
                       int end) {
  if (boundaries.velocity_condition(component, axis, end) != Condition::dirichlet) return 0.0;
  const double layers = component == axis ? 1.0 : 2.0;
  if (axis < 2) return layers / (grid.spacing(axis) * grid.spacing(axis));
  const int n = grid.cells[2];
  if (component == k_w) return end == 0 ? at_face(grid, 0).below : at_face(grid, n - 2).above;
  return layers * (end == 0 ? at_centre(grid, 0).below : at_centre(grid, n - 1).above);
}

double outflow_weight(const Grid& grid, int axis, int end) {
  if (axis < 2) return 1.0 / (grid.spacing(axis) * grid.spacing(axis));
  return end == 0 ? at_face(grid, 0).below : at_face(grid, grid.cells[2] - 2).above;
}

double boundary_source(const Domain& domain, int component, int axis, int end) {
  if (!domain.ends(axis, end)) return 0.0;
  return boundary_weight(domain.grid, domain.boundaries, component, axis, end) *
         domain.boundaries.velocity(axis, end)[component];
}

TridiagonalMatrix helmholtz(const TridiagonalMatrix& second_derivative, double factor) {
  TridiagonalMatrix m = second_derivative;
  for (double& value : m.lower) value *= factor;
  for (double& value : m.upper) value *= factor;
  for (double& value : m.diagonal) value = 1.0 + factor * value;
  return m;
}

void append_identity_rows(pencil::TridiagonalMatrix& m, int planes) {
  if (m.size() < planes) m.upper.back() = 0.0;
  while (m.size() < planes) {
    m.lower.push_back(0.0);
    m.diagonal.push_back(1.0);
    m.upper.push_back(0.0);
  }
}

std::vector<double> response_to_one(const TridiagonalMatrix& matrix) {
  if (matrix.periodic) return std::vector<double>(matrix.size(), 1.0);
  const pencil::ThomasFactors f(matrix, pencil::Sweep::up);
  const int n = matrix.size();
  std::vector<double> x(n, 1.0);
  for (int k = 0; k < n; ++k)
    x[k] = (1.0 - (k > 0 ? f.lower[k] * x[k - 1] : 0.0)) * f.reciprocal[k];
  for (int k = n - 2; k >= 0; --k) x[k] -= f.back[k] * x[k + 1];
  return x;
}

pencil::PoissonProblem pressure_problem(const Grid& grid, const Boundaries& boundaries) {
  const auto along = [&](int axis) {
    return pencil::AxisConditions{boundaries.pressure_condition(axis, 0),
                                  boundaries.pressure_condition(axis, 1), pencil::Location::centre};
  };
  return {grid.dx,
          grid.dy,
          along(0),
          along(1),
          pressure_z_matrix(grid, boundaries),
          along(2).allows_constant()};
}

pencil::PoissonProblem velocity_problem(const Grid& grid, const Boundaries& boundaries,
                                        int component) {
  return {grid.dx,
          grid.dy,
          conditions(boundaries, component, 0),
          conditions(boundaries, component, 1),
          velocity_z_matrix(grid, boundaries, component),
          conditions(boundaries, component, 2).allows_constant()};
}

ScalarOperator scalar_operator(const Domain& d, double diffusivity, int k) {
  const double dx = d.grid.dx, dy = d.grid.dy, dz = d.dz_cell[k];
  return {0.5 / dx,
          0.5 / dy,
          0.5 / dz,
          diffusivity / (dx * dx),
          diffusivity / (dy * dy),
          diffusivity / (dz * d.dz_face[k - 1]),
          diffusivity / (dz * d.dz_face[k])};
}

PlaneOperator plane_operator(const Domain& d, double viscosity, double force, int component,
                             int k) {
  const double dx = d.grid.dx, dy = d.grid.dy;
  PlaneOperator o{};
  o.transport_x = 0.25 / dx;
  o.transport_y = 0.25 / dy;
  o.weight_minus = o.weight_plus = 1.0;
  o.diffusion_x = viscosity / (dx * dx);
  o.diffusion_y = viscosity / (dy * dy);
  o.force = force;
  if (component == k_w) {
    const double dz = d.dz_face[k];
    o.transport_z = 0.25 / dz;
    o.weight_minus = d.dz_cell[k] / dz;
    o.weight_plus = d.dz_cell[k + 1] / dz;
    o.diffusion_below = viscosity / (dz * d.dz_cell[k]);
    o.diffusion_above = viscosity / (dz * d.dz_cell[k + 1]);
    o.gradient = 1.0 / dz;
  } else {
    const double dz = d.dz_cell[k];
    o.transport_z = 0.25 / dz;
    o.diffusion_below = viscosity / (dz * d.dz_face[k - 1]);
    o.diffusion_above = viscosity / (dz * d.dz_face[k]);
    o.gradient = component == k_u ? 1.0 / dx : 1.0 / dy;
  }
  return o;
}

}  // namespace octant::dns
