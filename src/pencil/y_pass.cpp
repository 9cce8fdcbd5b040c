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
                {grid.cells()[1], given.spacing_y, given.y}, chosen.measured_plans),
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

// Calls body(block, its columns) for this thread's share of the blocks of some strips.
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

namespace {

// The memory that PoissonOptions gives for the coefficients of all planes, or one's own; none where
// the solver of lines keeps them elsewhere.
class KeptPlanes {
 public:
  KeptPlanes(const PoissonOptions& options, int planes, std::ptrdiff_t plane_stride, bool are_used)
      : given_(options.kept), stride_(plane_stride) {
    if (!are_used) return;
    OCTANT_REQUIRE(!given_.first || given_.stride >= plane_stride,
                   "planes of {} coefficients do not fit memory for {}", plane_stride,
                   given_.stride);
    if (given_.first) return;
    own_ = options.planes ? options.planes : std::make_shared<Buffer>();
    own_->reserve(static_cast<std::size_t>(planes) * plane_stride);
  }

  Planes planes() const {
    if (own_) return {own_->data(), stride_};
    return {given_.first, given_.stride};
  }

 private:
  PlaneMemory given_;
  std::ptrdiff_t stride_;
  std::shared_ptr<Buffer> own_;
};

class LocalPass final : public PlanePass {
 public:
  LocalPass(const Spectrum& spectrum, YPass* twin)
      : PlanePass(spectrum, twin),
        kept_(spectrum.options, spectrum.planes, columns_.lines.plane_stride,
              lines().uses_planes()),
        batches_(spectrum.planes, columns_.lines.plane_stride),
        work_(static_cast<std::size_t>(batches_.size()) * columns_.lines.plane_stride),
        pieces_(team_size()) {}

  bool first_may_be_last() const override { return lines().first_may_be_last(); }

  std::span<const RowPiece> rows_to_write(const Team& team, int) override {
    return rows_of(team, batches_.next_place(team));
  }
  void forward(const Team& team, int k) override {
    int place = 0;
    for (const int plane : batches_.add(team, k)) forward_plane(team, plane, work(place++));
  }
  void begin_exchange() override {
    in_team("pencil: transform along y", [&](const Team& team) {
      int place = 0;
      for (const int plane : batches_.rest(team)) forward_plane(team, plane, work(place++));
    });
    batches_.begin_backward();
  }
  Planes kept() const override { return kept_.planes(); }
  std::span<const RowPiece> rows_to_read(const Team& team, int k) override {
    const int n = spectrum_.sweep_number(k);
    const Range batch = batches_.wanted(team, n);
    for (int m = batch.end - 1; m >= batch.begin; --m)
      backward_plane(team, spectrum_.sweep_number(m), work(m % batches_.size()));
    if (batch.count() > 0) team.barrier();
    return rows_of(team, n % batches_.size());
  }

 private:
  double* work(int place) { return work_.data() + place * columns_.lines.plane_stride; }
  std::span<const RowPiece> rows_of(const Team& team, int place) {
    std::vector<RowPiece>& own = pieces_[team.rank()];
    own.clear();
    add_pieces({columns_.range, work(place)}, columns_.y_size, own);
    return own;
  }

  KeptPlanes kept_;
  Batches batches_;
  Buffer work_;                                // the planes of a batch
  std::vector<std::vector<RowPiece>> pieces_;  // of the rows of the plane at hand, by thread
};

class TransposedPass final : public PlanePass {
 public:
  TransposedPass(const Spectrum& spectrum, YPass* twin)
      : PlanePass(spectrum, twin),
        kept_(spectrum.options, spectrum.planes, columns_.lines.plane_stride,
              lines().uses_planes()),
        work_(columns_.lines.plane_stride),
        pieces_(team_size()),
        xy_(transpose(spectrum, columns_)) {}

  std::span<const RowPiece> rows_to_write(const Team& team, int k) override {
    std::vector<RowPiece>& own = pieces_[team.rank()];
    own.clear();
    for (int n = 0; n < xy_.pieces(); ++n) own.push_back(xy_.piece(n, k));
    return own;
  }
  std::span<const RowPiece> rows_to_read(const Team& team, int k) override {
    return rows_to_write(team, k);
  }
  void forward(const Team&, int) override {}
  void begin_exchange() override {
    move(Direction::forward);
    in_team("pencil: transform along y", [&](const Team& team) {
      for (int n = 0; n < spectrum_.planes; ++n)
        unpack_and_forward(team, spectrum_.sweep_number(n));
    });
  }
  void end_exchange() override {
    in_team("pencil: transform back along y", [&](const Team& team) {
      for (int n = spectrum_.planes - 1; n >= 0; --n)
        backward_and_pack(team, spectrum_.sweep_number(n));
    });
    move(Direction::reverse);
  }
  Planes kept() const override { return kept_.planes(); }

  PoissonReport report() const override {
    PoissonReport report = PlanePass::report();
    report.xy = xy_.traffic();
    report.transform_seconds -= report.xy.seconds;
    return report;
  }

 private:
  static Transpose transpose(const Spectrum& s, const Columns& columns) {
    const PencilGrid& grid = s.grid;
    const Range planes = s.cells(grid.communicator().rank())[2];
    const auto columns_box = [&s, planes](int y_index) {
      const int width = s.transform.width(), parts = s.grid.processes().y;
      return Box{columns_of(width, parts, y_index), Range{0, s.y_size}, planes};
    };
    const auto rows_box = [&s](int y_index) {
      return s.rows(s.grid.rank_of(y_index, s.grid.z_index()));
    };
    return {"x-y transpose",
            grid.row(),
            rows_box,
            columns_box,
            Layout::ordered(rows_box(grid.y_index())),
            columns.layout(planes),
            s.options.transpose,
            std::shared_ptr<TransposeBuffers>(s.memory, &s.memory->xy),
            true};
  }

  void move(Direction direction) {
    const Clock clock;
    xy_.exchange(direction);
    times_.transform_seconds += clock.seconds();
  }
  void unpack_and_forward(const Team& team, int k) {
    team.barrier();
    Clock unpacking;
    xy_.unpack(team, TransposeEnd::target, {0, columns_.y_size}, {k, k + 1}, work_.data());
    team.barrier();
    team.lap(unpacking, times_.transform_seconds);
    forward_plane(team, k, work_.data());
  }
  void backward_and_pack(const Team& team, int k) {
    backward_plane(team, k, work_.data());
    team.barrier();
    Clock packing;
    xy_.pack(team, TransposeEnd::target, {0, columns_.y_size}, {k, k + 1}, work_.data());
    team.lap(packing, times_.transform_seconds);
    team.barrier();
  }

  KeptPlanes kept_;
  Buffer work_;                                // the plane at hand
  std::vector<std::vector<RowPiece>> pieces_;  // of its rows, by thread
  Transpose xy_;
};

}  // namespace

std::unique_ptr<YPass> make_y_pass(const Spectrum& spectrum, YPass* twin) {
  if (wants_strips(spectrum)) return make_strip_pass(spectrum, twin);
  if (spectrum.grid.processes().y == 1) return std::make_unique<LocalPass>(spectrum, twin);
  if (spectrum.options.transpose == TransposeBackend::shared)
    return make_shared_pass(spectrum, twin);
  return std::make_unique<TransposedPass>(spectrum, twin);
}

}  // namespace octant::pencil
