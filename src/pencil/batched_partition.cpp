// P-TDMA for all lines at once, with the algorithm and the arithmetic that ptdma.hpp describes.
#include <algorithm>
#include <optional>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "pencil/batched_lines.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

namespace {

// --- One rank's planes, in the order of the sweep ---

// Factors of a partition: 1 / b_n and f_n, [plane][matrix], and a and c of the reduced rows of both
// ends, [end][matrix].
struct PartitionFactors {
  double *reciprocal, *fill, *a, *c;
};

struct FactorisePartition {
  PlaneRows m;
  LineMatrices kinds;
  PartitionFactors factors;

  // Forward elimination of rows 1 .. m - 1, with their coupling to plane 0 as fill-in, and backward
  // elimination until the end rows couple only to each other within the partition.
  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int l = static_cast<int>(task), last = m.planes - 1;
    const double shift = kinds.shift(l);
    double a = m.before[1], r = 1.0 / m.diagonal_of(1, shift);
    keep_row(1, l, a, r);
    for (int n = 2; n <= last; ++n) {
      const double r_before = r;
      a = -m.before[n] * a * r_before;
      r = pivot_reciprocal(m.diagonal_of(n, shift), m.before[n] * m.after[n - 1], r_before);
      keep_row(n, l, a, r);
    }
    factors.a[kinds.at(1, l)] = factors.fill[kinds.at(last, l)];
    factors.c[kinds.at(1, l)] = m.after[last] * r;
    double first_a = 0.0, first_c = 0.0;
    for (int n = last - 1; n >= 1; --n) {
      const double f = factors.fill[kinds.at(n, l)], r_n = factors.reciprocal[kinds.at(n, l)];
      const double c = m.after[n];
      const bool is_next_to_last = n == last - 1;
      first_a = is_next_to_last ? f : f - c * r_n * first_a;
      first_c = is_next_to_last ? c * r_n : -c * r_n * first_c;
    }
    const bool folded = last > 1;
    const double diagonal = m.diagonal_of(0, shift);
    const double first_r = 1.0 / (folded ? diagonal - m.after[0] * first_a : diagonal);
    factors.reciprocal[kinds.at(0, l)] = first_r;
    factors.c[kinds.at(0, l)] = (folded ? -m.after[0] * first_c : m.after[0]) * first_r;
    factors.a[kinds.at(0, l)] = m.before[0] * first_r;
  }

 private:
  KOKKOS_FUNCTION void keep_row(int n, int l, double a, double r) const {
    factors.reciprocal[kinds.at(n, l)] = r;
    factors.fill[kinds.at(n, l)] = a * r;
  }
};

struct Partitioned {
  LineTasks tasks;
  FieldView ends;  // both end planes
  PlaneRows m;
  LineMatrices kinds;
  PartitionFactors factors;

  KOKKOS_FUNCTION double* end(int which, int j) const { return ends.row(which, j); }
};

// First sweep: forward elimination, and computation of the reduced right-hand sides.
struct EliminatePlanes : Partitioned {
  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int j = tasks.row(task), begin = tasks.begin(task), width = tasks.width(begin);
    const int *place = kinds.shift_of_column + begin, last_plane = m.planes - 1;
    double first[LineTasks::k_most], last[LineTasks::k_most], weight[LineTasks::k_most];
    for (int i = 0; i < width; ++i) {
      first[i] = 0.0, weight[i] = 1.0;
      last[i] = tasks.lines.row(0, j)[begin + i];
    }
    for (int n = 1; n < m.planes; ++n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double *r = factors.reciprocal + kinds.row(n, j),
                   *r_before = factors.reciprocal + kinds.row(n - 1, j);
      const double a = n == 1 ? 0.0 : m.before[n];
      const double c = n == last_plane ? 0.0 : m.after[n - 1];
      for (int i = 0; i < width; ++i) {
        const int l = place[i];
        d[i] = last[i] = eliminated_unscaled(d[i], a, r_before[l], last[i]);
        weight[i] *= -c * r[l];
        first[i] += weight[i] * last[i];
      }
    }
    const double *d_first = tasks.lines.row(0, j) + begin,
                 *r_first = factors.reciprocal + kinds.row(0, j),
                 *r_last = factors.reciprocal + kinds.row(last_plane, j);
    for (int i = 0; i < width; ++i) {
      end(0, j)[begin + i] = (first[i] + d_first[i]) * r_first[place[i]];
      end(1, j)[begin + i] = last[i] * r_last[place[i]];
    }
  }
};

// Second sweep: back substitution from the solutions of the end planes.
struct SubstitutePlanes : Partitioned {
  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int j = tasks.row(task), begin = tasks.begin(task), width = tasks.width(begin);
    const int *place = kinds.shift_of_column + begin, last_plane = m.planes - 1;
    double first[LineTasks::k_most], other[LineTasks::k_most];
    for (int i = 0; i < width; ++i) {
      tasks.lines.row(0, j)[begin + i] = first[i] = end(0, j)[begin + i];
      tasks.lines.row(last_plane, j)[begin + i] = other[i] = end(1, j)[begin + i];
    }
    for (int n = last_plane - 1; n >= 1; --n) {
      double* d = tasks.lines.row(n, j) + begin;
      const double *r = factors.reciprocal + kinds.row(n, j), *f = factors.fill + kinds.row(n, j);
      const double c = m.after[n];
      for (int i = 0; i < width; ++i) {
        const int l = place[i];
        d[i] = other[i] = substituted_between(d[i], c, other[i], r[l], f[l], first[i]);
      }
    }
  }
};

// --- The reduced system of all ranks, on whole lines ---

struct FactoriseReduced {
  int planes;
  bool bordered, singular;
  LineMatrices kinds;
  const double *a, *c;
  ReducedFactors factors;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    factors.factorise(static_cast<std::size_t>(task), static_cast<std::size_t>(kinds.count), a, c,
                      planes, bordered, singular && task == 0);
  }
};

struct SolveReduced {
  LineTasks tasks;
  int planes;
  bool bordered;
  LineMatrices kinds;
  ReducedFactors factors;

  KOKKOS_FUNCTION void operator()(std::int64_t task) const {
    const int j = tasks.row(task), begin = tasks.begin(task), width = tasks.width(begin);
    for (int i = begin; i < begin + width; ++i) solve_line(j, i);
  }

 private:
  KOKKOS_FUNCTION void solve_line(int j, int i) const {
    const int last = planes - 1, inner = bordered ? last : planes;
    const auto d = [&](int n) -> double& { return tasks.lines.row(n, j)[i]; };
    const auto of = [&](const double* values, int n) {
      return values[kinds.row(n, j) + kinds.shift_of_column[i]];
    };
    for (int n = 0; n < inner; ++n)
      d(n) = d(n) * of(factors.reciprocal, n) - of(factors.before, n) * d(n == 0 ? 0 : n - 1);
    for (int n = inner - 2; n >= 0; --n) d(n) -= of(factors.back, n) * d(n + 1);
    if (!bordered) return;
    d(last) = (d(last) - of(factors.back, last) * d(0) - of(factors.before, last) * d(inner - 1)) *
              of(factors.reciprocal, last);
    for (int n = 0; n < inner; ++n) d(n) += of(factors.border, n) * d(last);
  }
};

// Tables of `parts` factors, each [plane][matrix].
class FactorTable {
 public:
  FactorTable(int parts, int planes, int matrices)
      : size_(static_cast<std::size_t>(planes) * matrices),
        values_(uninitialised<double>("factors of lines", parts * size_)) {}
  double* operator[](int part) const { return values_.data() + part * size_; }

 private:
  std::size_t size_;
  DeviceArray<double> values_;
};

// P-TDMA solver. Each rank computes the reduced coefficients of all partitions for the whole lines
// that it solves, from the matrix alone, so that coefficients are not exchanged.
class BatchedPartition final : public BatchedLines {
 public:
  explicit BatchedPartition(const BatchedLinesProblem& problem)
      : sweep_(problem.sweep),
        bordered_(problem.periodic),
        ranks_(problem.column.size()),
        columns_(static_cast<int>(problem.shifts.x.size())),
        rows_(static_cast<int>(problem.shifts.y.size())),
        share_(part(rows_, ranks_, problem.column.rank())),
        singular_(problem.singular && share_.begin == 0),
        memory_(problem.memory),
        planes_(problem.planes),
        own_lines_(problem.shifts),
        own_(2, swept(problem, problem.column.rank()).count(), own_lines_.kinds().count),
        whole_lines_(shifts_of_share(problem)),
        reduced_(4, 2 * ranks_, whole_lines_.kinds().count),
        ends_(2, 2 * ranks_, whole_lines_.kinds().count),
        own_ends_(2, 2, own_lines_.kinds().count) {
    int most = 0;
    for (int n = 0; n < ranks_; ++n) {
      partitions_.push_back(swept(problem, sweep_ == Sweep::up ? n : ranks_ - 1 - n));
      most = std::max(most, partitions_.back().count());
    }
    own_planes_ = swept(problem, problem.column.rank());
    memory_->reserve(BatchedMemory::ends, std::size_t{2} * columns_ * rows_);
    if (ranks_ == 1) return;
    other_.emplace(2, most, whole_lines_.kinds().count);
    memory_->reserve(BatchedMemory::reduced, std::size_t{2} * ranks_ * columns_ * share_.count());
    const auto box = [columns = columns_](Range rows, Range planes) {
      return Box{Range{0, columns}, rows, planes};
    };
    transpose_.emplace(
        "tridiagonal ends", problem.column,
        [&](int rank) {
          return box({0, rows_}, {2 * rank, 2 * rank + 2});
        },
        [&](int rank) {
          return box(part(rows_, ranks_, rank), {0, 2 * ranks_});
        },
        problem.comm, memory_);
  }

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override {
    const int size = planes_.rows().planes;
    OCTANT_REQUIRE(matrix.size() == size && matrix.periodic == bordered_,
                   "a matrix of {} planes was passed to a solver for {} planes", matrix.size(),
                   size);
    const PlaneCoefficients coefficients(matrix, {0, size}, sweep_, identity, laplacian);
    planes_.set(coefficients);
    const LineMatrices& whole = whole_lines_.kinds();
    factorise(own_planes_, own_lines_.kinds(), own_factors());
    if (other_)
      for (int n = 0; n < ranks_; ++n)
        factorise(partitions_[n], whole,
                  {(*other_)[0], (*other_)[1], ends_[0] + whole.at(2 * n, 0),
                   ends_[1] + whole.at(2 * n, 0)});
    for_tasks("pencil: reduced factors", whole.count,
              FactoriseReduced{2 * ranks_, bordered_, singular_ && coefficients.is_poisson, whole,
                               other_ ? ends_[0] : own_ends_[0], other_ ? ends_[1] : own_ends_[1],
                               reduced_factors()});
  }

  void solve(const FieldView& lines) override {
    const int own = own_planes_.count();
    const FieldView ends = dense_view(memory_->data(BatchedMemory::ends), {columns_, rows_, 2});
    const LineTasks tasks(in_order_of(sweep_, lines, own));
    const Partitioned partition{tasks, in_order_of(sweep_, ends, 2),
                                planes_.rows().part(own_planes_), own_lines_.kinds(),
                                own_factors()};
    // Memory traffic per value: 24 bytes in the forward elimination (read, write, one factor), 32
    // in the back substitution (read, write, two factors).
    const std::int64_t cells = std::int64_t{lines.nx} * lines.ny * own;
    record_kernel_work("pencil: eliminate planes", cells, {24.0, 7.0});
    for_tasks("pencil: eliminate planes", tasks.count(), EliminatePlanes{partition});
    if (transpose_) {
      const FieldView all =
          dense_view(memory_->data(BatchedMemory::reduced), {columns_, share_.count(), 2 * ranks_});
      transpose_->forward(ends, all);
      solve_reduced(all);
      transpose_->backward(all, ends);
    } else {
      solve_reduced(ends);
    }
    record_kernel_work("pencil: substitute planes", cells, {32.0, 5.0});
    for_tasks("pencil: substitute planes", tasks.count(), SubstitutePlanes{partition});
  }

  TransposeTraffic traffic() const override {
    return transpose_ ? transpose_->traffic() : TransposeTraffic();
  }

 private:
  static LineShifts shifts_of_share(const BatchedLinesProblem& problem) {
    const std::vector<double>& y = problem.shifts.y;
    const Range rows =
        part(static_cast<int>(y.size()), problem.column.size(), problem.column.rank());
    return {problem.shifts.x, {y.begin() + rows.begin, y.begin() + rows.end}};
  }
  // Returns the planes of a rank, counted in the order of the sweep.
  static Range swept(const BatchedLinesProblem& problem, int rank) {
    const Range planes = problem.planes_of(rank);
    if (problem.sweep == Sweep::up) return planes;
    return {problem.planes - planes.end, problem.planes - planes.begin};
  }
  PartitionFactors own_factors() const { return {own_[0], own_[1], own_ends_[0], own_ends_[1]}; }
  ReducedFactors reduced_factors() const {
    return {reduced_[0], reduced_[1], reduced_[2], reduced_[3]};
  }
  void factorise(Range planes, const LineMatrices& kinds, const PartitionFactors& factors) const {
    for_tasks("pencil: factors", kinds.count,
              FactorisePartition{planes_.rows().part(planes), kinds, factors});
  }
  void solve_reduced(const FieldView& lines) const {
    const LineTasks tasks(in_order_of(sweep_, lines, 2 * ranks_));
    for_tasks("pencil: reduced lines", tasks.count(),
              SolveReduced{tasks, 2 * ranks_, bordered_, whole_lines_.kinds(), reduced_factors()});
  }

  Sweep sweep_;
  bool bordered_;
  int ranks_, columns_, rows_;
  Range share_;  // rows whose reduced lines this rank solves
  bool singular_;
  std::shared_ptr<BatchedMemory> memory_;
  PlaneRowTable planes_;           // planes of all ranks
  std::vector<Range> partitions_;  // planes of each rank, in the order of the sweep
  Range own_planes_;
  LineMatrixTable own_lines_;
  FactorTable own_;
  LineMatrixTable whole_lines_;
  FactorTable reduced_, ends_, own_ends_;
  std::optional<FactorTable> other_;  // factors of one partition at a time, on several ranks
  std::optional<BatchedTranspose> transpose_;
};

}  // namespace

std::unique_ptr<BatchedLines> make_batched_partition(const BatchedLinesProblem& problem) {
  return std::make_unique<BatchedPartition>(problem);
}

}  // namespace octant::pencil
