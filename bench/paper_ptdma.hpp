// The two algorithms of the P-TDMA paper (Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun. 316
// (2025) 109811, section 2.2.4), for comparison in `octant bench tridiagonal` with the algorithm of
// the solvers, which needs two sweeps over the planes instead of three.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

#include "pencil/ptdma.hpp"

namespace octant::bench {

// Algorithm 1 reduces matrix and right-hand side together in every solve; algorithm 2 reduces the
// matrix once and stores the factors.
enum class PtdmaAlgorithm { one, two };

// Solves the lines of a LineProblem with one thread per rank. Planes are counted in the order of
// the sweep, 0 .. m - 1.
template <class Matrices>
class PaperPtdma {
 public:
  // Collective.
  PaperPtdma(const pencil::LineProblem<Matrices>& problem, PtdmaAlgorithm algorithm)
      : algorithm_(algorithm),
        sweep_(problem.options.sweep),
        planes_(problem.layout.box[2].count()),
        rank_(problem.column.rank()),
        planes_of_(problem.planes_of),
        lines_(problem.lines),
        matrices_(problem.matrices),
        r_(planes_ * matrices_.size()),
        a_(planes_ * matrices_.size()),
        c_(planes_ * matrices_.size()),
        first_(matrices_.size()),
        ends_(problem) {}

  // Sets the operator identity + laplacian * matrix. Collective.
  void set_operator(const pencil::TridiagonalMatrix& matrix, double identity, double laplacian) {
    matrix_ = matrix;
    identity_ = identity;
    laplacian_ = laplacian;
    coefficients_ = {matrix, planes_of_(rank_), sweep_, identity, laplacian};
    if (algorithm_ == PtdmaAlgorithm::one) return;
    for (int n = 0; n < planes_; ++n) eliminate_matrix(n);
    for (int n = planes_ - 3; n >= 0; --n) reduce_matrix(n);
    set_ends();
  }

  // Solves in place. Collective.
  void solve(const pencil::Planes& planes) {
    const bool with_matrix = algorithm_ == PtdmaAlgorithm::one;
    const pencil::SweptPlanes d{planes, planes_ - 1, sweep_};
    for (int n = 0; n < planes_; ++n) {
      if (with_matrix) eliminate_matrix(n);
      eliminate(n, d(n), d(n >= 2 ? n - 1 : n));
    }
    for (int n = planes_ - 3; n >= 0; --n) {
      if (with_matrix) reduce_matrix(n);
      reduce(n, d(n), d(n + 1));
    }
    if (with_matrix) set_ends();
    const pencil::Range all{0, lines_.rows};
    for (const int which : {0, 1})
      pencil::copy_rows(lines_, all, d(which * (planes_ - 1)), ends_(which));
    ends_.solve();
    for (int n = 1; n < planes_ - 1; ++n) reconstruct(n, d(n));
    for (const int which : {0, 1})
      pencil::copy_rows(lines_, all, ends_(which), d(which * (planes_ - 1)));
  }

  // Data sent so far.
  const pencil::TransposeTraffic& traffic() const { return ends_.traffic(); }

 private:
  double* of(pencil::Buffer& buffer, int n) { return buffer.data() + n * matrices_.size(); }

  // Coefficients of plane n in the first, ascending loop; reduce_matrix() is for the second,
  // descending one.
  void eliminate_matrix(int n) {
    const double A = coefficients_.before[n], C = coefficients_.after[n];
    double *r = of(r_, n), *a = of(a_, n), *c = of(c_, n);
    for (std::size_t l = 0; l < matrices_.size(); ++l) {
      const double b = coefficients_.diagonal[n] + coefficients_.shift_factor * matrices_.shift(l);
      r[l] = 1.0 / (n >= 2 ? b - A * of(c_, n - 1)[l] : b);
      c[l] = r[l] * C;
      a[l] = n >= 2 ? -r[l] * A * of(a_, n - 1)[l] : r[l] * A;
    }
  }
  void reduce_matrix(int n) {
    double *a = of(a_, n), *c = of(c_, n);
    const double *a_after = of(a_, n + 1), *c_after = of(c_, n + 1);
    for (std::size_t l = 0; l < matrices_.size(); ++l) {
      const double scale = n == 0 ? 1.0 / (1.0 - a_after[l] * c[l]) : 1.0;
      if (n == 0) first_.data()[l] = scale;
      a[l] = n == 0 ? a[l] * scale : a[l] - c[l] * a_after[l];
      c[l] = -scale * c[l] * c_after[l];
    }
  }
  void set_ends() {
    const std::size_t size = matrices_.size();
    pencil::EndCoefficients own{pencil::Buffer(2 * size), pencil::Buffer(2 * size)};
    for (const int which : {0, 1}) {
      std::copy_n(of(a_, which * (planes_ - 1)), size, own.a.data() + which * size);
      std::copy_n(of(c_, which * (planes_ - 1)), size, own.c.data() + which * size);
    }
    const auto coefficients_of = [&](int rank) {
      return pencil::PlaneCoefficients(matrix_, planes_of_(rank), sweep_, identity_, laplacian_);
    };
    ends_.set(own, coefficients_of, identity_ == 0.0);
  }

  // Loop over the right-hand sides of a plane.
  template <class Body, class... Plane>
  void for_each(const Body& body, const Plane*... coefficients) {
    pencil::for_each_line(lines_, {0, lines_.rows}, matrices_, body, coefficients...);
  }
  void eliminate(int n, double* d, const double* before) {
    const double A = n >= 2 ? coefficients_.before[n] : 0.0;
    for_each([=](std::ptrdiff_t i, double r) { d[i] = r * (d[i] - A * before[i]); }, of(r_, n));
  }
  void reduce(int n, double* d, const double* after) {
    const double C = coefficients_.after[n];
    if (n > 0) for_each([=](std::ptrdiff_t i, double r) { d[i] -= r * C * after[i]; }, of(r_, n));
    else
      for_each([=](std::ptrdiff_t i, double r,
                   double scale) { d[i] = scale * (d[i] - r * C * after[i]); },
               of(r_, 0), first_.data());
  }
  void reconstruct(int n, double* d) {
    const double *first = ends_(0), *last = ends_(1);
    for_each([=](std::ptrdiff_t i, double a, double c) { d[i] -= a * first[i] + c * last[i]; },
             of(a_, n), of(c_, n));
  }

  PtdmaAlgorithm algorithm_;
  pencil::Sweep sweep_;
  int planes_, rank_;
  std::function<pencil::Range(int)> planes_of_;
  pencil::Lines lines_;
  Matrices matrices_;
  pencil::TridiagonalMatrix matrix_;
  double identity_ = 0.0, laplacian_ = 1.0;
  pencil::PlaneCoefficients coefficients_;
  pencil::Buffer r_, a_, c_;  // [plane][coefficient]
  pencil::Buffer first_;      // scale factor of plane 0
  pencil::EndPlanes<Matrices> ends_;
};

}  // namespace octant::bench
