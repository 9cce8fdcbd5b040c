#include "pencil/batched_lines.hpp"

#include "core/error.hpp"
#include "core/kernel_work.hpp"
#include "pencil/batched_transpose.hpp"
#include "pencil/line_tables.hpp"

namespace octant::pencil {

namespace {

struct FactoriseWhole {
  PlaneRows planes;
  LineKinds kinds;
  double* reciprocal;  // [plane][matrix]: 1 / pivot
  bool singular;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int l = static_cast<int>(task);
    const double shift = kinds.shift(l);
    double r = 0.0;
    for (int n = 0; n < planes.planes; ++n) {
      const double diagonal = planes.diagonal_of(n, shift);
      const double product = n == 0 ? 0.0 : planes.before[n] * planes.after[n - 1];
      r = pivot_reciprocal(diagonal, product, r);
      const bool is_free = singular && l == 0 && n == planes.planes - 1;
      reciprocal[kinds.at(n, l)] = is_free ? 0.0 : r;
    }
  }
};

struct SolveWhole {
  LineTasks tasks;
  PlaneRows planes;
  LineKinds kinds;
  const double* reciprocal;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int j = tasks.row(task), begin = tasks.begin(task), width = tasks.width(begin);
    const int* place = kinds.x_place + begin;
    double other[LineTasks::k_most];  // of the plane before, or after
    for (int i = 0; i < width; ++i) other[i] = tasks.lines.row(0, j)[begin + i];
    for (int n = 0; n < planes.planes; ++n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double* r = reciprocal + kinds.row(n, j);
      const double a = n == 0 ? 0.0 : planes.before[n];
      for (int i = 0; i < width; ++i) d[i] = other[i] = eliminated(d[i], a, other[i], r[place[i]]);
    }
    for (int n = planes.planes - 2; n >= 0; --n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double* r = reciprocal + kinds.row(n, j);
      const double c = planes.after[n];
      for (int i = 0; i < width; ++i) d[i] = other[i] = substituted(d[i], c, r[place[i]], other[i]);
    }
  }
};

// Whole lines that are not periodic.
class BatchedWholeLines final : public BatchedLines {
 public:
  explicit BatchedWholeLines(const BatchedLinesProblem& problem)
      : singular_(problem.singular),
        sweep_(problem.sweep),
        planes_(problem.planes),
        table_(problem.shifts),
        reciprocal_(uninitialised<double>(
            "factors of lines", static_cast<std::size_t>(problem.planes) * table_.kinds().count)) {}

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override {
    const int size = planes_.rows().planes;
    OCTANT_REQUIRE(matrix.size() == size, "a matrix of {} planes is given to a solver of {}",
                   matrix.size(), size);
    const PlaneCoefficients planes(matrix, {0, size}, sweep_, identity, laplacian);
    planes_.set(planes);
    Kokkos::parallel_for("pencil: factors", DeviceTasks(0, table_.kinds().count),
                         FactoriseWhole{planes_.rows(), table_.kinds(), reciprocal_.data(),
                                        singular_ && planes.homogeneous});
  }

  void solve(const FieldView& lines) override {
    const LineTasks tasks(in_order_of(sweep_, lines, planes_.rows().planes));
    // A line is read and written twice, with its factors; a point takes 3 operations each time.
    announce_kernel("pencil: lines", std::int64_t{lines.nx} * lines.ny * lines.nz, {48.0, 6.0});
    Kokkos::parallel_for("pencil: lines", tasks.all(),
                         SolveWhole{tasks, planes_.rows(), table_.kinds(), reciprocal_.data()});
  }

 private:
  bool singular_;
  Sweep sweep_;
  PlaneRowTable planes_;
  LineKindTable table_;
  DeviceArray<double> reciprocal_;
};

// Makes lines whole by a transpose, solves them there, and sends them back. The ranks of a column
// share the rows of lines.
class BatchedTransposedLines final : public BatchedLines {
 public:
  explicit BatchedTransposedLines(const BatchedLinesProblem& problem)
      : memory_(problem.memory),
        whole_(whole_box(problem, problem.column.rank())),
        transpose_(
            "tridiagonal lines", problem.column,
            [&](int rank) {
              Box box = whole_box(problem, rank);
              box.range[1] = {0, static_cast<int>(problem.shifts.y.size())};
              box.range[2] = problem.planes_of(rank);
              return box;
            },
            [&](int rank) { return whole_box(problem, rank); }, problem.comm, memory_),
        solver_(make_batched_lines(whole_problem(problem))) {
    memory_->reserve(BatchedMemory::lines, static_cast<std::size_t>(whole_.cells()));
  }

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override {
    solver_->set_operator(matrix, identity, laplacian);
  }
  void solve(const FieldView& lines) override {
    const FieldView whole = dense_view(memory_->data(BatchedMemory::lines), whole_.shape());
    transpose_.forward(lines, whole);
    solver_->solve(whole);
    transpose_.backward(whole, lines);
  }
  TransposeTraffic traffic() const override { return transpose_.traffic(); }

 private:
  static Box whole_box(const BatchedLinesProblem& problem, int rank) {
    const int columns = static_cast<int>(problem.shifts.x.size());
    const int rows = static_cast<int>(problem.shifts.y.size());
    return {Range{0, columns}, part(rows, problem.column.size(), rank), {0, problem.planes}};
  }
  BatchedLinesProblem whole_problem(const BatchedLinesProblem& problem) const {
    BatchedLinesProblem whole = problem;
    whole.column = problem.column.split(problem.column.rank());
    whole.planes_of = [all = whole_[2]](int) { return all; };
    const std::vector<double>& y = problem.shifts.y;
    whole.shifts.y.assign(y.begin() + whole_[1].begin, y.begin() + whole_[1].end);
    whole.singular = problem.singular && whole_[1].begin == 0;
    return whole;
  }

  std::shared_ptr<BatchedMemory> memory_;
  Box whole_;  // this rank's lines
  BatchedTranspose transpose_;
  std::unique_ptr<BatchedLines> solver_;
};

}  // namespace

std::unique_ptr<BatchedLines> make_batched_lines(const BatchedLinesProblem& problem) {
  const bool one_rank = problem.column.size() == 1;
  if (one_rank && !problem.periodic) return std::make_unique<BatchedWholeLines>(problem);
  if (one_rank || problem.method == TridiagonalMethod::ptdma)
    return make_batched_partition(problem);
  return std::make_unique<BatchedTransposedLines>(problem);
}

}  // namespace octant::pencil
