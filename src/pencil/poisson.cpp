#include "pencil/poisson.hpp"

#include <algorithm>
#include <optional>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "pencil/line_solver.hpp"
#include "pencil/plane_transform.hpp"

namespace octant::pencil {

namespace {

// A rank's columns of coefficients: whole pairs, so that complex numbers stay together.
Range columns_of(int width, int parts, int index) {
  const Range pairs = part((width + 1) / 2, parts, index);
  return {2 * pairs.begin, std::min(2 * pairs.end, width)};
}

}  // namespace

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

  // Of the y-pencil; there is but one place for all if the solver does not use them.
  Planes spectral_planes() const {
    return {spectral->data(), solver->uses_planes() ? lines.plane_stride : 0};
  }
  double* plane(int k) const { return spectral_planes()(k); }
  // Where the rows of coefficients of plane k lie: in blocks of a whole plane, or in the messages.
  std::span<const RowPiece> row_pieces(double* whole, int k);
  int sweep_number(int k) const {
    return options.tridiagonal.sweep == Sweep::up ? k : planes - 1 - k;
  }
  void clear_padding(double* plane);
  void forward_columns(double* plane);
  void backward_columns(double* plane);
  void move_rows(Direction direction);
  void unpack_columns(int k);
  void pack_columns(int k, const double* plane);
  void forward_plane(int k);
  double* backward_plane(int k);

  PencilGrid grid;
  PoissonProblem problem;
  PoissonOptions options;
  PlaneTransform transform;
  int ny, planes;  // unknown rows and planes of this rank's x-pencil
  bool y_is_local;
  Range columns;  // of this rank's y-pencil
  int y_size, blocks;
  Lines lines;
  std::shared_ptr<SolverMemory> memory;
  std::optional<Transpose> xy;
  std::shared_ptr<Buffer> spectral;
  Buffer carry;                  // the plane that is substituted
  Buffer work;                   // the same, transformed back
  std::vector<RowPiece> pieces;  // of the rows of the plane at hand
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver;
  PoissonReport times;
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
  const int parts = grid.processes().y;
  return {columns_of(transform.width(), parts, rank % parts),
          Range{0, unknowns(grid.cells()[1], problem.y)}, cells(rank)[2]};
}

PoissonSolver::State::State(const PencilGrid& pencil_grid, const PoissonProblem& given,
                            const PoissonOptions& chosen, const State* twin)
    : grid(pencil_grid),
      problem(given),
      options(chosen),
      transform({grid.cells()[0], given.spacing_x, given.x},
                {grid.cells()[1], given.spacing_y, given.y}, chosen.measured_plans) {
  OCTANT_REQUIRE(
      problem.z.size() >= (problem.z.periodic ? 2 : 1) && problem.z.size() <= grid.cells()[2],
      "a matrix of {} planes does not fit {} cells along z", problem.z.size(), grid.cells()[2]);
  if (options.tridiagonal.method == TridiagonalMethod::ptdma)
    check_ptdma_planes(grid, problem.z.size());
  const int rank = grid.communicator().rank();
  ny = cells(rank)[1].count();
  planes = cells(rank)[2].count();
  y_is_local = grid.processes().y == 1;
  columns = column_box(rank)[0];
  y_size = column_box(rank)[1].count();
  blocks = (columns.count() + k_columns - 1) / k_columns;
  const int rows = blocks * y_size;
  lines = {rows, k_columns, k_columns, std::ptrdiff_t{rows} * k_columns};
  memory =
      options.tridiagonal.memory ? options.tridiagonal.memory : std::make_shared<SolverMemory>();
  carry = Buffer(lines.plane_stride);
  work = Buffer(lines.plane_stride);
  if (!y_is_local) {
    const auto in_row = [&](int y_index) { return grid.rank_of(y_index, grid.z_index()); };
    xy.emplace(
        "x-y transpose", grid.row(), [&](int y_index) { return row_box(in_row(y_index)); },
        [&](int y_index) { return column_box(in_row(y_index)); }, Layout::ordered(row_box(rank)),
        column_layout(), options.transpose, std::shared_ptr<TransposeBuffers>(memory, &memory->xy),
        true);
  }
  make_solver(twin);
  spectral = options.planes ? options.planes : std::make_shared<Buffer>();
  spectral->reserve(std::size_t(solver->uses_planes() ? planes : 1) * lines.plane_stride);
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
  const auto planes_of = [grid = grid, n = problem.z.size()](int z_index) {
    return intersection(grid.box(Orientation::x, grid.rank_of(grid.y_index(), z_index))[2],
                        Range{0, n});
  };
  solver = make_line_solver(LineProblem<ShiftedMatrices>{
      grid.column(), planes_of, column_layout(), lines, blocked_matrices(),
      [this](Range x, Range y) { return dense_matrices(x, y); }, problem.z, is_singular(),
      options.tridiagonal, memory, twin ? twin->solver.get() : nullptr});
  if (!twin) solver->set_operator(problem.z, 0.0, 1.0);
}

std::span<const RowPiece> PoissonSolver::State::row_pieces(double* whole, int k) {
  pieces.clear();
  if (whole)
    for (int block = 0; block < blocks; ++block) {
      const int begin = block * k_columns;
      pieces.push_back({{begin, std::min(begin + k_columns, columns.count())},
                        whole + std::ptrdiff_t{begin} * y_size,
                        k_columns});
    }
  else
    for (int n = 0; n < xy->pieces(Transpose::End::source); ++n)
      pieces.push_back(xy->piece(Transpose::End::source, n, k));
  return pieces;
}

void PoissonSolver::State::clear_padding(double* plane) {
  const int used = columns.count() % k_columns;
  if (used == 0) return;
  double* row = plane + std::ptrdiff_t{blocks - 1} * y_size * k_columns;
  for (int j = 0; j < y_size; ++j, row += k_columns) std::fill(row + used, row + k_columns, 0.0);
}

void PoissonSolver::State::forward_columns(double* plane) {
  clear_padding(plane);
  for (int block = 0; block < blocks; ++block)
    transform.forward_y(plane + std::ptrdiff_t{block} * y_size * k_columns,
                        block == 0 && columns.begin == 0);
}

void PoissonSolver::State::backward_columns(double* plane) {
  for (int block = 0; block < blocks; ++block)
    transform.backward_y(plane + std::ptrdiff_t{block} * y_size * k_columns,
                         block == 0 && columns.begin == 0);
}

void PoissonSolver::State::move_rows(Direction direction) {
  const Clock lap;
  xy->exchange(direction);
  times.transform_seconds += lap.seconds();
}

void PoissonSolver::State::unpack_columns(int k) {
  const Clock lap;
  xy->unpack(Transpose::End::target, {0, y_size}, {k, k + 1}, plane(k));
  times.transform_seconds += lap.seconds();
}

void PoissonSolver::State::pack_columns(int k, const double* plane) {
  const Clock lap;
  xy->pack(Transpose::End::target, {0, y_size}, {k, k + 1}, plane);
  times.transform_seconds += lap.seconds();
}

// Transforms a plane of coefficients along y and hands it to the solver of lines.
void PoissonSolver::State::forward_plane(int k) {
  Clock lap;
  forward_columns(plane(k));
  times.transform_seconds += lap.restart();
  solver->forward(spectral_planes(), sweep_number(k));
  times.tridiagonal_seconds += lap.restart();
}

// The coefficients of plane k along x, in memory that may be overwritten.
double* PoissonSolver::State::backward_plane(int k) {
  Clock lap;
  double* copy = work.data();
  const double* solution =
      solver->backward(spectral_planes(), sweep_number(k), carry.data(), carry.data(), copy);
  if (solution == plane(k)) std::copy_n(solution, lines.plane_stride, copy);
  times.tridiagonal_seconds += lap.restart();
  backward_columns(copy);
  times.transform_seconds += lap.restart();
  return copy;
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

int PoissonSolver::planes() const { return state_->planes; }
int PoissonSolver::rows() const { return state_->ny; }
bool PoissonSolver::first_may_be_last() const {
  return !state_->y_is_local || state_->solver->first_may_be_last();
}

void PoissonSolver::transform_rows(int k, Range rows, const double* first,
                                   std::ptrdiff_t row_stride) {
  State& s = *state_;
  const Clock lap;
  const std::span<const RowPiece> pieces = s.row_pieces(s.y_is_local ? s.plane(k) : nullptr, k);
  for (int j = rows.begin; j < rows.end; ++j, first += row_stride)
    s.transform.forward_x(first, j, pieces);
  s.times.transform_seconds += lap.seconds();
}

void PoissonSolver::forward(int k) {
  if (state_->y_is_local) state_->forward_plane(k);
}

void PoissonSolver::exchange() {
  State& s = *state_;
  const auto plane_of = [&](int n) { return s.sweep_number(n); };  // its own inverse
  if (!s.y_is_local) {
    s.move_rows(Direction::forward);
    for (int n = 0; n < s.planes; ++n) {
      s.unpack_columns(plane_of(n));
      s.forward_plane(plane_of(n));
    }
  }
  const Clock lap;
  s.solver->exchange(s.spectral_planes());
  s.times.tridiagonal_seconds += lap.seconds();
  if (!s.y_is_local) {
    for (int n = s.planes - 1; n >= 0; --n)
      s.pack_columns(plane_of(n), s.backward_plane(plane_of(n)));
    s.move_rows(Direction::reverse);
  }
}

void PoissonSolver::backward(int k, double* first, std::ptrdiff_t row_stride) {
  State& s = *state_;
  double* plane = s.y_is_local ? s.backward_plane(k) : nullptr;
  const Clock lap;
  const std::span<const RowPiece> pieces = s.row_pieces(plane, k);
  for (int j = 0; j < s.ny; ++j, first += row_stride) s.transform.backward_x(pieces, j, first);
  s.times.transform_seconds += lap.seconds();
}

void PoissonSolver::solve(Field& field, int slide, int to_slide) {
  const auto plane_of = [&](int n) { return state_->sweep_number(n); };
  for (int n = 0; n < planes(); ++n) {
    transform_rows(plane_of(n), {0, rows()}, field.row(plane_of(n), 0, slide), field.row_stride());
    forward(plane_of(n));
  }
  exchange();
  for (int n = planes() - 1; n >= 0; --n)
    backward(plane_of(n), field.row(plane_of(n), 0, to_slide), field.row_stride());
}

PoissonReport PoissonSolver::report() const {
  PoissonReport report = state_->times;
  if (state_->xy) report.xy = state_->xy->traffic();
  report.z = state_->solver->traffic();
  report.transform_seconds -= report.xy.seconds;
  report.tridiagonal_seconds -= report.z.seconds;
  return report;
}

std::size_t PoissonSolver::bytes() const {
  const State& s = *state_;
  std::size_t doubles = s.spectral->size() + s.carry.size() + s.work.size();
  for (const TransposeBuffers* messages : {&s.memory->xy, &s.memory->z})
    doubles += messages->source.size() + messages->target.size();
  return doubles * sizeof(double) + s.solver->bytes();
}

}  // namespace octant::pencil
