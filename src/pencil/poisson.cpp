#include "pencil/poisson.hpp"

#include <algorithm>
#include <optional>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "pencil/line_solver.hpp"
#include "pencil/plane_transform.hpp"
#include "pencil/strips.hpp"

namespace octant::pencil {

namespace {

// As much as the cache of one core holds.
constexpr int k_batch_doubles = 1 << 17;

// Calls for the cache lines of row j of some pieces. Inline, since compilers drop the call of a
// function that does nothing else.
[[gnu::always_inline]] inline void call_for(std::span<const RowPiece> pieces, int j) {
  constexpr int k_line = 64 / sizeof(double);
  for (const auto& [x, first, row_stride] : pieces)
    for (int i = 0; i < x.count(); i += k_line) __builtin_prefetch(first + j * row_stride + i, 1);
}

}  // namespace

void check_planes(const PoissonProblem& problem, int cells) {
  const int planes = problem.z.size();
  OCTANT_REQUIRE(planes >= (problem.z.periodic ? 2 : 1) && planes <= cells,
                 "a matrix of {} planes does not fit {} cells along z", planes, cells);
}

// Spectral planes of y-pencils lie in blocks of k_columns columns, [plane][block][y][k_columns],
// so that the transform of a block is contiguous: the rows of `lines` are those of the blocks, one
// block after the other. Columns beyond the last one are set to zero.
struct PoissonSolver::State {
  State(const PencilGrid& grid, const PoissonProblem& problem, const PoissonOptions& options,
        const State* twin);

  // Boxes of the unknowns of a rank: cells, then coefficients by rows and by columns.
  Box cells(int rank) const;
  Box row_box(int rank) const;
  Box column_box(int rank) const;

  Layout column_layout() const;
  ShiftedMatrices blocked_matrices() const;
  ShiftedMatrices dense_matrices(Range x, Range y) const;
  void add_rows(Range x, Range y, std::vector<ShiftedMatrices::Row>& rows) const;
  bool is_singular() const;
  void make_solver(const State* twin);

  // Of the y-pencil, where the solver keeps them.
  Planes spectral_planes() const {
    if (in_shared_planes) return {shared().of(grid.row().rank()), lines.plane_stride};
    if (options.kept.first) return {options.kept.first, options.kept.stride};
    return {spectral->data(), lines.plane_stride};
  }
  // Ranks that share lines along y, and their memory: each writes its rows into the planes of all.
  SharedMemory& shared() const { return *memory->xy.shared; }
  void reserve_shared_planes();
  void count_shared(Direction direction, double seconds);
  // Where planes are transformed along y, unless they are shared.
  double* work_plane(int n) { return in_strips ? nullptr : work.data() + n * lines.plane_stride; }
  void add_pieces(const Strip& strip, std::vector<RowPiece>& pieces) const;

  // Where the rows of coefficients of plane k lie: in blocks of whole planes, or in the messages.
  std::span<const RowPiece> row_pieces(const Team& team, double* whole, int k);
  // Those of plane n of the sweep in strips, if there is one: while a thread works on the plane
  // before, cache lines come that another rank has written.
  std::span<const RowPiece> pieces_ahead(const Team& team, int n);
  void list_pieces(const Team& team, double* whole, int k, std::vector<RowPiece>& list);
  // The columns of plane k that this rank transforms along y: those of a plane, or all strips.
  std::span<const Strip> strips_of(const Team& team, double* plane, int k);
  int sweep_number(int k) const {
    return options.tridiagonal.sweep == Sweep::up ? k : planes - 1 - k;
  }
  template <class Body>
  void for_each_block(const Team& team, double* plane, int k, const Body& body);
  void clear_padding(double* block, int used);
  void forward_plane(const Team& team, int k, double* plane);
  void backward_plane(const Team& team, int k, double* plane);
  void forward_batch(const Team& team);
  void backward_batch(const Team& team, int n);
  void end_forward();
  void forward_transposed();
  void backward_transposed();
  void forward_shared();
  void backward_shared();
  void solve_lines();

  PencilGrid grid;
  PoissonProblem problem;
  PoissonOptions options;
  PlaneTransform transform;
  int ny, planes;  // unknown rows and planes of this rank's x-pencil
  bool y_is_local, in_shared_planes, in_strips;
  Range columns;  // of this rank's y-pencil, or of the lines along z that it solves
  int y_size, blocks;
  Lines lines;
  std::shared_ptr<SolverMemory> memory;
  std::optional<Transpose> xy;
  // In shared memory, if this rank has whole lines along y: what is solved on whole lines along z.
  std::optional<Strips> strips;
  std::shared_ptr<Buffer> spectral;
  Buffer carry;  // the plane that is substituted
  // Planes between the transforms along x and y. Threads change there from rows to blocks: what a
  // thread has made just before is slow to reach for another one, and comes faster from the cache
  // that they share. So several threads do that for a batch of planes at once.
  Buffer work;
  int batch;
  struct alignas(64) Batch {
    std::vector<int> waiting;  // planes whose rows have been transformed
    int known = 0;             // planes from here on, in the order of the sweep, have been solved
  };
  std::vector<Batch> batches;  // by thread
  // Of the rows, and of the columns, of the plane at hand, by thread.
  std::vector<std::vector<RowPiece>> pieces, ahead;
  std::vector<std::vector<Strip>> strips_at_hand;
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver;
  PoissonReport times;
  TransposeTraffic shared_traffic;  // along y, of planes in shared memory
};

Box PoissonSolver::State::cells(int rank) const {
  const Cells& n = grid.cells();
  const Box unknown{
      {Range{0, unknowns(n[0], problem.x)}, {0, unknowns(n[1], problem.y)}, {0, problem.z.size()}}};
  return intersection(grid.box(Orientation::x, rank), unknown);
}

Box PoissonSolver::State::row_box(int rank) const {
  const Box box = cells(rank);
  return {Range{0, transform.width()}, box[1], box[2]};
}

Box PoissonSolver::State::column_box(int rank) const {
  const auto [y_parts, z_parts] = grid.processes();
  const Range y{0, unknowns(grid.cells()[1], problem.y)};
  if (in_strips)
    return {columns_of(transform.width(), z_parts, rank / y_parts), y, {0, problem.z.size()}};
  return {columns_of(transform.width(), y_parts, rank % y_parts), y, cells(rank)[2]};
}

PoissonSolver::State::State(const PencilGrid& pencil_grid, const PoissonProblem& given,
                            const PoissonOptions& chosen, const State* twin)
    : grid(pencil_grid),
      problem(given),
      options(chosen),
      transform({grid.cells()[0], given.spacing_x, given.x},
                {grid.cells()[1], given.spacing_y, given.y}, chosen.measured_plans),
      pieces(team_size()),
      ahead(team_size()),
      strips_at_hand(team_size()) {
  check_planes(problem, grid.cells()[2]);
  if (options.tridiagonal.method == TridiagonalMethod::ptdma)
    check_ptdma_planes(grid, problem.z.size());
  const int rank = grid.communicator().rank();
  ny = cells(rank)[1].count();
  planes = cells(rank)[2].count();
  y_is_local = grid.processes().y == 1;
  in_shared_planes = !y_is_local && options.transpose == TransposeBackend::shared;
  // Messages would carry blocks that are not full.
  in_strips = y_is_local && grid.processes().z > 1 &&
              options.tridiagonal.method == TridiagonalMethod::ftm &&
              options.tridiagonal.backend == TransposeBackend::shared &&
              Strips::are_worth_it(transform.width(), grid.processes().z);
  columns = column_box(rank)[0];
  y_size = column_box(rank)[1].count();
  blocks = whole_blocks(columns.count());
  const int rows = blocks * y_size;
  lines = {rows, k_columns, k_columns, std::ptrdiff_t{rows} * k_columns, std::max(y_size, 1)};
  memory =
      options.tridiagonal.memory ? options.tridiagonal.memory : std::make_shared<SolverMemory>();
  batch = team_size() == 1
              ? 1
              : std::clamp(k_batch_doubles / std::max(static_cast<int>(lines.plane_stride), 1), 1,
                           std::max(planes, 1));
  batches.resize(team_size());
  if (!in_strips) {
    carry = Buffer(lines.plane_stride);
    work = Buffer(static_cast<std::size_t>(batch) * lines.plane_stride);
  }
  if (in_shared_planes) {
    reserve_shared_planes();
  } else if (in_strips) {
    strips.emplace(
        grid.column(), transform.width(), y_size,
        [&](int z_index) { return cells(grid.rank_of(grid.y_index(), z_index))[2]; },
        options.tridiagonal.backend, std::shared_ptr<TransposeBuffers>(memory, &memory->z));
  } else if (!y_is_local) {
    const auto in_row = [&](int y_index) { return grid.rank_of(y_index, grid.z_index()); };
    xy.emplace(
        "x-y transpose", grid.row(), [&](int y_index) { return row_box(in_row(y_index)); },
        [&](int y_index) { return column_box(in_row(y_index)); }, Layout::ordered(row_box(rank)),
        column_layout(), options.transpose, std::shared_ptr<TransposeBuffers>(memory, &memory->xy),
        true);
  }
  make_solver(twin);
  if (in_shared_planes || in_strips) return;
  if (!solver->uses_planes()) options.kept = {work.data(), 0};  // never touched
  if (options.kept.first) {
    OCTANT_REQUIRE(!solver->uses_planes() || options.kept.stride >= lines.plane_stride,
                   "planes of {} coefficients do not fit memory for {}", lines.plane_stride,
                   options.kept.stride);
    return;
  }
  spectral = options.planes ? options.planes : std::make_shared<Buffer>();
  spectral->reserve(static_cast<std::size_t>(planes) * lines.plane_stride);
}

void PoissonSolver::State::reserve_shared_planes() {
  const auto own = static_cast<std::int64_t>(planes) * lines.plane_stride;
  const auto count = static_cast<std::size_t>(grid.row().max(own));
  std::unique_ptr<SharedMemory>& shared = memory->xy.shared;
  if (shared && shared->count() >= count) return;
  shared.reset();
  shared = std::make_unique<SharedMemory>(grid.row(), count);
}

// What goes to others forward: our rows but those of our columns; and back: our columns but those
// of our rows.
void PoissonSolver::State::count_shared(Direction direction, double seconds) {
  const int rank = grid.communicator().rank();
  const std::int64_t kept = intersection(row_box(rank), column_box(rank)).cells();
  const Box all = direction == Direction::forward ? row_box(rank) : column_box(rank);
  const std::int64_t size = sizeof(double);
  shared_traffic.calls += 1;
  shared_traffic.messages += grid.row().size() - 1;
  shared_traffic.bytes += (all.cells() - kept) * size;
  shared_traffic.kept_bytes += kept * size;
  shared_traffic.seconds += seconds;
}

Layout PoissonSolver::State::column_layout() const {
  return {column_box(grid.communicator().rank()),
          {1, k_columns, lines.plane_stride},
          k_columns,
          std::int64_t{y_size} * k_columns};
}

ShiftedMatrices PoissonSolver::State::blocked_matrices() const {
  std::vector<ShiftedMatrices::Row> rows;
  for (int begin = columns.begin; begin < columns.end; begin += k_columns)
    add_rows({begin, std::min(begin + k_columns, columns.end)}, {0, y_size}, rows);
  return ShiftedMatrices(rows);
}

ShiftedMatrices PoissonSolver::State::dense_matrices(Range x, Range y) const {
  std::vector<ShiftedMatrices::Row> rows;
  if (x.count() > 0) add_rows(x, y, rows);
  return ShiftedMatrices(rows);
}

void PoissonSolver::State::add_rows(Range x, Range y,
                                    std::vector<ShiftedMatrices::Row>& rows) const {
  const std::span<const double> along_x(transform.x_eigenvalues());
  for (int j = y.begin; j < y.end; ++j)
    rows.push_back(
        {along_x.subspan(x.begin, x.count()), transform.y_eigenvalues()[j], transform.y_twin(j)});
}

bool PoissonSolver::State::is_singular() const {
  return columns.begin == 0 && columns.count() > 0 && problem.x.allows_constant() &&
         problem.y.allows_constant() && problem.z_allows_constant;
}

void PoissonSolver::State::make_solver(const State* twin) {
  const Range all{0, problem.z.size()};
  const auto planes_of = [grid = grid, all, in_strips = in_strips](int z_index) {
    if (in_strips) return all;
    return intersection(grid.box(Orientation::x, grid.rank_of(grid.y_index(), z_index))[2], all);
  };
  const Communicator solvers = in_strips ? grid.column().split(grid.z_index()) : grid.column();
  solver = make_line_solver(LineProblem<ShiftedMatrices>{
      solvers, planes_of, column_layout(), lines, blocked_matrices(),
      [this](Range x, Range y) { return dense_matrices(x, y); }, problem.z, is_singular(),
      options.tridiagonal, in_strips ? std::make_shared<SolverMemory>() : memory,
      twin ? twin->solver.get() : nullptr});
  if (!twin) solver->set_operator(problem.z, 0.0, 1.0);
}

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
