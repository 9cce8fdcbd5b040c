#include "pencil/poisson.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "pencil/poisson_state.hpp"

namespace octant::pencil {

namespace {

// Calls for the cache lines of row j of some pieces. Inline, since compilers drop the call of a
// function that does nothing else.
[[gnu::always_inline]] inline void call_for(std::span<const RowPiece> pieces, int j) {
  constexpr int k_line = 64 / sizeof(double);
  for (const auto& [x, first, row_stride] : pieces)
    for (int i = 0; i < x.count(); i += k_line) __builtin_prefetch(first + j * row_stride + i, 1);
}

}  // namespace

// From the first row of a strip on.
void PoissonSolver::State::add_pieces(const Strip& strip, std::vector<RowPiece>& pieces) const {
  double* first = strip.first;
  for (int x = strip.columns.begin; x < strip.columns.end; x += k_columns) {
    pieces.push_back({{x, std::min(x + k_columns, strip.columns.end)}, first, k_columns});
    first += std::ptrdiff_t{y_size} * k_columns;
  }
}

void PoissonSolver::State::list_pieces(const Team& team, double* whole, int k,
                                       std::vector<RowPiece>& list) {
  list.clear();
  if (y_is_local) {
    for (const Strip& strip : strips_of(team, whole, k)) add_pieces(strip, list);
  } else if (in_shared_planes) {
    for (int rank = 0; rank < grid.row().size(); ++rank) {
      const Range theirs = columns_of(transform.width(), grid.row().size(), rank);
      const std::ptrdiff_t stride =
          std::ptrdiff_t{whole_blocks(theirs.count())} * k_columns * y_size;
      const int first_row = grid.box(Orientation::x)[1].begin;
      add_pieces({theirs, shared().of(rank) + k * stride + first_row * k_columns}, list);
    }
  } else {
    for (int n = 0; n < xy->pieces(Transpose::End::source); ++n)
      list.push_back(xy->piece(Transpose::End::source, n, k));
  }
}

std::span<const RowPiece> PoissonSolver::State::row_pieces(const Team& team, double* whole, int k) {
  std::vector<RowPiece>& own = pieces[team.rank()];
  list_pieces(team, whole, k, own);
  return own;
}

std::span<const RowPiece> PoissonSolver::State::pieces_ahead(const Team& team, int n) {
  if (!in_strips || n < 0 || n >= planes) return {};
  std::vector<RowPiece>& own = ahead[team.rank()];
  list_pieces(team, nullptr, sweep_number(n), own);
  return own;
}

std::span<const Strip> PoissonSolver::State::strips_of(const Team& team, double* plane, int k) {
  std::vector<Strip>& own = strips_at_hand[team.rank()];
  own.clear();
  if (in_strips) strips->add_plane(k, own);
  else own.push_back({columns, plane});
  return own;
}

// A thread transforms the blocks whose lines it solves for, unless other ranks do that. The body
// gets a block and its columns.
template <class Body>
void PoissonSolver::State::for_each_block(const Team& team, double* plane, int k,
                                          const Body& body) {
  const std::span<const Strip> strips = strips_of(team, plane, k);
  int all = 0, n = 0;
  for (const Strip& strip : strips) all += whole_blocks(strip.columns.count());
  const Range own = team.share(all);
  for (const auto& [columns, first] : strips) {
    double* block = first;
    for (int x = columns.begin; x < columns.end; x += k_columns, ++n) {
      if (own.contains(n)) body(block, Range{x, std::min(x + k_columns, columns.end)});
      block += std::ptrdiff_t{y_size} * k_columns;
    }
  }
}

void PoissonSolver::State::clear_padding(double* block, int used) {
  if (used == k_columns) return;
  for (int j = 0; j < y_size; ++j, block += k_columns)
    std::fill(block + used, block + k_columns, 0.0);
}

// Transforms plane k along y and gives it to the solver of lines, unless it lies there.
void PoissonSolver::State::forward_plane(const Team& team, int k, double* plane) {
  Clock clock;
  for_each_block(team, plane, k, [this](double* block, Range columns) {
    clear_padding(block, columns.count());
    transform.forward_y(block, columns.begin == 0);
  });
  team.lap(clock, times.transform_seconds);
  if (in_strips) return;
  solver->forward(team, spectral_planes(), sweep_number(k), plane);
  team.lap(clock, times.tridiagonal_seconds);
}

// The coefficients of plane k along x.
void PoissonSolver::State::backward_plane(const Team& team, int k, double* plane) {
  Clock clock;
  if (!in_strips) {
    const double* solution = solver->backward(team, spectral_planes(), sweep_number(k),
                                              carry.data(), carry.data(), plane);
    if (solution != carry.data() && solution != plane)
      copy_rows(lines, lines.share(team), solution, plane);
    team.lap(clock, times.tridiagonal_seconds);
  }
  for_each_block(team, plane, k, [this](double* block, Range columns) {
    transform.backward_y(block, columns.begin == 0);
  });
  team.lap(clock, times.transform_seconds);
}

void PoissonSolver::State::forward_batch(const Team& team) {
  std::vector<int>& waiting = batches[team.rank()].waiting;
  team.barrier();
  for (std::size_t n = 0; n < waiting.size(); ++n)
    forward_plane(team, waiting[n], work_plane(static_cast<int>(n)));
  waiting.clear();
}

// Planes from n on, downwards.
void PoissonSolver::State::backward_batch(const Team& team, int n) {
  const int last = team.size() == 1 ? n : n / batch * batch;
  for (int m = n; m >= last; --m) backward_plane(team, sweep_number(m), work_plane(m % batch));
  batches[team.rank()].known = last;
  team.barrier();
}

void PoissonSolver::State::end_forward() {
  if (!batches.front().waiting.empty())
    in_team("pencil: transform along y", [&](const Team& team) { forward_batch(team); });
  for (Batch& own : batches) own.known = planes;
}

void PoissonSolver::State::forward_transposed() {
  Clock clock;
  xy->exchange(Direction::forward);
  times.transform_seconds += clock.restart();
  in_team("pencil: transform along y", [&](const Team& team) {
    for (int n = 0; n < planes; ++n) {
      const int k = sweep_number(n);  // its own inverse
      team.barrier();
      Clock unpacking;
      xy->unpack(team, Transpose::End::target, {0, y_size}, {k, k + 1}, work.data());
      team.barrier();
      team.lap(unpacking, times.transform_seconds);
      forward_plane(team, k, work.data());
    }
  });
}

void PoissonSolver::State::backward_transposed() {
  in_team("pencil: transform back along y", [&](const Team& team) {
    for (int n = planes - 1; n >= 0; --n) {
      const int k = sweep_number(n);
      backward_plane(team, k, work.data());
      team.barrier();
      Clock packing;
      xy->pack(team, Transpose::End::target, {0, y_size}, {k, k + 1}, work.data());
      team.lap(packing, times.transform_seconds);
      team.barrier();
    }
  });
  const Clock clock;
  xy->exchange(Direction::reverse);
  times.transform_seconds += clock.seconds();
}

void PoissonSolver::State::forward_shared() {
  const Clock clock;
  shared().synchronise();
  count_shared(Direction::forward, clock.seconds());
  in_team("pencil: transform along y", [&](const Team& team) {
    const Planes plane = spectral_planes();
    for (int n = 0; n < planes; ++n) {
      const int k = sweep_number(n);
      forward_plane(team, k, plane(k));
    }
  });
}

void PoissonSolver::State::backward_shared() {
  in_team("pencil: transform back along y", [&](const Team& team) {
    const Planes plane = spectral_planes();
    for (int n = planes - 1; n >= 0; --n) {
      const int k = sweep_number(n);
      backward_plane(team, k, plane(k));
    }
  });
  const Clock clock;
  shared().synchronise();
  count_shared(Direction::reverse, clock.seconds());
}

void PoissonSolver::State::solve_lines() {
  const Clock clock;
  if (in_strips) {
    strips->exchange(Direction::forward);
    const std::vector<Slab> slabs = strips->slabs();
    solver->solve({nullptr, lines.plane_stride, slabs});
    strips->exchange(Direction::reverse);
  } else {
    solver->exchange(spectral_planes());
  }
  times.tridiagonal_seconds += clock.seconds();
}

PoissonSolver::PoissonSolver(const PencilGrid& grid, const PoissonProblem& problem,
                             const PoissonOptions& options, const PoissonSolver* twin)
    : state_(std::make_unique<State>(grid, problem, options, twin ? twin->state_.get() : nullptr)) {
}

PoissonSolver::~PoissonSolver() = default;
PoissonSolver::PoissonSolver(PoissonSolver&&) noexcept = default;
PoissonSolver& PoissonSolver::operator=(PoissonSolver&&) noexcept = default;

void PoissonSolver::set_operator(double identity, double laplacian) {
  state_->solver->set_operator(state_->problem.z, identity, laplacian);
}

bool PoissonSolver::keeps_planes(const PencilGrid& grid, const TridiagonalOptions& options) {
  const auto [y, z] = grid.processes();
  return y == 1 && (z == 1 || options.method == TridiagonalMethod::ptdma);
}

int PoissonSolver::planes() const { return state_->planes; }
int PoissonSolver::rows() const { return state_->ny; }
Range PoissonSolver::rows(const Team& team) const {
  const Range own = team.share(state_->grid.box(Orientation::x)[1].count());
  return intersection(own, {0, state_->ny});
}
bool PoissonSolver::first_may_be_last() const {
  return !state_->y_is_local || state_->in_strips || state_->solver->first_may_be_last();
}

void PoissonSolver::transform_rows(const Team& team, int k, Range rows, const double* first,
                                   std::ptrdiff_t row_stride) {
  State& s = *state_;
  Clock clock;
  const auto waiting = static_cast<int>(s.batches[team.rank()].waiting.size());
  const auto pieces = s.row_pieces(team, s.y_is_local ? s.work_plane(waiting) : nullptr, k);
  const auto ahead = s.pieces_ahead(team, s.sweep_number(k) + 1);
  for (int j = rows.begin; j < rows.end; ++j, first += row_stride) {
    s.transform.forward_x(team, first, j, pieces);
    call_for(ahead, j);
  }
  team.lap(clock, s.times.transform_seconds);
}

void PoissonSolver::forward(const Team& team, int k) {
  State& s = *state_;
  if (!s.y_is_local) return;
  std::vector<int>& waiting = s.batches[team.rank()].waiting;
  waiting.push_back(k);
  if (team.size() == 1 || static_cast<int>(waiting.size()) == s.batch) s.forward_batch(team);
}

void PoissonSolver::exchange() {
  State& s = *state_;
  if (s.y_is_local) s.end_forward();
  else if (s.in_shared_planes) s.forward_shared();
  else s.forward_transposed();
  s.solve_lines();
  if (s.in_shared_planes) s.backward_shared();
  else if (!s.y_is_local) s.backward_transposed();
}

void PoissonSolver::backward(const Team& team, int k, double* first, std::ptrdiff_t row_stride) {
  State& s = *state_;
  const int n = s.sweep_number(k);
  if (s.y_is_local && n < s.batches[team.rank()].known) s.backward_batch(team, n);
  double* plane = s.y_is_local ? s.work_plane(n % s.batch) : nullptr;
  Clock clock;
  const auto pieces = s.row_pieces(team, plane, k);
  const Range own = rows(team);
  const auto ahead = s.pieces_ahead(team, n - 1);
  for (int j = own.begin; j < own.end; ++j) {
    s.transform.backward_x(team, pieces, j, first + j * row_stride);
    call_for(ahead, j);
  }
  team.lap(clock, s.times.transform_seconds);
}

// Another solver may have had the shared planes before, and another one may have them after.
void PoissonSolver::solve(Field& field, int slide, int to_slide) {
  if (state_->in_shared_planes) state_->shared().synchronise();
  const auto plane_of = [&](int n) { return state_->sweep_number(n); };
  const std::ptrdiff_t stride = field.row_stride();
  in_team("pencil: transform", [&](const Team& team) {
    const Range own = rows(team);
    for (int n = 0; n < planes(); ++n) {
      const int k = plane_of(n);
      transform_rows(team, k, own, field.row(k, own.begin, slide), stride);
      forward(team, k);
      team.barrier();
    }
  });
  exchange();
  in_team("pencil: transform back", [&](const Team& team) {
    for (int n = planes() - 1; n >= 0; --n) {
      backward(team, plane_of(n), field.row(plane_of(n), 0, to_slide), stride);
      team.barrier();
    }
  });
  if (state_->in_shared_planes) state_->shared().synchronise();
}

PoissonReport PoissonSolver::report() const {
  PoissonReport report = state_->times;
  if (state_->xy) report.xy = state_->xy->traffic();
  report.z = state_->in_strips ? state_->strips->traffic() : state_->solver->traffic();
  report.transform_seconds -= report.xy.seconds;
  if (state_->in_shared_planes) report.xy = state_->shared_traffic;
  report.tridiagonal_seconds -= report.z.seconds;
  return report;
}

std::size_t PoissonSolver::bytes() const {
  const State& s = *state_;
  std::size_t doubles = (s.spectral ? s.spectral->size() : 0) + s.carry.size() + s.work.size();
  for (const TransposeBuffers* messages : {&s.memory->xy, &s.memory->z})
    doubles += messages->source.size() + messages->target.size() +
               (messages->shared ? messages->shared->count() : 0);
  return doubles * sizeof(double) + s.solver->bytes();
}

}  // namespace octant::pencil
