#include "dns/prediction.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "dns/operators.hpp"

namespace octant::dns {

namespace {

template <Diffusion diffusion>
constexpr std::array kernels_of{&momentum_row<diffusion, false, true>,
                                &momentum_row<diffusion, true, true>,
                                &momentum_row<diffusion, true, false>};

}  // namespace

MomentumSweep::MomentumSweep(const Domain& domain, double viscosity, Diffusion diffusion,
                             const Vector& force)
    : domain_(domain),
      rhs_stride_((domain.nx + 3) / 4 * 4),
      edge_stride_((domain.nx + 15) / 16 * 16),
      edges_(static_cast<std::size_t>(edge_stride_) * pencil::team_size()) {
  for (pencil::Buffer& rhs : rhs_)
    rhs = pencil::Buffer(static_cast<std::size_t>(rhs_stride_) * domain.ny * domain.nz);
  for (int c = 0; c < k_components; ++c)
    for (int k = 0; k < domain.nz; ++k)
      operators_[c].push_back(plane_operator(domain, viscosity, force[c], c, k));
  switch (diffusion) {
    case Diffusion::explicit_all: kernels_ = kernels_of<Diffusion::explicit_all>; break;
    case Diffusion::implicit_z: kernels_ = kernels_of<Diffusion::implicit_z>; break;
    case Diffusion::implicit_all: kernels_ = kernels_of<Diffusion::implicit_all>; break;
  }
}

// Saves the row of w in plane k - 1 after this thread's last row, which the prediction of v needs
// and the next thread overwrites.
void MomentumSweep::keep_edge(const Team& team, const State& state, int k) {
  if (team.is_last()) return;
  std::copy_n(state.w.row(k - 1, team.share(domain_.ny).end), domain_.nx, edge_of(team));
}

void MomentumSweep::plane(const Team& team, State& state, int k, int n, const Stage& stage) {
  if (k == 0) {
    keep_edge(team, state, 0);
    team.barrier();
  }
  const auto& [u, v, w, p] = state;
  const std::ptrdiff_t row = u.row_stride(), plane = u.plane_stride();
  const int nx = domain_.nx, u_cells = domain_.unknowns(k_u, 0);
  const int v_rows = domain_.unknowns(k_v, 1), w_planes = domain_.unknowns(k_w, 2);
  const RowKernel kernel = kernels_[n];
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j) {
    const double *uc = u.row(k, j), *vc = v.row(k, j), *wc = w.row(k, j), *pc = p.row(k, j);
    const bool at_edge = j == own.end - 1 && !team.is_last();
    const VelocityRows at{uc,       vc,         wc,
                          vc - row, wc - plane, at_edge ? edge_of(team) : wc - plane + row};
    kernel(u_cells, row, plane, operators_[k_u][k], advecting_velocities(k_u, at, row, plane),
           stage, {uc, pc, pc + 1, rhs_row(k_u, k, j), state.u.row(k, j, -1)});
    if (j < v_rows)
      kernel(nx, row, plane, operators_[k_v][k], advecting_velocities(k_v, at, row, plane), stage,
             {vc, pc, pc + row, rhs_row(k_v, k, j), state.v.row(k, j, -1)});
    if (k < w_planes)
      kernel(nx, row, plane, operators_[k_w][k], advecting_velocities(k_w, at, row, plane), stage,
             {wc, pc, pc + plane, rhs_row(k_w, k, j), state.w.row(k, j, -1)});
  }
  keep_edge(team, state, k + 1);
}

void MomentumSweep::add_to_mean(const Team& team, const State& state, int k, int component,
                                ReproducibleSum& sum) const {
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j)
    sum += row_sum(state.velocity(component).row(k, j, -1), domain_.nx) * domain_.dz_cell[k];
}

namespace {

void add_to_row(double* row, int n, double amount) {
  for (int i = 0; i < n; ++i) row[i] += amount;
}

// Returns true if two problems have the same operator. On a periodic axis the operator is the same
// for unknowns on faces and at centres.
bool same_problem(const pencil::PoissonProblem& a, const pencil::PoissonProblem& b) {
  const auto same_axis = [](const pencil::AxisConditions& p, const pencil::AxisConditions& q) {
    return (p.periodic() && q.periodic()) || p == q;
  };
  return same_axis(a.x, b.x) && same_axis(a.y, b.y) && a.z.lower == b.z.lower &&
         a.z.diagonal == b.z.diagonal && a.z.upper == b.z.upper;
}

// Contributions of boundary values to the right-hand sides of implicit diffusion.
class BoundarySources {
 public:
  // Computes the contributions along z only, or along all axes.
  BoundarySources(const Domain& domain, const Outflow<Place::host>& outflow, bool all_axes);
  // Adds `factor` times the contributions to this thread's rows of a component in plane k, at plane
  // offset -1.
  void add(const Team& team, State& state, int component, int k, double factor) const;

 private:
  void add_outflow(Field& field, int axis, int end, int k, Range rows, double factor) const;

  const Domain& domain_;
  const Outflow<Place::host>& outflow_;
  bool all_axes_;
  double amounts_[k_components][3][2] = {};
};

BoundarySources::BoundarySources(const Domain& domain, const Outflow<Place::host>& outflow,
                                 bool all_axes)
    : domain_(domain), outflow_(outflow), all_axes_(all_axes) {
  for (int c = 0; c < k_components; ++c)
    for (int axis = all_axes ? 0 : 2; axis < 3; ++axis)
      for (int end = 0; end < 2; ++end)
        amounts_[c][axis][end] = boundary_source(domain, c, axis, end);
}

// Adds the contributions of the offsets on an outflow side to the right-hand sides of the next
// interior faces, in `rows` of plane k.
void BoundarySources::add_outflow(Field& field, int axis, int end, int k, Range rows,
                                  double factor) const {
  const FieldView& offset = outflow_.offset(axis, end);
  if (!offset.first) return;
  const int last = domain_.unknowns(axis, axis) - 1, beside = end == 0 ? 0 : last;
  if (axis == 2 && k != beside) return;
  const double amount = factor * outflow_weight(domain_.grid, axis, end);
  if (axis == 1) rows = pencil::intersection(rows, {beside, beside + 1});
  for (int j = rows.begin; j < rows.end; ++j) {
    const double* from = offset.row(axis == 2 ? 0 : k, axis == 1 ? 0 : j);
    double* to = field.row(k, j, -1) + (axis == 0 ? beside : 0);
    for (int i = 0; i < offset.nx; ++i) to[i] += amount * from[i];
  }
}

void BoundarySources::add(const Team& team, State& state, int component, int k,
                          double factor) const {
  Field& field = state.velocity(component);
  const int cells = domain_.unknowns(component, 0), rows = domain_.unknowns(component, 1);
  const int planes = domain_.unknowns(component, 2);
  if (k >= planes) return;
  const auto& amounts = amounts_[component];
  const Range own = pencil::intersection(team.share(domain_.ny), {0, rows});
  for (int end = 0; end < 2; ++end) {
    if (amounts[2][end] != 0.0 && k == (end == 0 ? 0 : planes - 1))
      for (int j = own.begin; j < own.end; ++j)
        add_to_row(field.row(k, j, -1), cells, factor * amounts[2][end]);
    const int side = end == 0 ? 0 : rows - 1;
    if (amounts[1][end] != 0.0 && own.contains(side))
      add_to_row(field.row(k, side, -1), cells, factor * amounts[1][end]);
    if (amounts[0][end] != 0.0)
      for (int j = own.begin; j < own.end; ++j)
        field.row(k, j, -1)[end == 0 ? 0 : cells - 1] += factor * amounts[0][end];
    if (component == k_w || all_axes_) add_outflow(field, component, end, k, own, factor);
  }
}

class DiffusionAlongZ final : public ImplicitDiffusion {
 public:
  DiffusionAlongZ(const Domain& domain, const Outflow<Place::host>& outflow, int forced,
                  const pencil::TridiagonalOptions& options)
      : domain_(domain),
        sources_(domain, outflow, false),
        forced_(forced),
        transposed_(domain.is_cut(2) && options.method == pencil::TridiagonalMethod::ftm) {
    for (int c = 0; c < k_components; ++c) {
      solvers_.emplace_back(domain.pencils, domain.grid.cells[2], domain.boundaries.periodic(2),
                            options);
      second_derivative_[c] = velocity_z_matrix(domain.grid, domain.boundaries, c);
    }
    together_.emplace(solvers_);
  }

  void set_factor(double factor) override {
    if (factor == factor_) return;
    factor_ = factor;
    for (int c = 0; c < k_components; ++c) {
      pencil::TridiagonalMatrix matrix = helmholtz(second_derivative_[c], -factor);
      if (c == forced_) response_ = response_to_one(matrix);
      append_identity_rows(matrix, domain_.grid.cells[2]);
      solvers_[c].set_matrix(matrix);
    }
  }

  void eliminate(const Team& team, State& state, int k) override {
    for (int c = 0; c < k_components; ++c) {
      sources_.add(team, state, c, k, factor_);
      if (!transposed_) solvers_[c].forward(team, state.velocity(c), k, -1);
    }
  }
  void exchange(State& state, double) override {
    if (transposed_)
      for (int c = 0; c < k_components; ++c) solvers_[c].solve(state.velocity(c), -1, 0);
    else
      together_->exchange(std::array{&state.velocity(0), &state.velocity(1), &state.velocity(2)},
                          -1);
  }
  void back_substitute(const Team& team, State& state, int component, int k) override {
    if (!transposed_) solvers_[component].backward(team, state.velocity(component), k, -1, 0);
  }

  double response(int k) const override { return response_[domain_.box[2].begin + k]; }
  pencil::PoissonReport report() const override {
    pencil::PoissonReport report;
    report.z = together_->traffic();
    return report;
  }

 private:
  const Domain& domain_;
  BoundarySources sources_;
  int forced_;
  double factor_ = 0.0;
  // True if lines are transposed. exchange() then performs the complete solves, one component after
  // another, with shared memory.
  bool transposed_;
  std::vector<pencil::FieldTridiagonal> solvers_;  // by component
  std::optional<pencil::FieldTridiagonals> together_;
  std::array<pencil::TridiagonalMatrix, k_components> second_derivative_;
  std::vector<double> response_;  // response in all planes of the grid
};

// Implicit diffusion along all axes, solved within the sweeps. If lines need no transpose,
// transform coefficients replace the predicted velocity in memory; otherwise each component has its
// own messages. With a prescribed mean between side walls, the response to a forcing velocity
// varies within a plane, so that the forcing velocity must be known before the solve: exchange()
// then performs the complete solves, one component after another, with shared memory.
class DiffusionAlongAll final : public ImplicitDiffusion {
 public:
  DiffusionAlongAll(const Domain& domain, State& state, const Outflow<Place::host>& outflow,
                    int forced, const pencil::PoissonOptions& options)
      : domain_(domain),
        sources_(domain, outflow, true),
        forced_(forced),
        forced_before_solve_(forced >= 0 &&
                             !(domain.boundaries.periodic(0) && domain.boundaries.periodic(1))),
        in_sweeps_(!forced_before_solve_) {
    solvers_.reserve(k_components);
    for (int c = 0; c < k_components; ++c) {
      Field& field = state.velocity(c);
      pencil::PoissonOptions own = options;
      if (in_sweeps_) {
        own.tridiagonal.memory = nullptr;
        own.planes = nullptr;
        if (pencil::PoissonSolver::keeps_planes(domain.pencils, options.tridiagonal))
          own.kept = {field.row(0, -1, -1) - Field::k_pad, field.plane_stride()};
      }
      const auto problem_of = [&](int component) {
        return velocity_problem(domain.grid, domain.boundaries, component);
      };
      int twin = 0;
      while (twin < c && !same_problem(problem_of(twin), problem_of(c))) ++twin;
      if (twin == c) have_factors_.push_back(c);
      solvers_.emplace_back(domain.pencils, problem_of(c), own,
                            twin < c ? &solvers_[twin] : nullptr);
    }
    if (in_sweeps_) together_.emplace(solvers_);
  }

  void set_factor(double factor) override {
    if (factor == factor_) return;
    factor_ = factor;
    for (const int c : have_factors_) solvers_[c].set_operator(1.0, -factor);
    if (forced_ >= 0 && !forced_before_solve_)
      response_ = response_to_one(
          helmholtz(velocity_z_matrix(domain_.grid, domain_.boundaries, forced_), -factor));
  }

  void eliminate(const Team& team, State& state, int k) override {
    for (int c = 0; c < k_components; ++c) sources_.add(team, state, c, k, factor_);
    if (!in_sweeps_) return;
    for (int c = 0; c < k_components; ++c) forward(team, state, c, k);
  }
  void exchange(State& state, double forcing_velocity) override {
    if (together_) return together_->exchange();
    for (int c = 0; c < k_components; ++c)
      solve(state, c, forced_before_solve_ && c == forced_ ? forcing_velocity : 0.0);
  }
  void back_substitute(const Team& team, State& state, int component, int k) override {
    if (in_sweeps_) backward(team, state, component, k);
  }

  double response(int k) const override {
    return forced_before_solve_ ? 0.0 : response_[domain_.box[2].begin + k];
  }
  pencil::PoissonReport report() const override {
    if (together_) return together_->report();
    pencil::PoissonReport sum;
    for (const pencil::PoissonSolver& solver : solvers_) sum += solver.report();
    return sum;
  }

 private:
  void solve(State& state, int component, double forcing_velocity) {
    Field& field = state.velocity(component);
    if (forcing_velocity != 0.0)
      for (int k = 0; k < domain_.nz; ++k)
        for (int j = 0; j < domain_.ny; ++j)
          add_to_row(field.row(k, j, -1), domain_.nx, forcing_velocity);
    solvers_[component].solve(field, -1, 0);
  }
  void forward(const Team& team, State& state, int component, int k) {
    pencil::PoissonSolver& solver = solvers_[component];
    if (k >= solver.planes()) return;
    const Field& field = state.velocity(component);
    const Range own = solver.rows(team);
    solver.transform_rows(team, k, own, field.row(k, own.begin, -1), field.row_stride());
    solver.forward(team, k);
  }
  void backward(const Team& team, State& state, int component, int k) {
    pencil::PoissonSolver& solver = solvers_[component];
    Field& field = state.velocity(component);
    if (k < solver.planes()) solver.backward(team, k, field.row(k, 0), field.row_stride());
  }

  const Domain& domain_;
  BoundarySources sources_;
  int forced_;
  bool forced_before_solve_, in_sweeps_;
  double factor_ = 0.0;
  std::vector<pencil::PoissonSolver> solvers_;      // by component
  std::optional<pencil::PoissonSolvers> together_;  // joint exchange; empty unless in_sweeps_
  std::vector<int> have_factors_;                   // components with factors of their own
  std::vector<double> response_;                    // response in all planes of the grid
};

}  // namespace

std::unique_ptr<ImplicitDiffusion> make_implicit_diffusion(const Domain& domain, State& state,
                                                           const Outflow<Place::host>& outflow,
                                                           Diffusion diffusion, int forced,
                                                           const pencil::PoissonOptions& options) {
  switch (diffusion) {
    case Diffusion::explicit_all: break;
    case Diffusion::implicit_z:
      return std::make_unique<DiffusionAlongZ>(domain, outflow, forced, options.tridiagonal);
    case Diffusion::implicit_all:
      return std::make_unique<DiffusionAlongAll>(domain, state, outflow, forced, options);
  }
  return nullptr;
}

}  // namespace octant::dns
