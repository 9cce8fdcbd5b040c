#include "pencil/poisson_state.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant::pencil {

namespace {

// As much as the cache of one core holds.
constexpr int k_batch_doubles = 1 << 17;

}  // namespace

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
  check_planes(problem.z, grid.cells()[2]);
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

}  // namespace octant::pencil
