#include "pencil/line_solver.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "pencil/field.hpp"
#include "pencil/lines.hpp"
#include "pencil/ptdma.hpp"

namespace octant::pencil {

namespace {

// Thomas' algorithm plane by plane. Planes are counted in the order of the sweep, beginning with 0.
template <class Matrices>
class Thomas {
 public:
  // If `singular`, the matrix of line 0 of row 0 is singular for Poisson's equation (is_poisson);
  // its last unknown is then 0.
  Thomas(Matrices matrices, const Lines& lines, int planes, bool singular)
      : matrices_(std::move(matrices)),
        lines_(lines),
        singular_(singular),
        reciprocal_(planes * matrices_.size()) {}

  // Sets the coefficients. Reciprocals are computed here for one matrix, by prepare() for several.
  void set(const PlaneCoefficients& coefficients) {
    coefficients_ = coefficients;
    made_.reset();
    if (matrices_.size() != 1) return;
    for (int n = 0; n < coefficients_.planes(); ++n) make_reciprocals(n, {0, 1});
    made_.reset(coefficients_.planes());
  }

  // Computes the reciprocals of plane n. All threads call prepare() before the elimination of
  // plane n, in ascending order of n.
  void prepare(const Team& team, int n) {
    if (!made_.takes_up(team, n)) return;
    make_reciprocals(n, team.share(static_cast<int>(matrices_.size())));
    team.barrier();
  }

  // Performs the forward elimination of the given rows of plane n, in ascending order of n.
  void eliminate(Range rows, int n, double* result, const double* d, const double* before) const {
    const double a = n == 0 ? 0.0 : coefficients_.before[n];
    const double* reciprocals = &reciprocal_.data()[n * matrices_.size()];
    if (n == 0) before = d;
    for_each_line(
        lines_, rows, matrices_,
        [=](std::ptrdiff_t i, double r) { result[i] = eliminated(d[i], a, before[i], r); },
        reciprocals);
  }

  // Performs the back substitution of plane n, in descending order of n, into `solution` and
  // `carry`.
  void substitute(Range rows, int n, double* solution, double* carry, const double* d,
                  const double* after) const {
    if (n == coefficients_.planes() - 1) {
      copy_rows(lines_, rows, d, carry);
      copy_rows(lines_, rows, d, solution);
      return;
    }
    const double c = coefficients_.after[n];
    for_each_line(
        lines_, rows, matrices_,
        [=](std::ptrdiff_t i, double r) {
          carry[i] = solution[i] = substituted(d[i], c, r, after[i]);
        },
        &reciprocal_.data()[n * matrices_.size()]);
  }

 private:
  void make_reciprocals(int n, Range lines) {
    double* r = &reciprocal_.data()[n * matrices_.size()];
    const double diagonal = coefficients_.diagonal[n], factor = coefficients_.shift_factor;
    if (n == 0) {
      for (int l = lines.begin; l < lines.end; ++l)
        r[l] = 1.0 / (diagonal + factor * matrices_.shift(l));
    } else {
      const double product = coefficients_.before[n] * coefficients_.after[n - 1];
      const double* r_before = r - matrices_.size();
      for (int l = lines.begin; l < lines.end; ++l)
        r[l] = pivot_reciprocal(diagonal + factor * matrices_.shift(l), product, r_before[l]);
    }
    if (!singular_ || !coefficients_.is_poisson || n < coefficients_.planes() - 1) return;
    const auto first = static_cast<int>(matrices_.place(0, 0));
    if (lines.contains(first)) r[first] = 0.0;
  }

  Matrices matrices_;
  Lines lines_;
  bool singular_;
  PlaneCoefficients coefficients_;
  Buffer reciprocal_;  // [plane][coefficient]
  PlanesMade made_;    // planes whose reciprocals are computed
};

// Solves the tridiagonal systems: forward() for all planes, exchange() once, and backward() for all
// planes in reverse order.
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

// Returns the solver of the same class whose factors the problem reuses, or null.
template <class Solver, class Matrices>
const Solver* twin_of(const LineProblem<Matrices>& problem) {
  return dynamic_cast<const Solver*>(problem.twin);
}

// Solver for lines whose planes are all on one rank, with a non-periodic matrix.
template <class Matrices>
class WholeLines final : public LineSolver<Matrices> {
 public:
  explicit WholeLines(const LineProblem<Matrices>& problem)
      : sweep_(problem.options.sweep),
        planes_(problem.matrix.size()),
        lines_(problem.lines),
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
    thomas_->prepare(team, n);
    thomas_->eliminate(lines_.share(team), n, plane(n), rhs, plane(n == 0 ? 0 : n - 1));
  }
  void exchange(const Planes&) override {}
  void backward(const Team& team, const Planes& planes, int n, double* solution,
                const double* after, double* carry) override {
    const double* d = swept(planes)(n);
    thomas_->substitute(lines_.share(team), n, solution, carry, d, n == planes_ - 1 ? d : after);
  }
  // Solves groups of rows, in memory that stays in cache between the two sweeps.
  void solve(const Planes& planes) override {
    const std::ptrdiff_t doubles_of_row = std::max<std::ptrdiff_t>(planes_ * lines_.row_stride, 1);
    const int rows = static_cast<int>(std::max<std::ptrdiff_t>(k_doubles / doubles_of_row, 1));
    scratch_.reserve(static_cast<std::size_t>(rows) * doubles_of_row * team_size());
    in_team("pencil: solve lines", [&](const Team& team) {
      for (int n = 0; n < planes_; ++n) thomas_->prepare(team, n);
      const Range own = lines_.share(team);
      double* scratch = scratch_.data() + team.rank() * rows * doubles_of_row;
      for (int begin = own.begin; begin < own.end; begin += rows)
        solve_rows({begin, std::min(begin + rows, own.end)}, swept(planes), scratch);
    });
  }
  TransposeTraffic traffic() const override { return {}; }

 private:
  static constexpr std::ptrdiff_t k_doubles = 1 << 15;  // a quarter of a core's cache

  SweptPlanes swept(const Planes& planes) const { return {planes, planes_ - 1, sweep_}; }

  void solve_rows(Range rows, const SweptPlanes& plane, double* scratch) const {
    const std::ptrdiff_t first = rows.begin * lines_.row_stride;
    const std::ptrdiff_t stride = rows.count() * lines_.row_stride;
    const auto here = [=](int n) { return scratch + (n * stride - first); };
    for (int n = 0; n < planes_; ++n)
      thomas_->eliminate(rows, n, here(n), plane(n), here(n == 0 ? 0 : n - 1));
    for (int n = planes_ - 1; n >= 0; --n)
      thomas_->substitute(rows, n, here(n), plane(n), here(n), here(n == planes_ - 1 ? n : n + 1));
  }

  Sweep sweep_;
  int planes_;
  Lines lines_;
  std::shared_ptr<Thomas<Matrices>> thomas_;
  Buffer scratch_;
};

// P-TDMA solver: reduces the system to this rank's two end planes and solves the reduced system of
// the column. Also solves periodic lines on one rank, whose two end planes are the reduced system.
template <class Matrices>
class PartitionedLines final : public LineSolver<Matrices>, public ReducedLines {
 public:
  explicit PartitionedLines(const LineProblem<Matrices>& problem)
      : PartitionedLines(problem, twin_of<PartitionedLines>(problem)) {}

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override {
    const auto coefficients = [&](int rank) {
      return PlaneCoefficients(matrix, planes_of_(rank), sweep_, identity, laplacian);
    };
    partition_->set(coefficients(rank_));
    const TransposeTraffic before = ends_.traffic();
    ends_.set(partition_->end_coefficients(), coefficients, identity == 0.0);
    set_up_ += ends_.traffic() - before;
  }
  bool uses_planes() const override { return true; }
  bool first_may_be_last() const override { return true; }
  void forward(const Team& team, const Planes& planes, int n, const double* rhs) override {
    const SweptPlanes plane = swept(planes);
    if (n == 0) copy_rows(lines_, lines_.share(team), rhs, plane(0));
    else partition_->eliminate(team, n, plane(n), rhs, plane(n - 1), ends_(0));
  }
  void exchange(const Planes& planes) override {
    reduce(planes);
    ends_.solve();
  }
  ReducedLines* reduced() override { return this; }
  void reduce(const Planes& planes) override {
    const int last = planes_ - 1;
    in_team("pencil: reduce lines", [&](const Team& team) {
      partition_->add_and_scale(team, 0, ends_(0), swept(planes)(0));
      partition_->scale(team, last, ends_(1), swept(planes)(last));
    });
  }
  JoinedTransposes::Member sides() const override { return ends_.sides(); }
  double* ends() override { return ends_.data(); }
  double* gathered() override { return ends_.gathered_data(); }
  void solve_gathered() override { ends_.solve_gathered(); }
  void backward(const Team& team, const Planes& planes, int n, double* solution,
                const double* after, double* carry) override {
    if (n > 0 && n < planes_ - 1) {
      partition_->substitute(team, n, solution, carry, swept(planes)(n), after, ends_(0));
      return;
    }
    const Range rows = lines_.share(team);
    copy_rows(lines_, rows, ends_(n == 0 ? 0 : 1), carry);
    copy_rows(lines_, rows, carry, solution);
  }
  void solve(const Planes& planes) override { solve_plane_by_plane(*this, planes, swept(planes)); }

  // Messages and bytes sent so far, without the exchange of coefficients.
  TransposeTraffic traffic() const override { return ends_.traffic() - set_up_; }

 private:
  PartitionedLines(const LineProblem<Matrices>& problem, const PartitionedLines* twin)
      : sweep_(problem.options.sweep),
        planes_(problem.layout.box[2].count()),
        rank_(problem.column.rank()),
        planes_of_(problem.planes_of),
        lines_(problem.lines),
        partition_(
            twin ? twin->partition_
                 : std::make_shared<Partition<Matrices>>(problem.matrices, problem.lines, planes_)),
        ends_(problem, twin ? &twin->ends_ : nullptr) {}

  SweptPlanes swept(const Planes& planes) const { return {planes, planes_ - 1, sweep_}; }

  Sweep sweep_;
  int planes_, rank_;
  std::function<Range(int)> planes_of_;
  Lines lines_;
  std::shared_ptr<Partition<Matrices>> partition_;
  EndPlanes<Matrices> ends_;
  TransposeTraffic set_up_;
};

// Full-transpose solver: gathers whole lines by a transpose, solves them and transposes the
// solution back. Whole lines stay in the message buffers; planes that this rank already holds are
// separate.
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
            Layout::ordered(box_), problem.options.backend,
            std::shared_ptr<TransposeBuffers>(problem.memory, &problem.memory->z), true),
        solver_(make_line_solver(problem_of_whole_lines(problem))) {}

  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) override {
    solver_->set_operator(matrix, identity, laplacian);
  }
  bool uses_planes() const override { return false; }
  bool first_may_be_last() const override { return true; }
  // Packs plane n, after a barrier, because a thread packs rows that other threads have written.
  void forward(const Team& team, const Planes&, int n, const double* rhs) override {
    const int k = plane_of(n);
    team.barrier();
    transpose_.pack(team, TransposeEnd::source, rows_, {k, k + 1}, rhs);
  }
  void exchange(const Planes&) override {
    transpose_.exchange(Direction::forward);
    const std::vector<Slab> slabs = transpose_.slabs();
    solver_->solve({nullptr, dense_lines(box_).plane_stride, slabs});
    transpose_.exchange(Direction::reverse);
  }
  void backward(const Team& team, const Planes&, int n, double* solution, const double*,
                double*) override {
    const int k = plane_of(n);
    transpose_.unpack(team, TransposeEnd::source, rows_, {k, k + 1}, solution);
    team.barrier();
  }
  void solve(const Planes& planes) override {
    solve_plane_by_plane(*this, planes, {planes, own_.count() - 1, sweep_});
  }
  TransposeTraffic traffic() const override { return transpose_.traffic(); }

 private:
  static Box whole_of(const LineProblem<Matrices>& problem, int rank) {
    return whole_lines(problem, rank, problem.matrix.size());
  }
  LineProblem<Matrices> problem_of_whole_lines(const LineProblem<Matrices>& problem) const {
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

  Box box_;  // whole lines on this rank
  Sweep sweep_;
  Range rows_, own_;  // this rank's rows, and planes, before the transpose
  Transpose transpose_;
  std::unique_ptr<LineSolver<Matrices>> solver_;
};

}  // namespace

namespace {

std::vector<JoinedTransposes::Member> sides_of(std::span<ReducedLines* const> solvers) {
  std::vector<JoinedTransposes::Member> members;
  for (const ReducedLines* solver : solvers) members.push_back(solver->sides());
  return members;
}

}  // namespace

JoinedLines::JoinedLines(const Communicator& column, std::vector<ReducedLines*> solvers,
                         TransposeBackend backend)
    : solvers_(std::move(solvers)),
      transposes_("tridiagonal ends", column, sides_of(solvers_), backend) {}

void JoinedLines::exchange(std::span<const Planes> planes) {
  std::vector<double*> ends, gathered;
  for (std::size_t n = 0; n < solvers_.size(); ++n) {
    solvers_[n]->reduce(planes[n]);
    ends.push_back(solvers_[n]->ends());
    gathered.push_back(solvers_[n]->gathered());
  }
  transposes_.forward(ends, gathered);
  for (ReducedLines* solver : solvers_) solver->solve_gathered();
  transposes_.backward(gathered, ends);
}

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
