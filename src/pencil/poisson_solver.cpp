#include "pencil/poisson_solver.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/clock.hpp"
#include "pencil/batched_lines.hpp"
#include "pencil/y_pass.hpp"

namespace octant::pencil {

namespace {

// Prefetches the cache lines of the given rows of pieces. The function is inline because compilers
// otherwise remove the call, which has no other effect.
[[gnu::always_inline]] inline void call_for(std::span<const RowPiece> pieces, Range rows) {
  constexpr int k_line = 64 / sizeof(double);
  for (const auto& [x, first, row_stride] : pieces)
    for (int j = rows.begin; j < rows.end; ++j)
      for (int i = 0; i < x.count(); i += k_line) __builtin_prefetch(first + j * row_stride + i, 1);
}

}  // namespace

struct PoissonSolver::State {
  State(const PencilGrid& grid, const PoissonProblem& problem, const PoissonOptions& options,
        const State* twin)
      : spectrum(grid, problem, options),
        between(make_y_pass(spectrum, twin ? twin->between.get() : nullptr)) {}

  Spectrum spectrum;
  std::unique_ptr<YPass> between;  // steps between the transforms along x
  double x_seconds = 0.0;
};

PoissonSolver::PoissonSolver(const PencilGrid& grid, const PoissonProblem& problem,
                             const PoissonOptions& options, const PoissonSolver* twin)
    : state_(std::make_unique<State>(grid, problem, options, twin ? twin->state_.get() : nullptr)) {
  if (!twin) set_operator(0.0, 1.0);
}

PoissonSolver::~PoissonSolver() = default;
PoissonSolver::PoissonSolver(PoissonSolver&&) noexcept = default;
PoissonSolver& PoissonSolver::operator=(PoissonSolver&&) noexcept = default;

bool PoissonSolver::keeps_planes(const PencilGrid& grid, const TridiagonalOptions& options) {
  const auto [y, z] = grid.processes();
  return y == 1 && (z == 1 || options.method == TridiagonalMethod::ptdma);
}

void PoissonSolver::set_operator(double identity, double laplacian) {
  state_->between->lines().set_operator(state_->spectrum.problem.z, identity, laplacian);
}

int PoissonSolver::planes() const { return state_->spectrum.planes; }
int PoissonSolver::rows() const { return state_->spectrum.ny; }
Range PoissonSolver::rows(const Team& team) const {
  const Range own = team.share(state_->spectrum.grid.box(Orientation::x)[1].count());
  return intersection(own, {0, rows()});
}
bool PoissonSolver::first_may_be_last() const { return state_->between->first_may_be_last(); }

void PoissonSolver::transform_rows(const Team& team, int k, Range rows, const double* first,
                                   std::ptrdiff_t row_stride) {
  State& s = *state_;
  Clock clock;
  const auto pieces = s.between->rows_to_write(team, k);
  const auto ahead = s.between->rows_ahead(team, s.spectrum.sweep_number(k) + 1);
  for (int j = rows.begin; j < rows.end; j += k_lines, first += k_lines * row_stride) {
    const Range together{j, std::min(j + k_lines, rows.end)};
    s.spectrum.transform.forward_x(team, first, row_stride, together, pieces);
    call_for(ahead, together);
  }
  team.lap(clock, s.x_seconds);
}

void PoissonSolver::forward(const Team& team, int k) { state_->between->forward(team, k); }

void PoissonSolver::exchange() { state_->between->exchange(); }

void PoissonSolver::backward(const Team& team, int k, double* first, std::ptrdiff_t row_stride) {
  State& s = *state_;
  const auto pieces = s.between->rows_to_read(team, k);
  const auto ahead = s.between->rows_ahead(team, s.spectrum.sweep_number(k) - 1);
  Clock clock;
  const Range own = rows(team);
  for (int j = own.begin; j < own.end; j += k_lines) {
    const Range together{j, std::min(j + k_lines, own.end)};
    s.spectrum.transform.backward_x(team, pieces, together, first + j * row_stride, row_stride);
    call_for(ahead, together);
  }
  team.lap(clock, s.x_seconds);
}

// Waits before and after the solve, because other solvers may use the shared memory.
void PoissonSolver::solve(Field& field, int plane_offset, int to_offset) {
  state_->between->take_turns();
  const auto plane_of = [&](int n) { return state_->spectrum.sweep_number(n); };
  const std::ptrdiff_t stride = field.row_stride();
  in_team("pencil: transform", [&](const Team& team) {
    const Range own = rows(team);
    for (int n = 0; n < planes(); ++n) {
      const int k = plane_of(n);
      transform_rows(team, k, own, field.row(k, own.begin, plane_offset), stride);
      forward(team, k);
      team.barrier();
    }
  });
  exchange();
  in_team("pencil: transform back", [&](const Team& team) {
    for (int n = planes() - 1; n >= 0; --n) {
      backward(team, plane_of(n), field.row(plane_of(n), 0, to_offset), stride);
      team.barrier();
    }
  });
  state_->between->take_turns();
}

PoissonReport PoissonSolver::report() const {
  PoissonReport report = state_->between->report();
  report.transform_seconds += state_->x_seconds;
  return report;
}

PoissonReport& PoissonReport::operator+=(const PoissonReport& other) {
  transform_seconds += other.transform_seconds;
  tridiagonal_seconds += other.tridiagonal_seconds;
  xy += other.xy;
  z += other.z;
  turn += other.turn;
  return *this;
}

PoissonSolvers::PoissonSolvers(std::span<PoissonSolver> solvers) : solvers_(solvers) {
  const Spectrum& any = solvers.front().state_->spectrum;
  if (!JoinedLines::fits(any.options.tridiagonal, any.grid.column())) return;
  std::vector<ReducedLines*> reduced;
  for (const PoissonSolver& solver : solvers)
    reduced.push_back(solver.state_->between->lines().reduced());
  joined_ =
      std::make_unique<JoinedLines>(any.grid.column(), reduced, any.options.tridiagonal.backend);
}

PoissonSolvers::~PoissonSolvers() = default;

void PoissonSolvers::exchange() {
  if (!joined_) {
    for (PoissonSolver& solver : solvers_) solver.exchange();
    return;
  }
  std::vector<Planes> planes;
  for (const PoissonSolver& solver : solvers_) {
    solver.state_->between->begin_exchange();
    planes.push_back(solver.state_->between->kept());
  }
  const Clock clock;
  joined_->exchange(planes);
  seconds_ += clock.seconds();
  for (const PoissonSolver& solver : solvers_) solver.state_->between->end_exchange();
}

PoissonReport PoissonSolvers::report() const {
  PoissonReport sum;
  for (const PoissonSolver& solver : solvers_) sum += solver.report();
  if (!joined_) return sum;
  sum.z += joined_->traffic();
  sum.tridiagonal_seconds += seconds_ - joined_->traffic().seconds;
  return sum;
}

// --- all planes at once --------------------------------------------------------------------------

namespace {

bool is_singular(const PoissonProblem& problem) {
  return problem.x.allows_constant() && problem.y.allows_constant() && problem.z_allows_constant;
}

// Waits for all kernels, restarts the clock and returns the seconds since its last restart.
double lap(Clock& clock) {
  Kokkos::fence("pencil: seconds of a solver");
  return clock.restart();
}

BatchedTransform::Setting setting_of(const PencilGrid& grid, const PoissonProblem& problem,
                                     const BatchedOptions& options) {
  check_planes(problem.z, grid.cells()[2]);
  const Range planes = intersection(grid.box(Orientation::x)[2], {0, problem.z.size()});
  return {grid,
          {grid.cells()[0], problem.spacing_x, problem.x},
          {grid.cells()[1], problem.spacing_y, problem.y},
          planes.count(),
          options.comm,
          options.memory};
}

// Transpose of fields in z_direct pencils to x-pencils in scratch memory, and back. Solutions and
// entries that are not unknowns are moved bit by bit.
class FieldTurn {
 public:
  FieldTurn(const PencilGrid& grid, const BatchedOptions& options)
      : shape_(grid.box(Orientation::x).shape()),
        memory_(options.memory),
        transpose_(
            "x-z transpose", grid.column(),
            [grid](int rank) {
              return grid.box(Orientation::x, grid.rank_of(grid.y_index(), rank));
            },
            [grid](int rank) {
              return grid.box(Orientation::z_direct, grid.rank_of(grid.y_index(), rank));
            },
            options.comm, options.memory) {
    memory_->reserve(BatchedMemory::rows,
                     static_cast<std::size_t>(rows().plane_stride) * shape_[2]);
  }

  // X-pencil of the field, with rows aligned to 32 bytes.
  FieldView rows() const {
    const std::ptrdiff_t stride = (shape_[0] + 3) / 4 * 4;
    return {memory_->data(BatchedMemory::rows),
            stride,
            stride * shape_[1],
            shape_[0],
            shape_[1],
            shape_[2]};
  }
  void to_rows(const FieldView& field) { transpose_.backward(field, rows()); }
  void from_rows(const FieldView& field) { transpose_.forward(rows(), field); }
  const TransposeTraffic& traffic() const { return transpose_.traffic(); }

 private:
  Cells shape_;
  std::shared_ptr<BatchedMemory> memory_;
  BatchedTranspose transpose_;
};

}  // namespace

struct BatchedPoisson::State {
  State(const PencilGrid& grid, const PoissonProblem& given, const BatchedOptions& options)
      : problem(given),
        transform(make_batched_transform(setting_of(grid, given, options))),
        lines(make_batched_line_solver(
            problem_of_lines(grid, given.z.size(), given.z.periodic,
                             is_singular(given) && transform->has_first_column(),
                             {transform->x_eigenvalues(), transform->y_eigenvalues()}, options))) {
    if (options.fields == Orientation::z_direct) turn.emplace(grid, options);
  }

  PoissonProblem problem;
  std::unique_ptr<BatchedTransform> transform;
  std::unique_ptr<BatchedLines> lines;
  std::optional<FieldTurn> turn;                              // empty for fields in x-pencils
  double transform_seconds = 0.0, tridiagonal_seconds = 0.0;  // including exchanges
};

BatchedPoisson::BatchedPoisson(const PencilGrid& grid, const PoissonProblem& problem,
                               const BatchedOptions& options)
    : state_(std::make_unique<State>(grid, problem, with_memory(options))) {
  set_operator(0.0, 1.0);
}

BatchedPoisson::~BatchedPoisson() = default;
BatchedPoisson::BatchedPoisson(BatchedPoisson&&) noexcept = default;
BatchedPoisson& BatchedPoisson::operator=(BatchedPoisson&&) noexcept = default;

void BatchedPoisson::set_operator(double identity, double laplacian) {
  state_->lines->set_operator(state_->problem.z, identity, laplacian);
}

void BatchedPoisson::solve(const FieldView& field) {
  Clock clock;
  const FieldView rows = state_->turn ? state_->turn->rows() : field;
  if (state_->turn) {
    state_->turn->to_rows(field);
    lap(clock);
  }
  state_->transform->forward(rows);
  state_->transform_seconds += lap(clock);
  state_->lines->solve(state_->transform->coefficients());
  state_->tridiagonal_seconds += lap(clock);
  state_->transform->backward(rows);
  state_->transform_seconds += lap(clock);
  if (state_->turn) state_->turn->from_rows(field);
}

PoissonReport BatchedPoisson::report() const {
  PoissonReport report;
  report.xy = state_->transform->traffic();
  report.z = state_->lines->traffic();
  if (state_->turn) report.turn = state_->turn->traffic();
  report.transform_seconds = state_->transform_seconds - report.xy.seconds;
  report.tridiagonal_seconds = state_->tridiagonal_seconds - report.z.seconds;
  return report;
}

}  // namespace octant::pencil
