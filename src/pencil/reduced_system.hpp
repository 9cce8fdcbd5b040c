// The reduced system of P-TDMA: two planes per part, one diagonal of ones, solved on whole lines.
// Internal to pencil/, and to the benchmark's other P-TDMA algorithms.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "pencil/buffer.hpp"
#include "pencil/line_partition.hpp"
#include "pencil/line_solver.hpp"

namespace octant::pencil {

// a_n phi_(n-1) + phi_n + c_n phi_(n+1) = d_n by Thomas' algorithm; n counts planes in the order of
// the sweep. A periodic system couples its ends: the last unknown is bordered, that is, the others
// are solved for with and without it.
template <class Matrices>
class ReducedSystem {
 public:
  // `singular`: a homogeneous matrix of line 0 of row 0 is, for which the last unknown is 0.
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

  // The coefficients of all planes, [plane in the order of the sweep][coefficient].
  void set(const double* a, const double* c, bool homogeneous) {
    for (std::size_t l = 0; l < matrices_.size(); ++l)
      factorise(l, a, c, singular_ && homogeneous && l == matrices_.place(0, 0));
  }

  // `plane_of(n)` is plane n of the right-hand side, which the solution replaces.
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

  void factorise(std::size_t l, const double* a, const double* c, bool singular) {
    const std::size_t size = matrices_.size();
    const int last = planes_ - 1, inner = bordered_ ? last : planes_;
    const auto A = [&](int n) { return a[n * size + l]; };
    const auto C = [&](int n) { return c[n * size + l]; };
    const auto at = [&](Buffer& buffer, int n) -> double& { return buffer.data()[n * size + l]; };
    for (int n = 0; n < inner; ++n) {
      const double pivot = 1.0 - (n == 0 ? 0.0 : A(n) * at(back_, n - 1));
      const double r = singular && n == last ? 0.0 : 1.0 / pivot;
      at(reciprocal_, n) = r;
      at(before_, n) = n == 0 ? 0.0 : A(n) * r;
      at(back_, n) = n == inner - 1 ? 0.0 : C(n) * r;
    }
    if (!bordered_) return;
    // The solution of the others for a last unknown of 1.
    for (int n = 0; n < inner; ++n) {
      const double d = (n == 0 ? -A(0) : 0.0) + (n == inner - 1 ? -C(n) : 0.0);
      at(border_, n) =
          d * at(reciprocal_, n) - (n == 0 ? 0.0 : at(before_, n) * at(border_, n - 1));
    }
    for (int n = inner - 2; n >= 0; --n) at(border_, n) -= at(back_, n) * at(border_, n + 1);
    const double pivot = 1.0 + C(last) * at(border_, 0) + A(last) * at(border_, inner - 1);
    at(before_, last) = A(last);
    at(back_, last) = C(last);
    at(reciprocal_, last) = singular ? 0.0 : 1.0 / pivot;
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

// Lines of a dense box.
inline Lines dense_lines(const Box& box) {
  const int width = box[0].count(), rows = box[1].count();
  return {width > 0 ? rows : 0, width, width, std::ptrdiff_t{width} * rows};
}

// What a rank of a column gets of whole lines of `planes`.
template <class Matrices>
Box whole_lines(const LineProblem<Matrices>& problem, int rank, int planes) {
  const Box lines{problem.layout.box[0], problem.layout.box[1], {0, planes}};
  return Matrices::share(lines, problem.column.size(), rank);
}

inline bool holds_first_line(const Box& all, const Box& part) {
  return part.cells() > 0 && part[0].begin == all[0].begin && part[1].begin == all[1].begin;
}

// The planes at the ends of the partitions of a column, brought together on whole lines, and
// solved.
template <class Matrices>
class EndPlanes {
 public:
  // `twin` lends its factors. Collective over the column.
  explicit EndPlanes(const LineProblem<Matrices>& problem, const EndPlanes* twin = nullptr);

  // The right-hand side, then the solution, of the end plane that is swept first (0) or last (1).
  double* operator()(int which) {
    const bool lower = (which == 0) == (sweep_ == Sweep::up);
    return ends_.data() + (lower ? 0 : lines_.plane_size());
  }
  // Takes the coefficients of this rank's ends, and `of(rank)` those of the planes of any. Where
  // one matrix serves all lines, every rank computes all ends, and nothing is sent; else
  // collective.
  template <class CoefficientsOf>
  void set(const EndCoefficients& own, const CoefficientsOf& of, bool homogeneous);
  // Collective.
  void solve();
  // The same without the exchange: gathered_data() has what all ranks have in data().
  void solve_gathered();
  double* data() { return ends_.data(); }
  double* gathered_data() { return gathered_.data(); }
  JoinedTransposes::Member sides() const;

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
  Buffer gathered_;  // those of all ranks, on whole lines, likewise
  Transpose exchange_;
  EndCoefficients all_;  // of whole lines
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
                              bool homogeneous) {
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
  reduced_->set(all_.a.data(), all_.c.data(), homogeneous);
}

// `own`: [first, last][coefficient of our lines]; `all`: [plane][coefficient of whole lines].
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
