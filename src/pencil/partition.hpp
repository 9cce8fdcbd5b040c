// The planes of one rank, reduced to the two at their ends: P-TDMA's algorithm 2, and the same
// factors in two sweeps. Internal to pencil/.
//
// Planes are counted in the order of the sweep, 0 .. m - 1. Without the couplings to plane 0, the
// rows 1 .. m - 1 are eliminated as in Thomas' algorithm; each row n keeps a fill-in f_n that
// multiplies plane 0:
//
//   b_n phi_n + a_n phi_0 + C_n phi_(n+1) = d'_n,   a_n = -A_n a_(n-1) / b_(n-1),  f_n = a_n / b_n.
//
// Algorithm 2 then sweeps back, so that the row couples to planes 0 and m - 1 alone. The two-sweep
// variant gathers the reduced right-hand side of plane 0 as a weighted sum of the d'_n during the
// first sweep; once planes 0 and m - 1 are known, the others follow by back-substitution:
//
//   phi_n = (d'_n - C_n phi_(n+1)) / b_n - f_n phi_0.
#pragma once

#include <cstddef>
#include <utility>

#include "pencil/buffer.hpp"
#include "pencil/lines.hpp"

namespace octant::pencil {

// a phi_(outside before) + phi_first + c phi_last = d, and likewise for the last plane with `a`
// multiplying the first one and `c` the one outside after it: [first, last][coefficient].
struct EndCoefficients {
  Buffer a, c;
};

template <class Matrices>
class Partition {
 public:
  // m >= 2 planes. Algorithm 2 needs two more coefficients per plane.
  Partition(Matrices matrices, const Lines& lines, int planes, bool algorithm_2)
      : matrices_(std::move(matrices)),
        lines_(lines),
        planes_(planes),
        reciprocal_(planes * matrices_.size()),
        fill_(planes * matrices_.size()),
        to_first_(algorithm_2 ? planes * matrices_.size() : 0),
        to_last_(algorithm_2 ? planes * matrices_.size() : 0),
        ends_{Buffer(2 * matrices_.size()), Buffer(2 * matrices_.size())},
        weight_(lines.plane_size()) {}

  void set(const PlaneCoefficients& coefficients) {
    coefficients_ = coefficients;
    for (std::size_t l = 0; l < matrices_.size(); ++l) factorise(l);
  }
  const EndCoefficients& end_coefficients() const { return ends_; }

  // First sweep, n = 1 .. m - 1 in ascending order (plane 0: n = 0, before all others). `first`
  // gathers the reduced right-hand side of plane 0 in the two-sweep variant.
  void eliminate(int n, double* d, const double* d_before, double* first, bool gather) {
    if (n == 0) {
      start(d, first, gather);
      return;
    }
    const double a = n == 1 ? 0.0 : coefficients_.before[n];
    const double c = n == planes_ - 1 ? 0.0 : coefficients_.after[n - 1];
    const double *r_n = plane(reciprocal_, n), *r_before = plane(reciprocal_, n - 1);
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      double *x = d + at, *w = weight_.data() + at, *sum = first + at;
      const double* y = d_before + at;
      const auto r = matrices_.row(r_n, row), q = matrices_.row(r_before, row);
      if (gather) {
#pragma omp simd
        for (int i = 0; i < width; ++i) {
          x[i] -= a * q[i] * y[i];
          w[i] *= -c * r[i];
          sum[i] += w[i] * x[i];
        }
      } else {
#pragma omp simd
        for (int i = 0; i < width; ++i) x[i] -= a * q[i] * y[i];
      }
    });
  }

  // Algorithm 2's second sweep, n = m - 3 .. 0 in descending order.
  void reduce(int n, double* d, const double* d_after) const {
    const double c = coefficients_.after[n];
    const double* r_after = plane(reciprocal_, n + 1);
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      double* x = d + at;
      const double* y = d_after + at;
      const auto r = matrices_.row(r_after, row);
#pragma omp simd
      for (int i = 0; i < width; ++i) x[i] -= c * r[i] * y[i];
    });
  }

  // Right-hand side of the reduced row of plane n (0 or m - 1) from its plane.
  void scale(int n, double* end, const double* d) const {
    const double* r_n = plane(reciprocal_, n);
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      double* out = end + at;
      const double* x = d + at;
      const auto r = matrices_.row(r_n, row);
#pragma omp simd
      for (int i = 0; i < width; ++i) out[i] = x[i] * r[i];
    });
  }

  // Two-sweep variant: planes n = m - 2 .. 1 in descending order from planes n + 1 and 0.
  void substitute(int n, double* solution, const double* d, const double* solution_after,
                  const double* first) const {
    const double c = coefficients_.after[n];
    const double *r_n = plane(reciprocal_, n), *f_n = plane(fill_, n);
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      double* out = solution + at;
      const double *x = d + at, *y = solution_after + at, *x0 = first + at;
      const auto r = matrices_.row(r_n, row), f = matrices_.row(f_n, row);
#pragma omp simd
      for (int i = 0; i < width; ++i) out[i] = (x[i] - c * y[i]) * r[i] - f[i] * x0[i];
    });
  }

  // Algorithm 2: plane 0 < n < m - 1 from planes 0 and m - 1.
  void reconstruct(int n, double* d, const double* first, const double* last) const {
    const double *a_n = plane(to_first_, n), *c_n = plane(to_last_, n);
    const double* r_n = plane(reciprocal_, n);
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      double* x = d + at;
      const double *x0 = first + at, *x1 = last + at;
      const auto r = matrices_.row(r_n, row), a = matrices_.row(a_n, row),
                 c = matrices_.row(c_n, row);
#pragma omp simd
      for (int i = 0; i < width; ++i) x[i] = (x[i] - a[i] * x0[i] - c[i] * x1[i]) * r[i];
    });
  }

  std::size_t bytes() const {
    return (2 * reciprocal_.size() + 2 * to_first_.size()) * sizeof(double);
  }

 private:
  const double* plane(const Buffer& buffer, int n) const {
    return buffer.data() + n * matrices_.size();
  }

  void start(const double* d, double* first, bool gather) {
    if (!gather) return;
    std::copy_n(d, lines_.plane_size(), first);
    std::fill_n(weight_.data(), lines_.plane_size(), 1.0);
  }

  // The steps of algorithm 2, "initialization", for one matrix.
  void factorise(std::size_t l) {
    const std::size_t size = matrices_.size();
    const int m = planes_;
    const auto& [before, diagonal, after, factor, homogeneous] = coefficients_;
    const double shift = factor * matrices_.shift(l);
    const auto r = [&](int n) -> double& { return reciprocal_.data()[n * size + l]; };
    const auto f = [&](int n) -> double& { return fill_.data()[n * size + l]; };

    double a = before[1];  // of the last row that was eliminated
    r(1) = 1.0 / (diagonal[1] + shift);
    f(1) = a * r(1);
    for (int n = 2; n < m; ++n) {
      a = -before[n] * a * r(n - 1);
      r(n) = 1.0 / (diagonal[n] + shift - before[n] * after[n - 1] * r(n - 1));
      f(n) = a * r(n);
    }
    // Rows m - 2 .. 1, so that they couple to planes 0 and m - 1; a_n and c_n are over b_n.
    double a_over_b = f(m - 1), c_over_b = after[m - 1] * r(m - 1);
    ends_.a.data()[size + l] = a_over_b;
    ends_.c.data()[size + l] = c_over_b;
    for (int n = m - 2; n >= 1; --n) {
      a_over_b = n == m - 2 ? f(n) : f(n) - after[n] * r(n) * a_over_b;
      c_over_b = n == m - 2 ? after[n] * r(n) : -after[n] * r(n) * c_over_b;
      keep(n, l, a_over_b / r(n), c_over_b / r(n));
    }
    const bool folded = m > 2;  // row 1 into row 0
    r(0) = 1.0 / (diagonal[0] + shift - (folded ? after[0] * a_over_b : 0.0));
    ends_.a.data()[l] = before[0] * r(0);
    ends_.c.data()[l] = (folded ? -after[0] * c_over_b : after[0]) * r(0);
  }

  void keep(int n, std::size_t l, double a, double c) {
    if (to_first_.size() == 0) return;
    to_first_.data()[n * matrices_.size() + l] = a;
    to_last_.data()[n * matrices_.size() + l] = c;
  }

  Matrices matrices_;
  Lines lines_;
  int planes_;
  PlaneCoefficients coefficients_;
  Buffer reciprocal_, fill_;   // 1 / b_n and f_n, [plane][coefficient]
  Buffer to_first_, to_last_;  // a_n and c_n of algorithm 2
  EndCoefficients ends_;
  Buffer weight_;  // of d'_n in the reduced row of plane 0
};

}  // namespace octant::pencil
