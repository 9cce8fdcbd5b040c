#include "pencil/y_pass.hpp"

#include <algorithm>
#include <utility>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace octant::pencil {

Spectrum::Spectrum(const PencilGrid& pencil_grid, const PoissonProblem& given,
                   const PoissonOptions& chosen)
    : grid(pencil_grid),
      problem(given),
      options(chosen),
      transform({grid.cells()[0], given.spacing_x, given.x},
                {grid.cells()[1], given.spacing_y, given.y}),
      y_size(unknowns(grid.cells()[1], given.y)),
      memory(chosen.tridiagonal.memory ? chosen.tridiagonal.memory
                                       : std::make_shared<SolverMemory>()) {
  check_planes(problem.z, grid.cells()[2]);
  if (options.tridiagonal.method == TridiagonalMethod::ptdma)
    check_ptdma_planes(grid, problem.z.size());
  const Box own = cells(grid.communicator().rank());
  ny = own[1].count();
  planes = own[2].count();
}

Box Spectrum::cells(int rank) const {
  const Box unknown{
      {Range{0, unknowns(grid.cells()[0], problem.x)}, {0, y_size}, {0, problem.z.size()}}};
  return intersection(grid.box(Orientation::x, rank), unknown);
}

Box Spectrum::rows(int rank) const {
  const Box box = cells(rank);
  return {Range{0, transform.width()}, box[1], box[2]};
}

Range columns_of(int width, int parts, int index) {
  const Range pairs = part((width + 1) / 2, parts, index);
  return {2 * pairs.begin, std::min(2 * pairs.end, width)};
}

int whole_blocks(int columns) { return (columns + k_columns - 1) / k_columns; }

void add_pieces(const Strip& strip, int y_size, std::vector<RowPiece>& pieces) {
  double* first = strip.first;
  for (int x = strip.columns.begin; x < strip.columns.end; x += k_columns) {
    pieces.push_back({{x, std::min(x + k_columns, strip.columns.end)}, first, k_columns});
    first += std::ptrdiff_t{y_size} * k_columns;
  }
}

Columns::Columns(const Spectrum& spectrum, Range range_) : range(range_), y_size(spectrum.y_size) {
  const int rows = whole_blocks(range.count()) * y_size;
  lines = {rows, k_columns, k_columns, std::ptrdiff_t{rows} * k_columns, std::max(y_size, 1)};
}

Columns Columns::of_row(const Spectrum& s) {
  return {s, columns_of(s.transform.width(), s.grid.processes().y, s.grid.y_index())};
}

Layout Columns::layout(Range planes) const {
  return {
      box(planes), {1, k_columns, lines.plane_stride}, k_columns, std::int64_t{y_size} * k_columns};
}

LineProblem<ShiftedMatrices> Columns::line_problem(const Spectrum& spectrum) const {
  return line_problem(
      spectrum, spectrum.grid.column(),
      [&spectrum](int z_index) { return spectrum.planes_of(z_index); }, spectrum.memory);
}

LineProblem<ShiftedMatrices> Columns::line_problem(const Spectrum& s, const Communicator& ranks,
                                                   const std::function<Range(int rank)>& planes_of,
                                                   std::shared_ptr<SolverMemory> memory) const {
  const auto add_rows = [&s](Range x, Range y, std::vector<ShiftedMatrices::Row>& rows) {
    const std::span<const double> along_x(s.transform.x_eigenvalues());
    for (int j = y.begin; j < y.end; ++j)
      rows.push_back({along_x.subspan(x.begin, x.count()), s.transform.y_eigenvalues()[j],
                      s.transform.y_twin(j)});
  };
  std::vector<ShiftedMatrices::Row> blocked;
  for (int x = range.begin; x < range.end; x += k_columns)
    add_rows({x, std::min(x + k_columns, range.end)}, {0, y_size}, blocked);
  const auto dense = [add_rows](Range x, Range y) {
    std::vector<ShiftedMatrices::Row> rows;
    if (x.count() > 0) add_rows(x, y, rows);
    return ShiftedMatrices(rows);
  };
  const bool is_singular = range.begin == 0 && range.count() > 0 && s.problem.x.allows_constant() &&
                           s.problem.y.allows_constant() && s.problem.z_allows_constant;
  return {ranks,
          planes_of,
          layout(planes_of(ranks.rank())),
          lines,
          ShiftedMatrices(blocked),
          dense,
          s.problem.z,
          is_singular,
          s.options.tridiagonal,
          std::move(memory)};
}

namespace {

// Calls body(block, columns) for this thread's part of the blocks of all strips.
template <class Body>
void for_each_block(const Team& team, std::span<const Strip> strips, int y_size, const Body& body) {
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

void clear_padding(double* block, int y_size, int used) {
  if (used == k_columns) return;
  for (int j = 0; j < y_size; ++j, block += k_columns)
    std::fill(block + used, block + k_columns, 0.0);
}

}  // namespace

void Columns::transform(const Team& team, const PlaneTransform& along,
                        std::span<const Strip> strips) const {
  for_each_block(team, strips, y_size, [&](double* block, Range columns) {
    clear_padding(block, y_size, columns.count());
    along.forward_y(block, columns.begin == 0);
  });
}

void Columns::transform_back(const Team& team, const PlaneTransform& along,
                             std::span<const Strip> strips) const {
  for_each_block(team, strips, y_size, [&](double* block, Range columns) {
    along.backward_y(block, columns.begin == 0);
  });
}

namespace {

LineProblem<ShiftedMatrices> with_twin(LineProblem<ShiftedMatrices> problem, YPass* twin) {
  if (twin) problem.twin = &twin->lines();
  return problem;
}

}  // namespace

YPass::YPass(const Spectrum& spectrum, const Columns& columns, LineProblem<ShiftedMatrices> lines,
             YPass* twin)
    : spectrum_(spectrum),
      columns_(columns),
      solver_(make_line_solver(with_twin(std::move(lines), twin))),
      carry_(columns.lines.plane_stride) {}

void YPass::forward_plane(const Team& team, int k, std::span<const Strip> plane) {
  Clock clock;
  columns_.transform(team, spectrum_.transform, plane);
  team.lap(clock, times_.transform_seconds);
  if (solves_in_exchange_) return;
  solver_->forward(team, kept(), spectrum_.sweep_number(k), plane.front().first);
  team.lap(clock, times_.tridiagonal_seconds);
}

void YPass::backward_plane(const Team& team, int k, std::span<const Strip> plane) {
  Clock clock;
  if (!solves_in_exchange_)
    solver_->backward(team, kept(), spectrum_.sweep_number(k), plane.front().first, carry_.data(),
                      carry_.data());
  team.lap(clock, times_.tridiagonal_seconds);
  columns_.transform_back(team, spectrum_.transform, plane);
  team.lap(clock, times_.transform_seconds);
}

void YPass::keep_planes() {
  if (!solver_->uses_planes()) return;
  const PlaneMemory& given = spectrum_.options.kept;
  const std::ptrdiff_t stride = columns_.lines.plane_stride;
  OCTANT_REQUIRE(!given.first || given.stride >= stride,
                 "planes of {} coefficients exceed the memory allocated for {}", stride,
                 given.stride);
  if (given.first) return;
  const std::shared_ptr<Buffer>& shared = spectrum_.options.planes;
  kept_ = shared ? shared : std::make_shared<Buffer>();
  kept_->reserve(static_cast<std::size_t>(spectrum_.planes) * stride);
}

Planes YPass::kept() const {
  if (kept_) return {kept_->data(), columns_.lines.plane_stride};
  return {spectrum_.options.kept.first, spectrum_.options.kept.stride};
}

void YPass::exchange_lines() {
  const Clock clock;
  solver_->exchange(kept());
  times_.tridiagonal_seconds += clock.seconds();
}

PoissonReport YPass::report() const {
  PoissonReport report = times_;
  report.z = solver_->traffic();
  report.tridiagonal_seconds -= report.z.seconds;
  return report;
}

}  // namespace octant::pencil
