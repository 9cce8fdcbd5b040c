// Thomas' algorithm for the lines of a batch, one plane at a time. Internal to pencil/.
#pragma once

#include <cstddef>

#include "pencil/buffer.hpp"
#include "pencil/lines.hpp"

namespace octant::pencil {

// Planes are counted in the order of the sweep: 0 is eliminated first.
template <class Matrices>
class Thomas {
 public:
  // `singular`: a homogeneous matrix of line 0 of row 0 is, for which the last unknown is 0.
  Thomas(Matrices matrices, const Lines& lines, int planes, bool singular)
      : matrices_(std::move(matrices)),
        lines_(lines),
        singular_(singular),
        reciprocal_(planes * matrices_.size()) {}

  void set(const PlaneCoefficients& coefficients) {
    coefficients_ = coefficients;
    ready_ = 0;
  }

  // d_n <- (d_n - before_n d_(n-1)) / pivot_n. In ascending order of n.
  void eliminate(int n, double* d, const double* d_before) {
    if (n == ready_) make_reciprocals(n);
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      eliminate_row(n, row, width, d + at, d_before + at);
    });
  }

  // solution_n = d_n - after_n / pivot_n solution_(n+1). In descending order of n.
  void substitute(int n, double* solution, const double* d, const double* solution_after) const {
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      substitute_row(n, row, width, solution + at, d + at, solution_after + at);
    });
  }

  // Both for all planes, row by row: a row of all planes fits the cache.
  void solve(const SweptPlanes& plane) {
    const int planes = coefficients_.planes();
    while (ready_ < planes) make_reciprocals(ready_);
    for_each_row(lines_, [&](int row, std::ptrdiff_t at, auto width) {
      for (int n = 0; n < planes; ++n)
        eliminate_row(n, row, width, plane(n) + at, plane(n == 0 ? 0 : n - 1) + at);
      for (int n = planes - 2; n >= 0; --n)
        substitute_row(n, row, width, plane(n) + at, plane(n) + at, plane(n + 1) + at);
    });
  }

  std::size_t bytes() const { return reciprocal_.size() * sizeof(double); }

 private:
  template <class Width>
  void eliminate_row(int n, int row, Width width, double* x, const double* y) const {
    const double a = n == 0 ? 0.0 : coefficients_.before[n];
    const auto r = matrices_.row(&reciprocal_.data()[n * matrices_.size()], row);
    if (n == 0) y = x;
#pragma omp simd
    for (int i = 0; i < width; ++i) x[i] = (x[i] - a * y[i]) * r[i];
  }
  template <class Width>
  void substitute_row(int n, int row, Width width, double* out, const double* x,
                      const double* y) const {
    if (n == coefficients_.planes() - 1) {
      if (out != x) std::copy_n(x, int{width}, out);
      return;
    }
    const double c = coefficients_.after[n];
    const auto r = matrices_.row(&reciprocal_.data()[n * matrices_.size()], row);
#pragma omp simd
    for (int i = 0; i < width; ++i) out[i] = x[i] - c * r[i] * y[i];
  }

  void make_reciprocals(int n) {
    const std::size_t size = matrices_.size();
    double* r = &reciprocal_.data()[n * size];
    const double diagonal = coefficients_.diagonal[n], factor = coefficients_.shift_factor;
    if (n == 0) {
      for (std::size_t l = 0; l < size; ++l) r[l] = 1.0 / (diagonal + factor * matrices_.shift(l));
    } else {
      const double product = coefficients_.before[n] * coefficients_.after[n - 1];
      const double* r_before = r - size;
      for (std::size_t l = 0; l < size; ++l)
        r[l] = 1.0 / (diagonal + factor * matrices_.shift(l) - product * r_before[l]);
    }
    if (singular_ && coefficients_.homogeneous && n == coefficients_.planes() - 1)
      r[matrices_.place(0, 0)] = 0.0;
    ready_ = n + 1;
  }

  Matrices matrices_;
  Lines lines_;
  bool singular_;
  PlaneCoefficients coefficients_;
  Buffer reciprocal_;  // [plane][coefficient]
  int ready_ = 0;      // planes whose reciprocals are made
};

}  // namespace octant::pencil
