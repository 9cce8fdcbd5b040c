#include "dns/implicit_diffusion.hpp"

#include <algorithm>

#include "dns/operators.hpp"

namespace octant::dns {

namespace {

void add_to_row(double* row, int n, double amount) {
  for (int i = 0; i < n; ++i) row[i] += amount;
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
      solver_(domain.pencils, domain.grid.cells[2], domain.boundaries.periodic(2), options) {
  for (const int c : {k_u, k_w})
    second_derivative_[matrix_of(c)] = velocity_z_matrix(domain.grid, domain.boundaries, c);
}

void DiffusionAlongZ::set_factor(double factor) {
  if (factor == factor_) return;
  factor_ = factor;
  for (int m = 0; m < 2; ++m) {
    matrix_[m] = helmholtz(second_derivative_[m], -factor);
    if (!matrix_[m].periodic) factors_[m] = pencil::ThomasFactors(matrix_[m], pencil::Sweep::up);
    keep_last_planes(matrix_[m], domain_.grid.cells[2]);
  }
  if (!second_derivative_[0].periodic) response_ = response_to_one(factors_[0]);
}

void DiffusionAlongZ::solve(State& state) {
  for (int c = 0; c < k_components; ++c) {
    for (int k = 0; k < domain_.nz; ++k) sources_.add(state, c, k, factor_);
    if (c != k_v) solver_.set_matrix(matrix_[matrix_of(c)]);
    solver_.solve(state.velocity(c), -1);
  }
}

void DiffusionAlongZ::eliminate(State& state, int k) const {
  for (int c = 0; c < k_components; ++c) {
    if (k >= domain_.unknowns(c, 2)) continue;
    sources_.add(state, c, k, factor_);
    const pencil::ThomasFactors& f = factors_[matrix_of(c)];
    const double lower = f.lower[k], reciprocal = f.reciprocal[k];
    Field& field = state.velocity(c);
    for (int j = 0; j < domain_.ny; ++j) {
      double* d = field.row(k, j, -1);
      const double* before = k > 0 ? field.row(k - 1, j, -1) : d;
#pragma GCC ivdep
      for (int i = 0; i < domain_.nx; ++i)
        d[i] = k > 0 ? (d[i] - lower * before[i]) * reciprocal : d[i] * reciprocal;
    }
  }
}

void DiffusionAlongZ::substitute(State& state, int component, int k) const {
  const int planes = domain_.unknowns(component, 2);
  Field& field = state.velocity(component);
  const bool last = k >= planes - 1;
  const double back = last ? 0.0 : factors_[matrix_of(component)].back[k];
  for (int j = 0; j < domain_.ny; ++j) {
    const double *d = field.row(k, j, -1), *above = field.row(k + 1, j);
    double* x = field.row(k, j);
    if (last) {
      std::copy_n(d, domain_.nx, x);
      continue;
    }
#pragma GCC ivdep
    for (int i = 0; i < domain_.nx; ++i) x[i] = d[i] - back * above[i];
  }
}

double DiffusionAlongZ::response(int component, int k) const {
  if (response_.empty() || component == k_w) return 1.0;
  return response_[domain_.box[2].begin + k];
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
    solvers_[solver_of_[c]].solve(field, -1);
  }
}

pencil::PoissonReport DiffusionAlongAll::report() const {
  pencil::PoissonReport sum;
  for (const pencil::PoissonSolver& solver : solvers_) {
    const pencil::PoissonReport r = solver.report();
    sum.transform_seconds += r.transform_seconds;
    sum.tridiagonal_seconds += r.tridiagonal_seconds;
    sum.transpose_seconds += r.transpose_seconds;
    sum.xy.seconds += r.xy.seconds;
    sum.xy.bytes += r.xy.bytes;
    sum.xy.messages += r.xy.messages;
    sum.z.seconds += r.z.seconds;
    sum.z.bytes += r.z.bytes;
    sum.z.messages += r.z.messages;
  }
  return sum;
}

}  // namespace octant::dns
