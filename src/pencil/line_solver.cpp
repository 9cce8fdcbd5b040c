#include "pencil/line_solver.hpp"

#include <utility>

#include "core/error.hpp"
#include "pencil/cyclic_reduction.hpp"
#include "pencil/partition.hpp"
#include "pencil/reduced_system.hpp"
#include "pencil/thomas.hpp"

namespace octant::pencil {

namespace {

// Lines of a dense box.
Lines dense_lines(const Box& box) {
  const int width = box[0].count(), rows = box[1].count();
  return {width > 0 ? rows : 0, width, width, std::ptrdiff_t{width} * rows};
}

// What a rank of a column gets of whole lines of `planes`.
template <class Matrices>
Box whole_lines(const LineProblem<Matrices>& problem, int rank, int planes) {
  const Box lines{problem.layout.box[0], problem.layout.box[1], {0, planes}};
  return Matrices::share(lines, problem.column.size(), rank);
}

// Forward, exchange and backward for all planes.
template <class Matrices>
void solve_plane_by_plane(LineSolver<Matrices>& solver, const Planes& planes,
                          const SweptPlanes& plane) {
  in_team("pencil: eliminate", [&](const Team& team) {
    for (int n = 0; n <= plane.last; ++n) solver.forward(team, planes, n, plane(n));
  });
  solver.exchange(planes);
  in_team("pencil: substitute", [&](const Team& team) {
    for (int n = plane.last; n >= 0; --n)
      solver.backward(team, planes, n, plane(n), plane(n == plane.last ? n : n + 1), plane(n));
  });
}

// Calls work() by one thread, between barriers.
template <class Work>
void by_one(const Team& team, const Work& work) {
  team.barrier();
  if (team.is_first()) work();
  team.barrier();
}

template <class Matrices>
std::shared_ptr<TransposeBuffers> messages_of(const LineProblem<Matrices>& problem) {
  return {problem.memory, &problem.memory->z};
}

// The solver of the same kind whose factors a problem wants to use, if any.
template <class Solver, class Matrices>
const Solver* twin_of(const LineProblem<Matrices>& problem) {
  return dynamic_cast<const Solver*>(problem.twin);
}

bool holds_first_line(const Box& all, const Box& part) {
  return part.cells() > 0 && part[0].begin == all[0].begin && part[1].begin == all[1].begin;
}

// All planes are on one rank, and the matrix is not periodic.
template <class Matrices>
class WholeLines final : public LineSolver<Matrices> {
 public:
  explicit WholeLines(const LineProblem<Matrices>& problem)
      : sweep_(problem.options.sweep),
        planes_(problem.matrix.size()),
        thomas_(twin_of<WholeLines>(problem)
                    ? twin_of<WholeLines>(problem)->thomas_
                    : std::make_shared<Thomas<Matrices>>(problem.matrices, problem.lines, planes_,
                                                         problem.singular)) {}

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override {
    thomas_->set(PlaneCoefficients(matrix, {0, planes_}, sweep_, identity, laplacian));
  }
  bool uses_planes() const override { return true; }
  bool first_may_be_last() const override { return false; }
  void forward(const Team& team, const Planes& planes, int n, const double* rhs) override {
    const SweptPlanes plane = swept(planes);
    thomas_->eliminate(team, n, plane(n), rhs, plane(n == 0 ? 0 : n - 1));
  }
  void exchange(const Planes&) override {}
  double* backward(const Team& team, const Planes& planes, int n, double* solution,
                   const double* after, double* copy) override {
    const double* d = swept(planes)(n);
    thomas_->substitute(team, n, solution, copy, d, n == planes_ - 1 ? d : after);
    return solution;
  }
  void solve(const Planes& planes) override { solve_plane_by_plane(*this, planes, swept(planes)); }
  TransposeTraffic traffic() const override { return {}; }
  std::size_t bytes() const override { return thomas_->bytes(); }

 private:
  SweptPlanes swept(const Planes& planes) const { return {planes, planes_ - 1, sweep_}; }

  Sweep sweep_;
  int planes_;
  std::shared_ptr<Thomas<Matrices>> thomas_;
};

// Reduces this rank's planes to two, and solves the reduced system of the column: P-TDMA; and
// periodic lines on one rank, whose two end planes are the reduced system.
template <class Matrices>
class PartitionedLines final : public LineSolver<Matrices> {
 public:
  explicit PartitionedLines(const LineProblem<Matrices>& problem);

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override;
  bool uses_planes() const override { return true; }
  bool first_may_be_last() const override { return flavour_ == PtdmaFlavour::two_sweeps; }
  void forward(const Team& team, const Planes& planes, int n, const double* rhs) override;
  void exchange(const Planes& planes) override;
  double* backward(const Team& team, const Planes& planes, int n, double* solution,
                   const double* after, double* copy) override;
  void solve(const Planes& planes) override { solve_plane_by_plane(*this, planes, swept(planes)); }

  TransposeTraffic traffic() const override {
    const TransposeTraffic& all = exchange_.traffic();
    return {all.calls - set_up_.calls, all.messages - set_up_.messages, all.bytes - set_up_.bytes,
            all.seconds - set_up_.seconds, all.kept_bytes - set_up_.kept_bytes};
  }
  std::size_t bytes() const override { return partition_->bytes(); }

 private:
  static Box ends_of(const LineProblem<Matrices>& problem, int rank);
  static Box whole_of(const LineProblem<Matrices>& problem, int rank);
  static Layout ends_layout(const LineProblem<Matrices>& problem);

  SweptPlanes swept(const Planes& planes) const { return {planes, planes_ - 1, sweep_}; }
  SweptPlanes swept_gathered() {
    return {{gathered_.data(), dense_.plane_stride}, 2 * ranks_ - 1, sweep_};
  }
  // The end plane that is swept first (0) or last (1); in memory they have their natural order.
  double* end(int which) {
    const bool lower = (which == 0) == (sweep_ == Sweep::up);
    return ends_.data() + (lower ? 0 : lines_.plane_size());
  }
  void set_reduced(const EndCoefficients& own);
  void exchange_coefficient(const Buffer& own, Buffer& all);
  void reduce(const SweptPlanes& plane);
  void reduce_by_algorithm_1(const SweptPlanes& plane);

  Sweep sweep_;
  PtdmaFlavour flavour_;
  int planes_, rank_, ranks_;
  bool homogeneous_ = true;
  std::function<Range(int)> planes_of_;
  Lines lines_, dense_;
  Matrices matrices_, dense_matrices_;
  std::shared_ptr<Partition<Matrices>> partition_;
  std::shared_ptr<ReducedSystem<Matrices>> reduced_;
  std::unique_ptr<CyclicReduction<Matrices>> algorithm_1_;
  Buffer ends_;      // both end planes of this rank
  Buffer gathered_;  // those of all ranks, on whole lines, in natural order
  Transpose exchange_;
  EndCoefficients all_ends_;  // of whole lines
  TransposeTraffic set_up_;   // what the exchange of coefficients sent
};

template <class Matrices>
Box PartitionedLines<Matrices>::ends_of(const LineProblem<Matrices>& problem, int rank) {
  return {problem.layout.box[0], problem.layout.box[1], {2 * rank, 2 * rank + 2}};
}

template <class Matrices>
Box PartitionedLines<Matrices>::whole_of(const LineProblem<Matrices>& problem, int rank) {
  return whole_lines(problem, rank, 2 * problem.column.size());
}

template <class Matrices>
Layout PartitionedLines<Matrices>::ends_layout(const LineProblem<Matrices>& problem) {
  Layout layout = problem.layout;
  layout.box = ends_of(problem, problem.column.rank());
  layout.stride[2] = static_cast<std::ptrdiff_t>(problem.lines.plane_size());
  return layout;
}

template <class Matrices>
PartitionedLines<Matrices>::PartitionedLines(const LineProblem<Matrices>& problem)
    : sweep_(problem.options.sweep),
      flavour_(problem.options.flavour),
      planes_(problem.layout.box[2].count()),
      rank_(problem.column.rank()),
      ranks_(problem.column.size()),
      planes_of_(problem.planes_of),
      lines_(problem.lines),
      dense_(dense_lines(whole_of(problem, rank_))),
      matrices_(problem.matrices),
      dense_matrices_(
          problem.dense_matrices(whole_of(problem, rank_)[0], whole_of(problem, rank_)[1])),
      ends_(2 * lines_.plane_size()),
      gathered_(2 * ranks_ * dense_.plane_stride),
      exchange_(
          "tridiagonal ends", problem.column, [&](int rank) { return ends_of(problem, rank); },
          [&](int rank) { return whole_of(problem, rank); }, ends_layout(problem),
          Layout::ordered(whole_of(problem, rank_)), problem.options.backend, messages_of(problem)),
      all_ends_{Buffer(2 * ranks_ * dense_matrices_.size()),
                Buffer(2 * ranks_ * dense_matrices_.size())} {
  if (flavour_ == PtdmaFlavour::algorithm_1)
    algorithm_1_ = std::make_unique<CyclicReduction<Matrices>>(matrices_, lines_, planes_);
  if (const auto* twin = twin_of<PartitionedLines>(problem)) {
    OCTANT_REQUIRE(!algorithm_1_, "algorithm 1 has no factors that a twin could use");
    partition_ = twin->partition_;
    reduced_ = twin->reduced_;
    return;
  }
  const Box whole = whole_of(problem, rank_);
  partition_ = std::make_shared<Partition<Matrices>>(matrices_, lines_, planes_,
                                                     flavour_ == PtdmaFlavour::algorithm_2);
  reduced_ = std::make_shared<ReducedSystem<Matrices>>(
      dense_matrices_, dense_, 2 * ranks_, problem.matrix.periodic,
      problem.singular && holds_first_line(problem.layout.box, whole));
}

template <class Matrices>
void PartitionedLines<Matrices>::set_operator(const TridiagonalMatrix& matrix, double identity,
                                              double laplacian) {
  homogeneous_ = identity == 0.0;
  const auto coefficients = [&](int rank) {
    return PlaneCoefficients(matrix, planes_of_(rank), sweep_, identity, laplacian);
  };
  if constexpr (std::is_same_v<Matrices, SharedMatrix>) {
    // Every rank computes the ends of all: nothing is sent.
    double *a = all_ends_.a.data(), *c = all_ends_.c.data();
    for (int n = 0; n < ranks_; ++n) {
      const int rank = sweep_ == Sweep::up ? n : ranks_ - 1 - n;
      Partition<SharedMatrix> other({}, Lines{0, 0, 0, 0}, planes_of_(rank).count(), false);
      other.set(coefficients(rank));
      for (const int which : {0, 1}) {
        a[2 * n + which] = other.end_coefficients().a.data()[which];
        c[2 * n + which] = other.end_coefficients().c.data()[which];
      }
    }
    reduced_->set(a, c, homogeneous_);
  }
  if (algorithm_1_) {
    algorithm_1_->set(coefficients(rank_));
    return;
  }
  partition_->set(coefficients(rank_));
  if constexpr (!std::is_same_v<Matrices, SharedMatrix>) {
    const TransposeTraffic before = exchange_.traffic();
    set_reduced(partition_->end_coefficients());
    const TransposeTraffic& after = exchange_.traffic();
    set_up_.calls += after.calls - before.calls;
    set_up_.messages += after.messages - before.messages;
    set_up_.bytes += after.bytes - before.bytes;
    set_up_.seconds += after.seconds - before.seconds;
    set_up_.kept_bytes += after.kept_bytes - before.kept_bytes;
  }
}

template <class Matrices>
void PartitionedLines<Matrices>::set_reduced(const EndCoefficients& own) {
  exchange_coefficient(own.a, all_ends_.a);
  exchange_coefficient(own.c, all_ends_.c);
  reduced_->set(all_ends_.a.data(), all_ends_.c.data(), homogeneous_);
}

// `own`: [first, last][coefficient of our lines]; `all`: [plane][coefficient of whole lines].
template <class Matrices>
void PartitionedLines<Matrices>::exchange_coefficient(const Buffer& own, Buffer& all) {
  for (const int which : {0, 1})
    for_each_chunk(lines_, {0, lines_.rows}, [&](int chunk, std::ptrdiff_t at, auto width) {
      for (int i = 0; i < width; ++i)
        end(which)[at + i] = own.data()[which * matrices_.size() + matrices_.place(chunk, i)];
    });
  exchange_.forward(ends_.data(), gathered_.data());
  const SweptPlanes gathered = swept_gathered();
  for (int n = 0; n < 2 * ranks_; ++n)
    for_each_chunk(dense_, {0, dense_.rows}, [&](int chunk, std::ptrdiff_t at, auto width) {
      for (int i = 0; i < width; ++i)
        all.data()[n * dense_matrices_.size() + dense_matrices_.place(chunk, i)] =
            gathered(n)[at + i];
    });
}

template <class Matrices>
void PartitionedLines<Matrices>::forward(const Team& team, const Planes& planes, int n,
                                         const double* rhs) {
  const SweptPlanes plane = swept(planes);
  double* d = plane(n);
  const double* before = plane(n == 0 ? 0 : n - 1);
  if (n > 0 && !algorithm_1_) {
    const bool gather = flavour_ == PtdmaFlavour::two_sweeps;
    partition_->eliminate(team, n, d, rhs, before, end(0), gather);
    return;
  }
  copy_rows(lines_, lines_.share(team), rhs, d);
  if (algorithm_1_) by_one(team, [&] { algorithm_1_->eliminate(n, d, before); });
}

template <class Matrices>
void PartitionedLines<Matrices>::reduce_by_algorithm_1(const SweptPlanes& plane) {
  for (int n = planes_ - 3; n >= 0; --n) algorithm_1_->reduce(n, plane(n), plane(n + 1));
  if constexpr (!std::is_same_v<Matrices, SharedMatrix>)
    set_reduced(algorithm_1_->end_coefficients());
  std::copy_n(plane(0), lines_.plane_size(), end(0));
  std::copy_n(plane(planes_ - 1), lines_.plane_size(), end(1));
}

template <class Matrices>
void PartitionedLines<Matrices>::reduce(const SweptPlanes& plane) {
  const int last = planes_ - 1;
  in_team("pencil: reduce lines", [&](const Team& team) {
    if (flavour_ == PtdmaFlavour::two_sweeps) {
      partition_->add_and_scale(team, 0, end(0), plane(0));
    } else {
      for (int n = last - 2; n >= 0; --n) partition_->reduce(team, n, plane(n), plane(n + 1));
      partition_->scale(team, 0, end(0), plane(0));
    }
    partition_->scale(team, last, end(1), plane(last));
  });
}

template <class Matrices>
void PartitionedLines<Matrices>::exchange(const Planes& planes) {
  if (algorithm_1_) reduce_by_algorithm_1(swept(planes));
  else reduce(swept(planes));
  exchange_.forward(ends_.data(), gathered_.data());
  in_team("pencil: reduced lines",
          [&](const Team& team) { reduced_->solve(team, swept_gathered()); });
  exchange_.backward(gathered_.data(), ends_.data());
}

template <class Matrices>
double* PartitionedLines<Matrices>::backward(const Team& team, const Planes& planes, int n,
                                             double* solution, const double* after, double* copy) {
  double* plane = swept(planes)(n);
  if (n == 0 || n == planes_ - 1) {
    const Range rows = lines_.share(team);
    copy_rows(lines_, rows, end(n == 0 ? 0 : 1), solution);
    copy_rows(lines_, rows, solution, copy);
    return solution;
  }
  if (flavour_ == PtdmaFlavour::two_sweeps) {
    partition_->substitute(team, n, solution, copy, plane, after, end(0));
    return solution;
  }
  if (algorithm_1_) by_one(team, [&] { algorithm_1_->reconstruct(n, plane, end(0), end(1)); });
  else partition_->reconstruct(team, n, plane, end(0), end(1));
  return plane;
}

// Makes lines whole by a transpose, solves them there, and sends them back. Whole lines stay in the
// messages; the planes that were this rank's already lie apart.
template <class Matrices>
class TransposedLines final : public LineSolver<Matrices> {
 public:
  explicit TransposedLines(const LineProblem<Matrices>& problem)
      : box_(whole_of(problem, problem.column.rank())),
        sweep_(problem.options.sweep),
        rows_{0, problem.layout.box[1].count()},
        own_(problem.layout.box[2]),
        transpose_(
            "tridiagonal lines", problem.column,
            [&](int rank) {
              return Box{problem.layout.box[0], problem.layout.box[1], problem.planes_of(rank)};
            },
            [&](int rank) { return whole_of(problem, rank); }, problem.layout,
            Layout::ordered(box_), problem.options.backend, messages_of(problem), true),
        solver_(make_line_solver(whole_problem(problem))) {}

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override {
    solver_->set_operator(matrix, identity, laplacian);
  }
  bool uses_planes() const override { return false; }
  bool first_may_be_last() const override { return true; }
  // Rows are packed across the lines that other threads have made.
  void forward(const Team& team, const Planes&, int n, const double* rhs) override {
    const int k = plane_of(n);
    team.barrier();
    transpose_.pack(team, Transpose::End::source, rows_, {k, k + 1}, rhs);
  }
  void exchange(const Planes&) override {
    transpose_.exchange(Direction::forward);
    const std::vector<Slab> slabs = transpose_.slabs();
    solver_->solve({nullptr, dense_lines(box_).plane_stride, slabs});
    transpose_.exchange(Direction::reverse);
  }
  double* backward(const Team& team, const Planes&, int n, double*, const double*,
                   double* copy) override {
    const int k = plane_of(n);
    transpose_.unpack(team, Transpose::End::source, rows_, {k, k + 1}, copy);
    team.barrier();
    return copy;
  }
  void solve(const Planes& planes) override {
    solve_plane_by_plane(*this, planes, {planes, own_.count() - 1, sweep_});
  }
  TransposeTraffic traffic() const override { return transpose_.traffic(); }
  std::size_t bytes() const override { return solver_->bytes(); }

 private:
  static Box whole_of(const LineProblem<Matrices>& problem, int rank) {
    return whole_lines(problem, rank, problem.matrix.size());
  }
  LineProblem<Matrices> whole_problem(const LineProblem<Matrices>& problem) const {
    LineProblem<Matrices> whole = problem;
    whole.column = problem.column.split(problem.column.rank());
    whole.planes_of = [all = box_[2]](int) { return all; };
    whole.layout = Layout::ordered(box_);
    whole.lines = dense_lines(box_);
    whole.matrices = problem.dense_matrices(box_[0], box_[1]);
    whole.singular = problem.singular && holds_first_line(problem.layout.box, box_);
    whole.memory = std::make_shared<SolverMemory>();
    const auto* twin = twin_of<TransposedLines>(problem);
    whole.twin = twin ? twin->solver_.get() : nullptr;
    return whole;
  }
  int plane_of(int n) const { return sweep_ == Sweep::up ? n : own_.count() - 1 - n; }

  Box box_;  // of the whole lines
  Sweep sweep_;
  Range rows_, own_;  // of this rank's planes before the transpose
  Transpose transpose_;
  std::unique_ptr<LineSolver<Matrices>> solver_;
};

}  // namespace

template <class Matrices>
std::unique_ptr<LineSolver<Matrices>> make_line_solver(const LineProblem<Matrices>& problem) {
  const bool one_rank = problem.column.size() == 1;
  if (one_rank && !problem.matrix.periodic) return std::make_unique<WholeLines<Matrices>>(problem);
  if (one_rank || problem.options.method == TridiagonalMethod::ptdma)
    return std::make_unique<PartitionedLines<Matrices>>(problem);
  return std::make_unique<TransposedLines<Matrices>>(problem);
}

template std::unique_ptr<LineSolver<SharedMatrix>> make_line_solver(
    const LineProblem<SharedMatrix>&);
template std::unique_ptr<LineSolver<ShiftedMatrices>> make_line_solver(
    const LineProblem<ShiftedMatrices>&);

}  // namespace octant::pencil
