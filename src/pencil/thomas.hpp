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
    const double a = n == 0 ? 0.0 : coefficients_.before[n];
    const double* reciprocals = &reciprocal_.data()[n * matrices_.size()];
    if (n == 0) d_before = d;
    for_each_chunk(lines_, [&](int chunk, std::ptrdiff_t at, auto width) {
      double* x = d + at;
      const double* y = d_before + at;
      const auto r = matrices_.chunk(reciprocals, chunk);
#pragma omp simd
      for (int i = 0; i < width; ++i) x[i] = (x[i] - a * y[i]) * r[i];
    });
  }

  // solution_n = d_n - after_n / pivot_n solution_(n+1), in two places. In descending order of n.
  void substitute(int n, double* solution, double* copy, const double* d,
                  const double* solution_after) const {
    const bool last = n == coefficients_.planes() - 1;
    if (last && solution == d && copy == d) return;
    const double c = last ? 0.0 : coefficients_.after[n];
    const double* reciprocals = &reciprocal_.data()[n * matrices_.size()];
    for_each_chunk(lines_, [&](int chunk, std::ptrdiff_t at, auto width) {
      const double *x = d + at, *y = solution_after + at;
      double *out = solution + at, *again = copy + at;
      const auto r = matrices_.chunk(reciprocals, chunk);
      if (last) {
        if (out != x) std::copy_n(x, int{width}, out);
        if (again != x) std::copy_n(x, int{width}, again);
        return;
      }
#pragma omp simd
      for (int i = 0; i < width; ++i) out[i] = again[i] = x[i] - c * r[i] * y[i];
    });
  }

  std::size_t bytes() const { return reciprocal_.size() * sizeof(double); }

 private:
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
