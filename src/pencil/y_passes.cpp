// YPass for p_y = 1 (WholePass) and for p_y > 1 (CutPass).
#include "pencil/y_pass.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/clock.hpp"

namespace octant::pencil {

namespace {

// Batches of planes between the transforms along x and y for p_y = 1. Between these transforms, the
// distribution over threads changes from rows to blocks. Data just written by another thread are
// slow to read from its private cache and faster from the shared cache, so that several threads
// change the distribution once per batch of planes. All threads of a team make the same calls.
class Batches {
 public:
  Batches(int planes, std::ptrdiff_t doubles_of_plane);

  int size() const { return size_; }
  // Forward: returns the position of the next plane in its batch.
  int next_position(const Team& team) const;
  // Adds plane k, whose rows are written. Returns the planes of the batch, by position, if the
  // batch is now full, otherwise an empty list.
  std::span<const int> add(const Team& team, int k);
  // Returns the planes of the last batch, when all planes have been added.
  std::span<const int> rest(const Team& team);

  // Backward: returns the planes, as indices in the order of the sweep, that must be solved, in
  // descending order, before plane n is read; a barrier must follow. Plane m has the position
  // m % size() in its batch.
  Range wanted(const Team& team, int n);
  void begin_backward();

 private:
  struct alignas(64) ThreadState {
    std::vector<int> waiting;  // planes whose rows have been written
    bool is_full = false;      // true if the planes in `waiting` have been returned
    int known = 0;             // planes from this index on have been solved
  };
  int planes_, size_;
  std::vector<ThreadState> threads_;
};

Batches::Batches(int planes, std::ptrdiff_t doubles_of_plane)
    : planes_(planes), size_(1), threads_(team_size()) {
  constexpr std::ptrdiff_t k_doubles = 1 << 17;  // size of one core's cache
  if (team_size() == 1) return;
  const std::ptrdiff_t fitting = k_doubles / std::max<std::ptrdiff_t>(doubles_of_plane, 1);
  size_ = static_cast<int>(std::clamp<std::ptrdiff_t>(fitting, 1, std::max(planes, 1)));
}

int Batches::next_position(const Team& team) const {
  const ThreadState& state = threads_[team.rank()];
  return state.is_full ? 0 : static_cast<int>(state.waiting.size());
}

std::span<const int> Batches::add(const Team& team, int k) {
  ThreadState& state = threads_[team.rank()];
  if (state.is_full) state.waiting.clear();
  state.waiting.push_back(k);
  state.is_full = team.size() == 1 || static_cast<int>(state.waiting.size()) == size_;
  if (!state.is_full) return {};
  team.barrier();
  return state.waiting;
}

std::span<const int> Batches::rest(const Team& team) {
  ThreadState& state = threads_[team.rank()];
  if (state.is_full) return {};
  state.is_full = true;
  return state.waiting;
}

Range Batches::wanted(const Team& team, int n) {
  int& known = threads_[team.rank()].known;
  if (n >= known) return {};
  known = team.size() == 1 ? n : n / size_ * size_;
  return {known, n + 1};
}

void Batches::begin_backward() {
  for (ThreadState& state : threads_) state.known = planes_;
}

// Returns true if planes are written to the memory of the ranks that solve the lines along z. At
// most 1/5 of the blocks may be padding, because messages contain the padding.
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

// Makes the transpose from ranges of planes to ranges of rows of k_columns numbers. The rows are
// those of all blocks of a plane, strip by strip; each strip has space for the largest one.
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

// Returns the strip of columns whose lines along z this rank solves, or all columns.
Columns columns_solved(const Spectrum& s) {
  if (!wants_strips(s)) return Columns::of_row(s);
  return {s, columns_of(s.transform.width(), s.grid.processes().z, s.grid.z_index())};
}

LineProblem<ShiftedMatrices> lines_solved(const Spectrum& s) {
  if (!wants_strips(s)) return columns_solved(s).line_problem(s);
  const Communicator& column = s.grid.column();
  const Range all{0, s.problem.z.size()};
  return columns_solved(s).line_problem(
      s, column.split(column.rank()), [all](int) { return all; }, std::make_shared<SolverMemory>());
}

class WholePass final : public YPass {
 public:
  WholePass(const Spectrum& spectrum, YPass* twin)
      : YPass(spectrum, columns_solved(spectrum), lines_solved(spectrum), twin),
        batches_(spectrum.planes, columns_.lines.plane_stride),
        threads_(team_size()) {
    if (wants_strips(spectrum)) {
      solves_in_exchange_ = true;
      strips_to_lines_.emplace(strips_to_lines(spectrum));
      return;
    }
    work_.reserve(static_cast<std::size_t>(batches_.size()) * columns_.lines.plane_stride);
    keep_planes();
  }

  bool first_may_be_last() const override {
    return strips_to_lines_ || lines().first_may_be_last();
  }
  std::span<const RowPiece> rows_to_write(const Team& team, int k) override {
    return rows_of(team, k, batches_.next_position(team), threads_[team.rank()].rows);
  }
  void forward(const Team& team, int k) override {
    int place = 0;
    for (const int plane : batches_.add(team, k))
      forward_plane(team, plane, strips_of(team, plane, place++));
  }
  void begin_exchange() override {
    in_team("pencil: transform along y", [&](const Team& team) {
      int place = 0;
      for (const int plane : batches_.rest(team))
        forward_plane(team, plane, strips_of(team, plane, place++));
    });
    batches_.begin_backward();
  }
  // Exchanges the strips and solves them in the message buffers.
  void exchange_lines() override {
    if (!strips_to_lines_) return YPass::exchange_lines();
    const Clock clock;
    strips_to_lines_->exchange(Direction::forward);
    const std::vector<Slab> slabs = strips_to_lines_->slabs();
    solver_->solve({nullptr, columns_.lines.plane_stride, slabs});
    strips_to_lines_->exchange(Direction::reverse);
    times_.tridiagonal_seconds += clock.seconds();
  }
  std::span<const RowPiece> rows_to_read(const Team& team, int k) override {
    const int n = spectrum_.sweep_number(k);
    const Range batch = batches_.wanted(team, n);
    for (int m = batch.end - 1; m >= batch.begin; --m) {
      const int plane = spectrum_.sweep_number(m);
      backward_plane(team, plane, strips_of(team, plane, m % batches_.size()));
    }
    if (batch.count() > 0) team.barrier();
    return rows_of(team, k, n % batches_.size(), threads_[team.rank()].rows);
  }
  std::span<const RowPiece> rows_ahead(const Team& team, int n) override {
    if (!strips_to_lines_ || n < 0 || n >= spectrum_.planes) return {};
    return rows_of(team, spectrum_.sweep_number(n), 0, threads_[team.rank()].ahead);
  }
  PoissonReport report() const override {
    PoissonReport report = YPass::report();
    if (!strips_to_lines_) return report;
    report.z = strips_to_lines_->traffic();
    report.tridiagonal_seconds -= report.z.seconds;
    return report;
  }

 private:
  // Returns the strips of plane k, in message buffers or at position `place` of the batch.
  std::span<const Strip> strips_of(const Team& team, int k, int place) {
    std::vector<Strip>& own = threads_[team.rank()].strips;
    own.clear();
    if (!strips_to_lines_)
      own.push_back({columns_.range, work_.data() + place * columns_.lines.plane_stride});
    const int width = spectrum_.transform.width(), ranks = spectrum_.grid.processes().z;
    for (int n = 0; strips_to_lines_ && n < strips_to_lines_->pieces(); ++n)
      own.push_back({columns_of(width, ranks, strips_to_lines_->rank_of_message(n)),
                     strips_to_lines_->plane_of_message(n, k)});
    return own;
  }
  std::span<const RowPiece> rows_of(const Team& team, int k, int place,
                                    std::vector<RowPiece>& rows) {
    rows.clear();
    for (const Strip& strip : strips_of(team, k, place)) add_pieces(strip, columns_.y_size, rows);
    return rows;
  }

  std::optional<Transpose> strips_to_lines_;  // empty if planes are not written for other ranks
  Batches batches_;
  Buffer work_;  // planes of the current batch
  std::vector<PlaneOfThread> threads_;
};

// YPass for lines along y that are divided among ranks (p_y > 1).
class CutPass final : public YPass {
 public:
  CutPass(const Spectrum& spectrum, YPass* twin)
      : YPass(spectrum, Columns::of_row(spectrum), Columns::of_row(spectrum).line_problem(spectrum),
              twin),
        row_(spectrum.grid.row()),
        threads_(team_size()) {
    if (spectrum.options.transpose == TransposeBackend::shared) {
      share_planes();
      return;
    }
    keep_planes();
    work_ = Buffer(columns_.lines.plane_stride);
    messages_.emplace(transpose());
  }

  std::span<const RowPiece> rows_to_write(const Team& team, int k) override {
    std::vector<RowPiece>& own = threads_[team.rank()].rows;
    own.clear();
    if (messages_)
      for (int n = 0; n < messages_->pieces(); ++n) own.push_back(messages_->piece(n, k));
    else add_shared_rows(k, own);
    return own;
  }
  std::span<const RowPiece> rows_to_read(const Team& team, int k) override {
    return rows_to_write(team, k);
  }
  void forward(const Team&, int) override {}
  void begin_exchange() override {
    move(Direction::forward);
    in_team("pencil: transform along y", [&](const Team& team) {
      for (int n = 0; n < spectrum_.planes; ++n) {
        const int k = spectrum_.sweep_number(n);
        if (messages_) unpack(team, k);
        forward_plane(team, k, strip_of(team, k));
      }
    });
  }
  void end_exchange() override {
    in_team("pencil: transform back along y", [&](const Team& team) {
      for (int n = spectrum_.planes - 1; n >= 0; --n) {
        const int k = spectrum_.sweep_number(n);
        backward_plane(team, k, strip_of(team, k));
        if (messages_) pack(team, k);
      }
    });
    move(Direction::reverse);
  }
  Planes kept() const override {
    if (messages_) return YPass::kept();
    return {planes().of(row_.rank()), columns_.lines.plane_stride};
  }

  void take_turns() override {
    if (!messages_) planes().synchronise();
  }
  PoissonReport report() const override {
    PoissonReport report = YPass::report();
    report.xy = messages_ ? messages_->traffic() : traffic_;
    if (messages_) report.transform_seconds -= report.xy.seconds;
    return report;
  }

 private:
  Transpose transpose() const {
    const Spectrum& s = spectrum_;
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
            row_,
            rows_box,
            columns_box,
            Layout::ordered(rows_box(grid.y_index())),
            columns_.layout(planes),
            s.options.transpose,
            std::shared_ptr<TransposeBuffers>(s.memory, &s.memory->xy),
            true};
  }
  void unpack(const Team& team, int k) {
    team.barrier();
    Clock unpacking;
    messages_->unpack(team, TransposeEnd::target, {0, columns_.y_size}, {k, k + 1}, work_.data());
    team.barrier();
    team.lap(unpacking, times_.transform_seconds);
  }
  void pack(const Team& team, int k) {
    team.barrier();
    Clock packing;
    messages_->pack(team, TransposeEnd::target, {0, columns_.y_size}, {k, k + 1}, work_.data());
    team.lap(packing, times_.transform_seconds);
    team.barrier();
  }

  SharedMemory& planes() const { return *spectrum_.memory->planes; }
  void share_planes() {
    const auto own = static_cast<std::int64_t>(spectrum_.planes) * columns_.lines.plane_stride;
    const auto count = static_cast<std::size_t>(row_.max(own));
    std::unique_ptr<SharedMemory>& planes = spectrum_.memory->planes;
    if (planes && planes->count() >= count) return;
    planes.reset();
    planes = std::make_unique<SharedMemory>(row_, count);
  }
  // Appends this rank's rows of plane k in the shared planes of all ranks of the row.
  void add_shared_rows(int k, std::vector<RowPiece>& pieces) const {
    const int first_row = spectrum_.grid.box(Orientation::x)[1].begin;
    for (int rank = 0; rank < row_.size(); ++rank) {
      const Range theirs = columns_of(spectrum_.transform.width(), row_.size(), rank);
      const std::ptrdiff_t stride =
          std::ptrdiff_t{whole_blocks(theirs.count())} * k_columns * columns_.y_size;
      add_pieces({theirs, planes().of(rank) + k * stride + first_row * k_columns}, columns_.y_size,
                 pieces);
    }
  }

  std::span<const Strip> strip_of(const Team& team, int k) {
    std::vector<Strip>& own = threads_[team.rank()].strips;
    own.assign(1, {columns_.range, messages_ ? work_.data() : kept()(k)});
    return own;
  }
  // Sends rows to the ranks of their columns (forward), or columns to the ranks of their rows
  // (reverse). In shared memory, the counted traffic is this rank's rows (reverse: columns) without
  // the part that stays on this rank.
  void move(Direction direction) {
    const Clock clock;
    if (messages_) {
      messages_->exchange(direction);
      times_.transform_seconds += clock.seconds();
      return;
    }
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
  std::vector<PlaneOfThread> threads_;
  std::optional<Transpose> messages_;  // empty in shared memory
  Buffer work_;                        // current plane, if messages are used
  TransposeTraffic traffic_;           // traffic in shared memory
};

}  // namespace

std::unique_ptr<YPass> make_y_pass(const Spectrum& spectrum, YPass* twin) {
  if (spectrum.grid.processes().y == 1) return std::make_unique<WholePass>(spectrum, twin);
  return std::make_unique<CutPass>(spectrum, twin);
}

}  // namespace octant::pencil
