#include "pencil/batched_lines.hpp"

#include <map>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

namespace {

// Distinct values in the order of their first appearance, and the index of each input value.
struct Distinct {
  explicit Distinct(const std::vector<double>& all) {
    std::map<double, int> known;
    for (const double value : all) {
      const auto [found, is_new] = known.try_emplace(value, static_cast<int>(values.size()));
      if (is_new) values.push_back(value);
      places.push_back(found->second);
    }
  }
  std::vector<double> values;
  std::vector<int> places;
};

template <class Value>
std::vector<Value> joined(std::vector<Value> first, const std::vector<Value>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

LineMatrixTable::LineMatrixTable(const LineShifts& shifts) {
  const Distinct x(shifts.x), y(shifts.y);
  places_ = on_device("places of lines", joined(x.places, y.places));
  shifts_ = on_device("shifts of lines", joined(x.values, y.values));
  kinds_.distinct_x = static_cast<int>(x.values.size());
  kinds_.count = kinds_.distinct_x * static_cast<int>(y.values.size());
  kinds_.shift_of_column = places_.data(),
  kinds_.shift_of_row = kinds_.shift_of_column + x.places.size();
  kinds_.x_shift = shifts_.data(), kinds_.y_shift = kinds_.x_shift + kinds_.distinct_x;
}

PlaneRowTable::PlaneRowTable(int planes)
    : values_(uninitialised<double>("coefficients of planes", 3 * planes)) {
  rows_.planes = planes;
  rows_.before = values_.data();
  rows_.diagonal = rows_.before + planes;
  rows_.after = rows_.diagonal + planes;
}

void PlaneRowTable::set(const PlaneCoefficients& planes) {
  copy_to_device(joined(joined(planes.before, planes.diagonal), planes.after), values_);
  rows_.shift_factor = planes.shift_factor;
}

namespace {

struct FactoriseWhole {
  PlaneRows planes;
  LineMatrices kinds;
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
  LineMatrices kinds;
  const double* reciprocal;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int j = tasks.row(task), begin = tasks.begin(task), width = tasks.width(begin);
    const int* place = kinds.shift_of_column + begin;
    double other[LineTasks::k_most];  // values in the previous plane of the loop
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

// Solver for non-periodic lines that lie on one rank.
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
    OCTANT_REQUIRE(matrix.size() == size,
                   "a matrix of {} planes was passed to a solver for {} planes", matrix.size(),
                   size);
    const PlaneCoefficients planes(matrix, {0, size}, sweep_, identity, laplacian);
    planes_.set(planes);
    for_tasks("pencil: factors", table_.kinds().count,
              FactoriseWhole{planes_.rows(), table_.kinds(), reciprocal_.data(),
                             singular_ && planes.is_poisson});
  }

  void solve(const FieldView& lines) override {
    const LineTasks tasks(in_order_of(sweep_, lines, planes_.rows().planes));
    // Cost: each of two sweeps reads and writes a point and reads its factor: 24 bytes and 3
    // operations.
    record_kernel_work("pencil: lines", std::int64_t{lines.nx} * lines.ny * lines.nz, {48.0, 6.0});
    for_tasks("pencil: lines", tasks.count(),
              SolveWhole{tasks, planes_.rows(), table_.kinds(), reciprocal_.data()});
  }

 private:
  bool singular_;
  Sweep sweep_;
  PlaneRowTable planes_;
  LineMatrixTable table_;
  DeviceArray<double> reciprocal_;
};

// Full-transpose solver: gathers whole lines by a transpose, solves them and transposes the
// solution back. The rows of whole lines are distributed over the ranks of a column.
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
        solver_(make_batched_line_solver(problem_of_whole_lines(problem))) {
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
  BatchedLinesProblem problem_of_whole_lines(const BatchedLinesProblem& problem) const {
    BatchedLinesProblem whole = problem;
    whole.column = problem.column.split(problem.column.rank());
    whole.planes_of = [all = whole_[2]](int) { return all; };
    const std::vector<double>& y = problem.shifts.y;
    whole.shifts.y.assign(y.begin() + whole_[1].begin, y.begin() + whole_[1].end);
    whole.singular = problem.singular && whole_[1].begin == 0;
    return whole;
  }

  std::shared_ptr<BatchedMemory> memory_;
  Box whole_;  // lines solved on this rank
  BatchedTranspose transpose_;
  std::unique_ptr<BatchedLines> solver_;
};

}  // namespace

std::unique_ptr<BatchedLines> make_batched_line_solver(const BatchedLinesProblem& problem) {
  const bool one_rank = problem.column.size() == 1;
  if (one_rank && !problem.periodic) return std::make_unique<BatchedWholeLines>(problem);
  if (one_rank || problem.method == TridiagonalMethod::ptdma)
    return make_batched_partition(problem);
  return std::make_unique<BatchedTransposedLines>(problem);
}

}  // namespace octant::pencil
