// P-TDMA for lines that are distributed over ranks: each rank reduces its system to the unknowns of
// its two end planes, and the reduced system of all ranks, two planes per rank with a diagonal of
// ones, is solved on whole lines. Used only in pencil/ and in benchmarks of P-TDMA algorithms.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "pencil/field.hpp"
#include "pencil/line_solver.hpp"
#include "pencil/lines.hpp"

namespace octant::pencil {

// --- the planes of one rank ---------------------------------------------------------------------
//
// Planes are counted in the order of the sweep, 0 .. m - 1. Without the couplings to plane 0, the
// rows 1 .. m - 1 are eliminated as in Thomas' algorithm; each row n keeps a fill-in f_n that
// multiplies plane 0:
//
//   b_n phi_n + a_n phi_0 + C_n phi_(n+1) = d'_n,   a_n = -A_n a_(n-1) / b_(n-1),  f_n = a_n / b_n.
//
// The paper's algorithm 2 then sweeps back, so that the rows couple only to planes 0 and m - 1.
// Here the reduced right-hand side of plane 0 is summed from weighted d'_n during the first sweep,
// so that planes 0 and m - 1 are solved before the back substitution of the others:
//
//   phi_n = (d'_n - C_n phi_(n+1)) / b_n - f_n phi_0.

// Coefficients of the reduced rows of the end planes, [first, last][coefficient]:
//   a phi_(-1) + phi_0 + c phi_(m-1) = d  and  a phi_0 + phi_(m-1) + c phi_m = d.
struct EndCoefficients {
  Buffer a, c;
};

// Reduction of one rank's tridiagonal systems to the unknowns of its two end planes.
template <class Matrices>
class Partition {
 public:
  // Prepares the reduction of m = `planes` >= 2 planes.
  Partition(Matrices matrices, const Lines& lines, int planes)
      : matrices_(std::move(matrices)),
        lines_(lines),
        planes_(planes),
        reciprocal_(planes * matrices_.size()),
        fill_(planes * matrices_.size()),
        ends_{Buffer(2 * matrices_.size()), Buffer(2 * matrices_.size())},
        weights_(team_size()) {
    for (Weights& weights : weights_) weights.values = Buffer(matrices_.size());
  }

  // Sets the coefficients of all planes.
  void set(const PlaneCoefficients& coefficients) {
    coefficients_ = coefficients;
    eliminate_matrices();
    for (Weights& weights : weights_) weights.plane = 0;
    reduce_matrices();
  }
  // Coefficients of the reduced rows.
  const EndCoefficients& end_coefficients() const { return ends_; }

  // First sweep: forward elimination of plane n, for n = 1 .. m - 1 in ascending order; plane 0 is
  // unchanged. `first` accumulates the terms of the reduced right-hand side of plane 0.
  void eliminate(const Team& team, int n, double* result, const double* d, const double* before,
                 double* first) {
    const double a = n == 1 ? 0.0 : coefficients_.before[n];
    const double c = n == planes_ - 1 ? 0.0 : coefficients_.after[n - 1];
    const double* r_before = plane(reciprocal_, n - 1);
    const Range rows = lines_.share(team);
    if (n == 1)
      std::fill(first + rows.begin * lines_.row_stride, first + rows.end * lines_.row_stride, 0.0);
    const double* weights = weights_of(team, n, -c);
    for_each_line(
        lines_, rows, matrices_,
        [=](std::ptrdiff_t i, double r, double weight) {
          const double value = eliminated_unscaled(d[i], a, r, before[i]);
          result[i] = value;
          first[i] += weight * value;
        },
        r_before, weights);
  }

  // Computes the right-hand side `end` of the reduced row of plane n (0 or m - 1) from plane `d`.
  void scale(const Team& team, int n, double* end, const double* d) const {
    for_each_line(
        lines_, lines_.share(team), matrices_,
        [=](std::ptrdiff_t i, double r) { end[i] = d[i] * r; }, plane(reciprocal_, n));
  }

  // Computes the right-hand side of the reduced row, including the terms of other planes that `end`
  // contains.
  void add_and_scale(const Team& team, int n, double* end, const double* d) const {
    for_each_line(
        lines_, lines_.share(team), matrices_,
        [=](std::ptrdiff_t i, double r) { end[i] = (end[i] + d[i]) * r; }, plane(reciprocal_, n));
  }

  // Second sweep: back substitution of plane n, for n = m - 2 .. 1 in descending order. `after` and
  // `first` are the solutions of planes n + 1 and 0. Writes `solution` and `carry`.
  void substitute(const Team& team, int n, double* solution, double* carry, const double* d,
                  const double* after, const double* first) const {
    const double c = coefficients_.after[n];
    for_each_line(
        lines_, lines_.share(team), matrices_,
        [=](std::ptrdiff_t i, double r, double f) {
          carry[i] = solution[i] = substituted_between(d[i], c, after[i], r, f, first[i]);
        },
        plane(reciprocal_, n), plane(fill_, n));
  }

 private:
  const double* plane(const Buffer& buffer, int n) const {
    return buffer.data() + n * matrices_.size();
  }
  double* plane(Buffer& buffer, int n) { return buffer.data() + n * matrices_.size(); }

  // Forward elimination of rows 1 .. m - 1. The memory of the weights is used for a_n.
  void eliminate_matrices() {
    const std::size_t size = matrices_.size();
    const PlaneCoefficients& rows = coefficients_;
    const double factor = rows.shift_factor;
    double* a = weights_[0].values.data();
    for (int n = 1; n < planes_; ++n) {
      double *r = plane(reciprocal_, n), *f = plane(fill_, n);
      const double* r_before = plane(reciprocal_, n - 1);
      const double A = rows.before[n], product = n == 1 ? 0.0 : A * rows.after[n - 1];
      const double row_diagonal = rows.diagonal[n];
#pragma omp simd
      for (std::size_t l = 0; l < size; ++l) {
        const double b = row_diagonal + factor * matrices_.shift(l);
        a[l] = n == 1 ? A : -A * a[l] * r_before[l];
        r[l] = 1.0 / (n == 1 ? b : b - product * r_before[l]);
        f[l] = a[l] * r[l];
      }
    }
  }

  // Backward elimination, so that rows m - 2 .. 1 couple only to planes 0 and m - 1; row 1 is then
  // inserted into row 0. During the loop, `a` and `c` of the first end hold a_n / b_n and c_n /
  // b_n.
  void reduce_matrices() {
    const std::size_t size = matrices_.size();
    const auto& [before, diagonal, after, factor, is_poisson] = coefficients_;
    double *a = ends_.a.data(), *c = ends_.c.data(), *a_last = a + size, *c_last = c + size;
    const double *f_last = plane(fill_, planes_ - 1), *r_last = plane(reciprocal_, planes_ - 1);
    for (std::size_t l = 0; l < size; ++l) {
      a_last[l] = f_last[l];
      c_last[l] = after[planes_ - 1] * r_last[l];
    }
    for (int n = planes_ - 2; n >= 1; --n) {
      const double *r = plane(reciprocal_, n), *f = plane(fill_, n);
      const double C = after[n];
      const bool is_next_to_last = n == planes_ - 2;
#pragma omp simd
      for (std::size_t l = 0; l < size; ++l) {
        a[l] = is_next_to_last ? f[l] : f[l] - C * r[l] * a[l];
        c[l] = is_next_to_last ? C * r[l] : -C * r[l] * c[l];
      }
    }
    const bool folded = planes_ > 2;
    double* r = plane(reciprocal_, 0);
    for (std::size_t l = 0; l < size; ++l) {
      const double b = diagonal[0] + factor * matrices_.shift(l);
      r[l] = 1.0 / (folded ? b - after[0] * a[l] : b);
      c[l] = (folded ? -after[0] * c[l] : after[0]) * r[l];
      a[l] = before[0] * r[l];
    }
  }

  // Returns the weights for plane n. Each thread computes its own copy in every sweep, which costs
  // little and needs no barrier.
  const double* weights_of(const Team& team, int n, double coupling) {
    Weights& own = weights_[team.rank()];
    double* weights = own.values.data();
    if (own.plane == n) return weights;
    const double* r = plane(reciprocal_, n);
    if (n == 1) std::fill_n(weights, matrices_.size(), 1.0);
    for (std::size_t l = 0; l < matrices_.size(); ++l) weights[l] *= coupling * r[l];
    own.plane = n;
    return weights;
  }

  Matrices matrices_;
  Lines lines_;
  int planes_;
  PlaneCoefficients coefficients_;
  Buffer reciprocal_, fill_;  // 1 / b_n and f_n, [plane][coefficient]
  EndCoefficients ends_;
  // Weights of d'_n in the reduced row of plane 0, for n = `plane`; plane 0: no weights.
  struct Weights {
    Buffer values;
    int plane = 0;
  };
  std::vector<Weights> weights_;  // by thread
};

// --- the reduced system --------------------------------------------------------------------------
//
// Solver of a_n phi_(n-1) + phi_n + c_n phi_(n+1) = d_n by Thomas' algorithm; n counts planes in
// the order of the sweep. A periodic system is solved by bordering: the other unknowns are
// eliminated first and give an equation for the last unknown.
template <class Matrices>
class ReducedSystem {
 public:
  // If `singular`, the matrix of line 0 of row 0 is singular for Poisson's equation (is_poisson);
  // its last unknown is then 0.
  ReducedSystem(Matrices matrices, const Lines& lines, int planes, bool periodic, bool singular)
      : matrices_(std::move(matrices)),
        lines_(lines),
        planes_(planes),
        bordered_(periodic),
        singular_(singular),
        before_(planes * matrices_.size()),
        reciprocal_(planes * matrices_.size()),
        back_(planes * matrices_.size()),
        border_(periodic ? planes * matrices_.size() : 0) {}

  // Sets the coefficients of all planes, [plane in the order of the sweep][coefficient].
  void set(const double* a, const double* c, bool is_poisson) {
    const std::size_t size = matrices_.size();
    const ReducedFactors factors{before_.data(), reciprocal_.data(), back_.data(), border_.data()};
    for (std::size_t l = 0; l < size; ++l)
      factors.factorise(l, size, a, c, planes_, bordered_,
                        singular_ && is_poisson && l == matrices_.place(0, 0));
  }

  // Solves in place; `plane_of(n)` is plane n of the right-hand side.
  template <class PlaneOf>
  void solve(const Team& team, const PlaneOf& plane_of) const {
    const int inner = bordered_ ? planes_ - 1 : planes_;
    const Range rows = lines_.share(team);
    for (int n = 0; n < inner; ++n) eliminate(rows, n, plane_of(n), plane_of(n == 0 ? 0 : n - 1));
    for (int n = inner - 2; n >= 0; --n) substitute(rows, n, plane_of(n), plane_of(n + 1));
    if (!bordered_) return;
    solve_border(rows, plane_of(inner), plane_of(0), plane_of(inner - 1));
    for (int n = 0; n < inner; ++n) add_border(rows, n, plane_of(n), plane_of(inner));
  }

 private:
  const double* plane(const Buffer& buffer, int n) const {
    return buffer.data() + n * matrices_.size();
  }

  void eliminate(Range rows, int n, double* d, const double* d_before) const {
    for_each_line(
        lines_, rows, matrices_,
        [=](std::ptrdiff_t i, double r, double a) { d[i] = d[i] * r - a * d_before[i]; },
        plane(reciprocal_, n), plane(before_, n));
  }
  void substitute(Range rows, int n, double* d, const double* d_after) const {
    for_each_line(
        lines_, rows, matrices_, [=](std::ptrdiff_t i, double c) { d[i] -= c * d_after[i]; },
        plane(back_, n));
  }
  void solve_border(Range rows, double* d, const double* d_first, const double* d_before) const {
    const int last = planes_ - 1;
    for_each_line(
        lines_, rows, matrices_,
        [=](std::ptrdiff_t i, double r, double a, double c) {
          d[i] = (d[i] - c * d_first[i] - a * d_before[i]) * r;
        },
        plane(reciprocal_, last), plane(before_, last), plane(back_, last));
  }
  void add_border(Range rows, int n, double* d, const double* d_last) const {
    for_each_line(
        lines_, rows, matrices_, [=](std::ptrdiff_t i, double q) { d[i] += q * d_last[i]; },
        plane(border_, n));
  }

  Matrices matrices_;
  Lines lines_;
  int planes_;
  bool bordered_, singular_;
  Buffer before_, reciprocal_, back_, border_;  // [plane][coefficient]
};

// Returns the lines of a box that is stored without gaps.
inline Lines dense_lines(const Box& box) {
  const int width = box[0].count(), rows = box[1].count();
  return {width > 0 ? rows : 0, width, width, std::ptrdiff_t{width} * rows};
}

// Returns the whole lines of `planes` that a rank of a column solves.
template <class Matrices>
Box whole_lines(const LineProblem<Matrices>& problem, int rank, int planes) {
  const Box lines{problem.layout.box[0], problem.layout.box[1], {0, planes}};
  return Matrices::share(lines, problem.column.size(), rank);
}

// True if the part contains the first line of the box `all`.
inline bool holds_first_line(const Box& all, const Box& part) {
  return part.cells() > 0 && part[0].begin == all[0].begin && part[1].begin == all[1].begin;
}

// Reduced system of the end planes of all partitions of a column, with its exchange.
template <class Matrices>
class EndPlanes {
 public:
  // Prepares the exchange. `twin` is an object whose factors are reused, or null. Collective over
  // the column.
  explicit EndPlanes(const LineProblem<Matrices>& problem, const EndPlanes* twin = nullptr);

  // Returns the end plane that is first (0) or last (1) in the sweep: the right-hand side before
  // solve(), and the solution after it.
  double* operator()(int which) {
    const bool lower = (which == 0) == (sweep_ == Sweep::up);
    return ends_.data() + (lower ? 0 : lines_.plane_size());
  }
  // Sets the coefficients. `own` holds those of this rank's ends; of(rank) returns the coefficients
  // of all planes of a rank. With one matrix for all lines, every rank computes all ends without
  // communication; otherwise collective.
  template <class CoefficientsOf>
  void set(const EndCoefficients& own, const CoefficientsOf& of, bool is_poisson);
  // Gathers the end planes, solves the reduced system, and returns the solution. Collective.
  void solve();
  // Solves without the exchange: gathered_data() must hold the data() of all ranks.
  void solve_gathered();
  // End planes of this rank, in natural order.
  double* data() { return ends_.data(); }
  // End planes of all ranks on whole lines, in natural order.
  double* gathered_data() { return gathered_.data(); }
  // Layouts of data() and gathered_data(), for a joined exchange.
  JoinedTransposes::Member sides() const;

  // Messages and bytes sent so far.
  const TransposeTraffic& traffic() const { return exchange_.traffic(); }

 private:
  static BoxOf ends_of(const LineProblem<Matrices>& problem) {
    return [lines = problem.layout.box](int rank) {
      return Box{lines[0], lines[1], Range{2 * rank, 2 * rank + 2}};
    };
  }
  static BoxOf whole_of(const LineProblem<Matrices>& problem) {
    const Box& lines = problem.layout.box;
    const int ranks = problem.column.size();
    return [all = Box{lines[0], lines[1], Range{0, 2 * ranks}}, ranks](int rank) {
      return Matrices::share(all, ranks, rank);
    };
  }
  static Layout ends_layout(const LineProblem<Matrices>& problem) {
    Layout layout = problem.layout;
    layout.box = ends_of(problem)(problem.column.rank());
    layout.stride[2] = static_cast<std::ptrdiff_t>(problem.lines.plane_size());
    return layout;
  }
  SweptPlanes gathered() {
    return {{gathered_.data(), dense_.plane_stride}, 2 * ranks_ - 1, sweep_};
  }
  void exchange_coefficient(const Buffer& own, Buffer& all);

  Sweep sweep_;
  int ranks_, rank_;
  BoxOf ends_box_, whole_box_;
  Layout ends_layout_;
  std::function<Range(int)> planes_of_;
  Lines lines_, dense_;
  Matrices matrices_, dense_matrices_;
  std::shared_ptr<ReducedSystem<Matrices>> reduced_;
  Buffer ends_;      // both end planes of this rank, in natural order
  Buffer gathered_;  // end planes of all ranks on whole lines, in natural order
  Transpose exchange_;
  EndCoefficients all_;  // coefficients of whole lines
};

template <class Matrices>
EndPlanes<Matrices>::EndPlanes(const LineProblem<Matrices>& problem, const EndPlanes* twin)
    : sweep_(problem.options.sweep),
      ranks_(problem.column.size()),
      rank_(problem.column.rank()),
      ends_box_(ends_of(problem)),
      whole_box_(whole_of(problem)),
      ends_layout_(ends_layout(problem)),
      planes_of_(problem.planes_of),
      lines_(problem.lines),
      dense_(dense_lines(whole_box_(rank_))),
      matrices_(problem.matrices),
      dense_matrices_(problem.dense_matrices(whole_box_(rank_)[0], whole_box_(rank_)[1])),
      ends_(2 * lines_.plane_size()),
      gathered_(2 * ranks_ * dense_.plane_stride),
      exchange_("tridiagonal ends", problem.column, ends_box_, whole_box_, ends_layout_,
                Layout::ordered(whole_box_(rank_)), problem.options.backend,
                std::shared_ptr<TransposeBuffers>(problem.memory, &problem.memory->z)),
      all_{Buffer(2 * ranks_ * dense_matrices_.size()),
           Buffer(2 * ranks_ * dense_matrices_.size())} {
  const Box whole = whole_box_(rank_);
  if (twin) reduced_ = twin->reduced_;
  else
    reduced_ = std::make_shared<ReducedSystem<Matrices>>(
        dense_matrices_, dense_, 2 * ranks_, problem.matrix.periodic,
        problem.singular && holds_first_line(problem.layout.box, whole));
}

template <class Matrices>
template <class CoefficientsOf>
void EndPlanes<Matrices>::set(const EndCoefficients& own, const CoefficientsOf& of,
                              bool is_poisson) {
  if constexpr (std::is_same_v<Matrices, SharedMatrix>) {
    double *a = all_.a.data(), *c = all_.c.data();
    for (int n = 0; n < ranks_; ++n) {
      const int rank = sweep_ == Sweep::up ? n : ranks_ - 1 - n;
      Partition<SharedMatrix> other({}, Lines{0, 0, 0, 0}, planes_of_(rank).count());
      other.set(of(rank));
      for (const int which : {0, 1}) {
        a[2 * n + which] = other.end_coefficients().a.data()[which];
        c[2 * n + which] = other.end_coefficients().c.data()[which];
      }
    }
  } else {
    exchange_coefficient(own.a, all_.a);
    exchange_coefficient(own.c, all_.c);
  }
  reduced_->set(all_.a.data(), all_.c.data(), is_poisson);
}

// Gathers the coefficients `own`, [first, last][coefficient of this rank's lines], in `all`,
// [plane][coefficient of whole lines].
template <class Matrices>
void EndPlanes<Matrices>::exchange_coefficient(const Buffer& own, Buffer& all) {
  for (const int which : {0, 1})
    for_each_chunk(lines_, {0, lines_.rows}, [&](int chunk, std::ptrdiff_t at, auto width) {
      for (int i = 0; i < width; ++i)
        (*this)(which)[at + i] = own.data()[which * matrices_.size() + matrices_.place(chunk, i)];
    });
  exchange_.forward(ends_.data(), gathered_.data());
  const SweptPlanes swept = gathered();
  for (int n = 0; n < 2 * ranks_; ++n)
    for_each_chunk(dense_, {0, dense_.rows}, [&](int chunk, std::ptrdiff_t at, auto width) {
      for (int i = 0; i < width; ++i)
        all.data()[n * dense_matrices_.size() + dense_matrices_.place(chunk, i)] = swept(n)[at + i];
    });
}

template <class Matrices>
void EndPlanes<Matrices>::solve() {
  exchange_.forward(ends_.data(), gathered_.data());
  solve_gathered();
  exchange_.backward(gathered_.data(), ends_.data());
}

template <class Matrices>
void EndPlanes<Matrices>::solve_gathered() {
  in_team("pencil: reduced lines", [&](const Team& team) { reduced_->solve(team, gathered()); });
}

template <class Matrices>
JoinedTransposes::Member EndPlanes<Matrices>::sides() const {
  return {{ends_layout_, rank_, ranks_, whole_box_},
          {Layout::ordered(whole_box_(rank_)), rank_, ranks_, ends_box_}};
}

}  // namespace octant::pencil
