#include "pencil/batched_solvers.hpp"

#include <vector>

#include "core/clock.hpp"
#include "pencil/batched_lines.hpp"
#include "pencil/batched_transform.hpp"

namespace octant::pencil {

namespace {

bool is_singular(const PoissonProblem& problem) {
  return problem.x.allows_constant() && problem.y.allows_constant() && problem.z_allows_constant;
}

// Seconds since the clock's last lap, when all kernels have ended.
double lap(Clock& clock) {
  Kokkos::fence("pencil: seconds of a solver");
  return clock.restart();
}

BatchedOptions with_memory(BatchedOptions options) {
  if (!options.memory) options.memory = std::make_shared<BatchedMemory>();
  return options;
}

// The first `planes` planes of a grid, with lines of these shifts.
BatchedLinesProblem problem_of_lines(const PencilGrid& grid, int planes, bool periodic,
                                     bool singular, const LineShifts& shifts,
                                     const BatchedOptions& options) {
  if (options.method == TridiagonalMethod::ptdma) check_ptdma_planes(grid, planes);
  const auto planes_of = [grid, planes](int z_index) {
    const Box box = grid.box(Orientation::x, grid.rank_of(grid.y_index(), z_index));
    return intersection(box[2], {0, planes});
  };
  return {grid.column(), planes_of,      planes,        periodic,     singular,
          shifts,        options.method, options.sweep, options.comm, options.memory};
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

}  // namespace

CommOptions options_of_batches(TransposeBackend backend, const CommOptions& comm) {
  CommOptions options = comm;
  switch (backend) {
    case TransposeBackend::alltoall: options.exchange = Backend::alltoall; break;
    case TransposeBackend::ksection: options.exchange = Backend::ksection; break;
    default: options.exchange = Backend::p2p;
  }
  return options;
}

struct BatchedPoisson::State {
  State(const PencilGrid& grid, const PoissonProblem& given, const BatchedOptions& options)
      : problem(given),
        transform(make_batched_transform(setting_of(grid, given, options))),
        lines(make_batched_lines(
            problem_of_lines(grid, given.z.size(), given.z.periodic,
                             is_singular(given) && transform->has_first_column(),
                             {transform->x_eigenvalues(), transform->y_eigenvalues()}, options))) {}

  PoissonProblem problem;
  std::unique_ptr<BatchedTransform> transform;
  std::unique_ptr<BatchedLines> lines;
  double transform_seconds = 0.0, tridiagonal_seconds = 0.0;  // with those of the exchanges
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
  state_->transform->forward(field);
  state_->transform_seconds += lap(clock);
  state_->lines->solve(state_->transform->coefficients());
  state_->tridiagonal_seconds += lap(clock);
  state_->transform->backward(field);
  state_->transform_seconds += lap(clock);
}

PoissonReport BatchedPoisson::report() const {
  PoissonReport report;
  report.xy = state_->transform->traffic();
  report.z = state_->lines->traffic();
  report.transform_seconds = state_->transform_seconds - report.xy.seconds;
  report.tridiagonal_seconds = state_->tridiagonal_seconds - report.z.seconds;
  return report;
}

BatchedTridiagonal::BatchedTridiagonal(const PencilGrid& grid, int planes, bool periodic,
                                       const BatchedOptions& options) {
  const Cells own = grid.box(Orientation::x).shape();
  const LineShifts none{std::vector<double>(own[0]), std::vector<double>(own[1])};
  lines_ = make_batched_lines(
      problem_of_lines(grid, planes, periodic, false, none, with_memory(options)));
}

BatchedTridiagonal::~BatchedTridiagonal() = default;
BatchedTridiagonal::BatchedTridiagonal(BatchedTridiagonal&&) noexcept = default;
BatchedTridiagonal& BatchedTridiagonal::operator=(BatchedTridiagonal&&) noexcept = default;

void BatchedTridiagonal::set_matrix(const TridiagonalMatrix& matrix) {
  lines_->set_operator(matrix, 0.0, 1.0);
}

void BatchedTridiagonal::solve(const FieldView& field) { lines_->solve(field); }

TransposeTraffic BatchedTridiagonal::traffic() const { return lines_->traffic(); }

}  // namespace octant::pencil
