#include "pencil/batched_tridiagonal.hpp"

#include "pencil/batched_lines.hpp"

namespace octant::pencil {

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

std::size_t BatchedTridiagonal::bytes() const { return state_->lines.bytes(); }

}  // namespace octant::pencil
