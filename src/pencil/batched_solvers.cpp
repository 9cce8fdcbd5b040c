#include "pencil/batched_solvers.hpp"

#include <vector>

#include "core/clock.hpp"
#include "core/error.hpp"
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

}  // namespace

struct BatchedPoisson::State {
  State(const Cells& cells, const PoissonProblem& given, Sweep sweep,
        const std::shared_ptr<BatchedMemory>& shared)
      : problem(given),
        own_memory(shared ? nullptr : std::make_shared<BatchedMemory>()),
        transform(make_batched_transform({cells[0], given.spacing_x, given.x},
                                         {cells[1], given.spacing_y, given.y}, given.z.size(),
                                         shared ? shared : own_memory)),
        lines({transform->x_eigenvalues(), transform->y_eigenvalues()}, given.z.size(),
              given.z.periodic, is_singular(given), sweep) {}

  PoissonProblem problem;
  std::shared_ptr<BatchedMemory> own_memory;  // none if it is shared
  std::unique_ptr<BatchedTransform> transform;
  BatchedLines lines;
  double transform_seconds = 0.0, tridiagonal_seconds = 0.0;
};

BatchedPoisson::BatchedPoisson(const Cells& cells, const PoissonProblem& problem, Sweep sweep,
                               std::shared_ptr<BatchedMemory> memory) {
  check_planes(problem.z, cells[2]);
  state_ = std::make_unique<State>(cells, problem, sweep, memory);
  set_operator(0.0, 1.0);
}

BatchedPoisson::~BatchedPoisson() = default;
BatchedPoisson::BatchedPoisson(BatchedPoisson&&) noexcept = default;
BatchedPoisson& BatchedPoisson::operator=(BatchedPoisson&&) noexcept = default;

void BatchedPoisson::set_operator(double identity, double laplacian) {
  state_->lines.set_operator(state_->problem.z, identity, laplacian);
}

void BatchedPoisson::solve(const FieldView& field) {
  Clock clock;
  state_->transform->forward(field);
  state_->transform_seconds += lap(clock);
  state_->lines.solve(state_->transform->coefficients());
  state_->tridiagonal_seconds += lap(clock);
  state_->transform->backward(field);
  state_->transform_seconds += lap(clock);
}

double BatchedPoisson::transform_seconds() const { return state_->transform_seconds; }
double BatchedPoisson::tridiagonal_seconds() const { return state_->tridiagonal_seconds; }

struct BatchedTridiagonal::State {
  int planes;
  BatchedLines lines;
};

BatchedTridiagonal::BatchedTridiagonal(const Cells& cells, int planes, bool periodic, Sweep sweep) {
  const LineShifts none{std::vector<double>(cells[0]), std::vector<double>(cells[1])};
  state_.reset(new State{planes, BatchedLines(none, planes, periodic, false, sweep)});
}

BatchedTridiagonal::~BatchedTridiagonal() = default;
BatchedTridiagonal::BatchedTridiagonal(BatchedTridiagonal&&) noexcept = default;
BatchedTridiagonal& BatchedTridiagonal::operator=(BatchedTridiagonal&&) noexcept = default;

void BatchedTridiagonal::set_matrix(const TridiagonalMatrix& matrix) {
  state_->lines.set_operator(matrix, 0.0, 1.0);
}

void BatchedTridiagonal::solve(const FieldView& field) { state_->lines.solve(field); }

}  // namespace octant::pencil
