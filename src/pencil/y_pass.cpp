#include "pencil/y_pass.hpp"

#include "core/clock.hpp"
#include "core/error.hpp"
#include "pencil/y_pass_shared.hpp"

namespace octant::pencil {

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
