#include "pencil/plane_pass.hpp"

#include <algorithm>

#include "core/clock.hpp"

namespace octant::pencil {

Batches::Batches(int planes, std::ptrdiff_t doubles_of_plane)
    : planes_(planes), size_(1), threads_(team_size()) {
  constexpr std::ptrdiff_t k_doubles = 1 << 17;  // as much as the cache of one core holds
  if (team_size() == 1) return;
  const std::ptrdiff_t fitting = k_doubles / std::max<std::ptrdiff_t>(doubles_of_plane, 1);
  size_ = static_cast<int>(std::clamp<std::ptrdiff_t>(fitting, 1, std::max(planes, 1)));
}

int Batches::next_place(const Team& team) const {
  const Thread& own = threads_[team.rank()];
  return own.is_full ? 0 : static_cast<int>(own.waiting.size());
}

std::span<const int> Batches::add(const Team& team, int k) {
  Thread& own = threads_[team.rank()];
  if (own.is_full) own.waiting.clear();
  own.waiting.push_back(k);
  own.is_full = team.size() == 1 || static_cast<int>(own.waiting.size()) == size_;
  if (!own.is_full) return {};
  team.barrier();
  return own.waiting;
}

std::span<const int> Batches::rest(const Team& team) {
  Thread& own = threads_[team.rank()];
  if (own.is_full) return {};
  own.is_full = true;
  return own.waiting;
}

Range Batches::wanted(const Team& team, int n) {
  int& known = threads_[team.rank()].known;
  if (n >= known) return {};
  known = team.size() == 1 ? n : n / size_ * size_;
  return {known, n + 1};
}

void Batches::begin_backward() {
  for (Thread& own : threads_) own.known = planes_;
}

PlanePass::PlanePass(const Spectrum& spectrum, YPass* twin)
    : spectrum_(spectrum), columns_(Columns::of_row(spectrum)) {
  LineProblem<ShiftedMatrices> problem = columns_.line_problem(spectrum);
  if (twin) problem.twin = &twin->lines();
  solver_ = make_line_solver(problem);
  carry_ = Buffer(columns_.lines.plane_stride);
}

void PlanePass::forward_plane(const Team& team, int k, double* plane) {
  Clock clock;
  const Strip whole[] = {{columns_.range, plane}};
  columns_.transform(team, spectrum_.transform, whole);
  team.lap(clock, times_.transform_seconds);
  solver_->forward(team, kept(), spectrum_.sweep_number(k), plane);
  team.lap(clock, times_.tridiagonal_seconds);
}

void PlanePass::backward_plane(const Team& team, int k, double* plane) {
  Clock clock;
  solver_->backward(team, kept(), spectrum_.sweep_number(k), plane, carry_.data(), carry_.data());
  team.lap(clock, times_.tridiagonal_seconds);
  const Strip whole[] = {{columns_.range, plane}};
  columns_.transform_back(team, spectrum_.transform, whole);
  team.lap(clock, times_.transform_seconds);
}

void PlanePass::exchange_lines() {
  const Clock clock;
  solver_->exchange(kept());
  times_.tridiagonal_seconds += clock.seconds();
}

PoissonReport PlanePass::report() const {
  PoissonReport report = times_;
  report.z = solver_->traffic();
  report.tridiagonal_seconds -= report.z.seconds;
  return report;
}

}  // namespace octant::pencil
