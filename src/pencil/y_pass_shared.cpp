#include "pencil/y_pass_shared.hpp"

#include <utility>

#include "core/clock.hpp"

namespace octant::pencil {

namespace {

// Each rank writes its rows into the planes of all ranks that share lines along y.
class SharedPass final : public PlanePass {
 public:
  SharedPass(const Spectrum& spectrum, YPass* twin)
      : PlanePass(spectrum, twin), row_(spectrum.grid.row()), pieces_(team_size()) {
    const auto own = static_cast<std::int64_t>(spectrum.planes) * columns_.lines.plane_stride;
    const auto count = static_cast<std::size_t>(row_.max(own));
    std::unique_ptr<SharedMemory>& planes = spectrum.memory->planes;
    if (planes && planes->count() >= count) return;
    planes.reset();
    planes = std::make_unique<SharedMemory>(row_, count);
  }

  std::span<const RowPiece> rows_to_write(const Team& team, int k) override {
    std::vector<RowPiece>& own = pieces_[team.rank()];
    own.clear();
    const int first_row = spectrum_.grid.box(Orientation::x)[1].begin;
    for (int rank = 0; rank < row_.size(); ++rank) {
      const Range theirs = columns_of(spectrum_.transform.width(), row_.size(), rank);
      const std::ptrdiff_t stride =
          std::ptrdiff_t{whole_blocks(theirs.count())} * k_columns * columns_.y_size;
      add_pieces({theirs, planes().of(rank) + k * stride + first_row * k_columns}, columns_.y_size,
                 own);
    }
    return own;
  }
  std::span<const RowPiece> rows_to_read(const Team& team, int k) override {
    return rows_to_write(team, k);
  }
  void forward(const Team&, int) override {}
  void begin_exchange() override {
    wait(Direction::forward);
    in_team("pencil: transform along y", [&](const Team& team) {
      const Planes plane = kept();
      for (int n = 0; n < spectrum_.planes; ++n) {
        const int k = spectrum_.sweep_number(n);
        forward_plane(team, k, plane(k));
      }
    });
  }
  void end_exchange() override {
    in_team("pencil: transform back along y", [&](const Team& team) {
      const Planes plane = kept();
      for (int n = spectrum_.planes - 1; n >= 0; --n) {
        const int k = spectrum_.sweep_number(n);
        backward_plane(team, k, plane(k));
      }
    });
    wait(Direction::reverse);
  }
  Planes kept() const override { return {planes().of(row_.rank()), columns_.lines.plane_stride}; }

  void take_turns() override { planes().synchronise(); }
  PoissonReport report() const override {
    PoissonReport report = PlanePass::report();
    report.xy = traffic_;
    return report;
  }

 private:
  SharedMemory& planes() const { return *spectrum_.memory->planes; }
  // What goes to others forward: our rows but those of our columns; and back: our columns but those
  // of our rows.
  void wait(Direction direction) {
    const Clock clock;
    planes().synchronise();
    const Box rows = spectrum_.rows(spectrum_.grid.communicator().rank());
    const Box columns = columns_.box(rows[2]);
    const std::int64_t kept_here = intersection(rows, columns).cells();
    const Box& all = direction == Direction::forward ? rows : columns;
    const std::int64_t size = sizeof(double);
    traffic_ +=
        {1, row_.size() - 1, (all.cells() - kept_here) * size, clock.seconds(), kept_here * size};
  }

  Communicator row_;
  std::vector<std::vector<RowPiece>> pieces_;  // of the rows of the plane at hand, by thread
  TransposeTraffic traffic_;
};

// Rows of k_columns numbers: those of all blocks of a plane, strip by strip, each with room for the
// largest one. A transpose from ranges of planes to ranges of such rows takes them where they
// belong.
Transpose strips_to_lines(const Spectrum& s) {
  const PencilGrid& grid = s.grid;
  const Communicator& column = grid.column();
  const int ranks = column.size(), width = s.transform.width(), rows = s.y_size;
  const int most = whole_blocks(columns_of(width, ranks, 0).count()) * rows;
  const auto made = [&s, ranks, most](int z_index) {
    return Box{Range{0, k_columns}, Range{0, ranks * most}, s.planes_of(z_index)};
  };
  const auto solved = [=, all = s.problem.z.size()](int z_index) {
    const int own = whole_blocks(columns_of(width, ranks, z_index).count()) * rows;
    return Box{Range{0, k_columns}, Range{z_index * most, z_index * most + own}, Range{0, all}};
  };
  return {"tridiagonal lines",
          column,
          made,
          solved,
          Layout::ordered(made(column.rank())),
          Layout::ordered(solved(column.rank())),
          s.options.tridiagonal.backend,
          std::shared_ptr<TransposeBuffers>(s.memory, &s.memory->z),
          true};
}

// A plane is written, and transformed along y, where its strips are solved: nothing is packed.
// Blocks have room for k_columns columns whether they are full or not.
class StripPass final : public YPass {
 public:
  StripPass(const Spectrum& spectrum, YPass* twin)
      : spectrum_(spectrum),
        columns_(spectrum, columns_of(spectrum.transform.width(), spectrum.grid.processes().z,
                                      spectrum.grid.z_index())),
        strips_to_lines_(strips_to_lines(spectrum)),
        batches_(spectrum.planes, columns_.lines.plane_stride),
        threads_(team_size()) {
    const Communicator& column = spectrum.grid.column();
    const Range all{0, spectrum.problem.z.size()};
    LineProblem<ShiftedMatrices> problem = columns_.line_problem(
        spectrum, column.split(column.rank()), [all](int) { return all; },
        std::make_shared<SolverMemory>());
    if (twin) problem.twin = &twin->lines();
    solver_ = make_line_solver(problem);
  }

  std::span<const RowPiece> rows_to_write(const Team& team, int k) override {
    return rows_of(team, k, threads_[team.rank()].pieces);
  }
  void forward(const Team& team, int k) override {
    for (const int plane : batches_.add(team, k)) transform(team, plane);
  }
  void begin_exchange() override {
    in_team("pencil: transform along y", [&](const Team& team) {
      for (const int plane : batches_.rest(team)) transform(team, plane);
    });
    batches_.begin_backward();
  }
  void exchange_lines() override {
    const Clock clock;
    strips_to_lines_.exchange(Direction::forward);
    const std::vector<Slab> slabs = strips_to_lines_.slabs();
    solver_->solve({nullptr, columns_.lines.plane_stride, slabs});
    strips_to_lines_.exchange(Direction::reverse);
    times_.tridiagonal_seconds += clock.seconds();
  }
  // In messages.
  Planes kept() const override { return {nullptr, columns_.lines.plane_stride}; }
  std::span<const RowPiece> rows_to_read(const Team& team, int k) override {
    const Range batch = batches_.wanted(team, spectrum_.sweep_number(k));
    for (int m = batch.end - 1; m >= batch.begin; --m)
      transform_back(team, spectrum_.sweep_number(m));
    if (batch.count() > 0) team.barrier();
    return rows_to_write(team, k);
  }
  std::span<const RowPiece> rows_ahead(const Team& team, int n) override {
    if (n < 0 || n >= spectrum_.planes) return {};
    return rows_of(team, spectrum_.sweep_number(n), threads_[team.rank()].ahead);
  }

  LineSolver<ShiftedMatrices>& lines() const override { return *solver_; }
  PoissonReport report() const override {
    PoissonReport report = times_;
    report.z = strips_to_lines_.traffic();
    report.tridiagonal_seconds -= report.z.seconds;
    return report;
  }

 private:
  struct Thread {
    std::vector<Strip> strips;            // of the plane at hand
    std::vector<RowPiece> pieces, ahead;  // of its rows, and of those of the plane after it
  };

  std::span<const Strip> strips_of(const Team& team, int k) {
    std::vector<Strip>& own = threads_[team.rank()].strips;
    own.clear();
    const int width = spectrum_.transform.width(), ranks = spectrum_.grid.processes().z;
    for (int n = 0; n < strips_to_lines_.pieces(); ++n)
      own.push_back({columns_of(width, ranks, strips_to_lines_.rank_of_message(n)),
                     strips_to_lines_.plane_of_message(n, k)});
    return own;
  }
  std::span<const RowPiece> rows_of(const Team& team, int k, std::vector<RowPiece>& pieces) {
    pieces.clear();
    for (const Strip& strip : strips_of(team, k)) add_pieces(strip, columns_.y_size, pieces);
    return pieces;
  }
  void transform(const Team& team, int k) {
    Clock clock;
    columns_.transform(team, spectrum_.transform, strips_of(team, k));
    team.lap(clock, times_.transform_seconds);
  }
  void transform_back(const Team& team, int k) {
    Clock clock;
    columns_.transform_back(team, spectrum_.transform, strips_of(team, k));
    team.lap(clock, times_.transform_seconds);
  }

  const Spectrum& spectrum_;
  Columns columns_;  // that this rank solves
  Transpose strips_to_lines_;
  Batches batches_;
  std::vector<Thread> threads_;
  std::unique_ptr<LineSolver<ShiftedMatrices>> solver_;
  PoissonReport times_;
};

}  // namespace

// Where few enough blocks are not full: messages would carry all of them.
bool wants_strips(const Spectrum& spectrum) {
  const TridiagonalOptions& options = spectrum.options.tridiagonal;
  const auto [y, z] = spectrum.grid.processes();
  if (y > 1 || z == 1 || options.method != TridiagonalMethod::ftm ||
      options.backend != TransposeBackend::shared)
    return false;
  const int width = spectrum.transform.width();
  int blocks = 0;
  for (int rank = 0; rank < z; ++rank) blocks += whole_blocks(columns_of(width, z, rank).count());
  return 4 * blocks * k_columns <= 5 * width;
}

std::unique_ptr<YPass> make_shared_pass(const Spectrum& spectrum, YPass* twin) {
  return std::make_unique<SharedPass>(spectrum, twin);
}

std::unique_ptr<YPass> make_strip_pass(const Spectrum& spectrum, YPass* twin) {
  return std::make_unique<StripPass>(spectrum, twin);
}

}  // namespace octant::pencil
