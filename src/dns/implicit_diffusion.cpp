#include "dns/implicit_diffusion.hpp"

#include <algorithm>

#include "dns/operators.hpp"

namespace octant::dns {

namespace {

void add_to_row(double* row, int n, double amount) {
  for (int i = 0; i < n; ++i) row[i] += amount;
}

void add_to(pencil::TransposeTraffic& sum, const pencil::TransposeTraffic& part) {
  sum.seconds += part.seconds;
  sum.bytes += part.bytes;
  sum.messages += part.messages;
}

// Solves one line along z whose right-hand side is 1.
std::vector<double> response_to_one(const pencil::ThomasFactors& f) {
  const int n = static_cast<int>(f.reciprocal.size());
  std::vector<double> x(n, 1.0);
  for (int k = 0; k < n; ++k)
    x[k] = (1.0 - (k > 0 ? f.lower[k] * x[k - 1] : 0.0)) * f.reciprocal[k];
  for (int k = n - 2; k >= 0; --k) x[k] -= f.back[k] * x[k + 1];
  return x;
}

// Makes a matrix as large as the grid, with planes at its end that keep what they hold: the face of
// w on a wall.
void keep_last_planes(pencil::TridiagonalMatrix& m, int planes) {
  if (m.size() < planes) m.upper.back() = 0.0;
  while (m.size() < planes) {
    m.lower.push_back(0.0);
    m.diagonal.push_back(1.0);
    m.upper.push_back(0.0);
  }
}

// Whether two components have the same conditions, and so the same operator: where an axis is
// periodic it does not matter whether unknowns are faces or centres.
bool same_problem(const pencil::PoissonProblem& a, const pencil::PoissonProblem& b) {
  const auto same_axis = [](const pencil::AxisConditions& p, const pencil::AxisConditions& q) {
    return (p.periodic() && q.periodic()) || p == q;
  };
  return same_axis(a.x, b.x) && same_axis(a.y, b.y) && a.z.lower == b.z.lower &&
         a.z.diagonal == b.z.diagonal && a.z.upper == b.z.upper;
}

}  // namespace

BoundarySources::BoundarySources(const Domain& domain, bool all_axes) : domain_(domain) {
  for (int c = 0; c < k_components; ++c)
    for (int axis = all_axes ? 0 : 2; axis < 3; ++axis)
      for (int end = 0; end < 2; ++end)
        if (domain.ends(axis, end))
          amounts_[c][axis][end] = boundary_weight(domain.grid, domain.boundaries, c, axis, end) *
                                   domain.boundaries.velocity(axis, end)[c];
}

void BoundarySources::add(State& state, int component, int k, double factor) const {
  Field& field = state.velocity(component);
  const int cells = domain_.unknowns(component, 0), rows = domain_.unknowns(component, 1);
  const int planes = domain_.unknowns(component, 2);
  if (k >= planes) return;
  const auto& amounts = amounts_[component];
  for (int end = 0; end < 2; ++end) {
    if (amounts[2][end] != 0.0 && k == (end == 0 ? 0 : planes - 1))
      for (int j = 0; j < rows; ++j)
        add_to_row(field.row(k, j, -1), cells, factor * amounts[2][end]);
    if (amounts[1][end] != 0.0)
      add_to_row(field.row(k, end == 0 ? 0 : rows - 1, -1), cells, factor * amounts[1][end]);
    if (amounts[0][end] != 0.0)
      for (int j = 0; j < rows; ++j)
        field.row(k, j, -1)[end == 0 ? 0 : cells - 1] += factor * amounts[0][end];
  }
}

DiffusionAlongZ::DiffusionAlongZ(const Domain& domain, const pencil::TridiagonalOptions& options)
    : domain_(domain),
      sources_(domain, false),
      transposed_(domain.is_cut(2) && options.method == pencil::TridiagonalMethod::ftm) {
  for (int c = 0; c < k_components; ++c)
    solvers_.emplace_back(domain.pencils, domain.grid.cells[2], domain.boundaries.periodic(2),
                          options);
  for (const int c : {k_u, k_w})
    second_derivative_[matrix_of(c)] = velocity_z_matrix(domain.grid, domain.boundaries, c);
}

void DiffusionAlongZ::set_factor(double factor) {
  if (factor == factor_) return;
  factor_ = factor;
  for (int c = 0; c < k_components; ++c) {
    pencil::TridiagonalMatrix matrix = helmholtz(second_derivative_[matrix_of(c)], -factor);
    if (c == k_u && !matrix.periodic)
      response_ = response_to_one(pencil::ThomasFactors(matrix, pencil::Sweep::up));
    keep_last_planes(matrix, domain_.grid.cells[2]);
    solvers_[c].set_matrix(matrix);
  }
}

void DiffusionAlongZ::eliminate(State& state, int k) {
  for (int c = 0; c < k_components; ++c) {
    sources_.add(state, c, k, factor_);
    if (!transposed_) solvers_[c].forward(state.velocity(c), k, -1);
  }
}

void DiffusionAlongZ::exchange(State& state) {
  for (int c = 0; c < k_components; ++c) {
    if (transposed_) solvers_[c].solve(state.velocity(c), -1, 0);
    else solvers_[c].exchange(state.velocity(c), -1);
  }
}

void DiffusionAlongZ::settle(State& state, int component, int k) {
  if (!transposed_) solvers_[component].backward(state.velocity(component), k, -1, 0);
}

double DiffusionAlongZ::response(int component, int k) const {
  if (response_.empty() || component == k_w) return 1.0;
  return response_[domain_.box[2].begin + k];
}

pencil::TransposeTraffic DiffusionAlongZ::traffic() const {
  pencil::TransposeTraffic sum;
  for (const pencil::FieldTridiagonal& solver : solvers_) add_to(sum, solver.traffic());
  return sum;
}

DiffusionAlongAll::DiffusionAlongAll(const Domain& domain, const pencil::PoissonOptions& options)
    : domain_(domain), sources_(domain, true) {
  std::vector<pencil::PoissonProblem> problems;
  for (int c = 0; c < k_components; ++c) {
    const auto problem = velocity_problem(domain.grid, domain.boundaries, c);
    std::size_t n = 0;
    while (n < problems.size() && !same_problem(problems[n], problem)) ++n;
    solver_of_[c] = static_cast<int>(n);
    if (n < problems.size()) continue;
    problems.push_back(problem);
    solvers_.emplace_back(domain.pencils, problem, options);
  }
}

void DiffusionAlongAll::set_factor(double factor) {
  if (factor == factor_) return;
  factor_ = factor;
  for (pencil::PoissonSolver& solver : solvers_) solver.set_operator(1.0, -factor);
}

void DiffusionAlongAll::solve(State& state, int forced, double forcing) {
  for (int c = 0; c < k_components; ++c) {
    Field& field = state.velocity(c);
    for (int k = 0; k < domain_.nz; ++k) {
      sources_.add(state, c, k, factor_);
      if (c == forced)
        for (int j = 0; j < domain_.ny; ++j) add_to_row(field.row(k, j, -1), domain_.nx, forcing);
    }
    solvers_[solver_of_[c]].solve(field, -1, 0);
  }
}

pencil::PoissonReport DiffusionAlongAll::report() const {
  pencil::PoissonReport sum;
  for (const pencil::PoissonSolver& solver : solvers_) {
    const pencil::PoissonReport r = solver.report();
    sum.transform_seconds += r.transform_seconds;
    sum.tridiagonal_seconds += r.tridiagonal_seconds;
    add_to(sum.xy, r.xy);
    add_to(sum.z, r.z);
  }
  return sum;
}

}  // namespace octant::dns
