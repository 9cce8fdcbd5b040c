// Algorithm 1 of the P-TDMA paper: matrix and right-hand side are reduced together, in every solve.
// Nothing is kept between solves but the memory of the coefficients. By one thread: it is here to
// be compared with. Internal to pencil/.
#pragma once

#include <cstddef>
#include <utility>

#include "pencil/buffer.hpp"
#include "pencil/lines.hpp"
#include "pencil/partition.hpp"

namespace octant::pencil {

// Planes are counted in the order of the sweep, 0 .. m - 1.
template <class Matrices>
class CyclicReduction {
 public:
  CyclicReduction(Matrices matrices, const Lines& lines, int planes)
      : matrices_(std::move(matrices)),
        lines_(lines),
        planes_(planes),
        a_(planes * matrices_.size()),
        c_(planes * matrices_.size()),
        factor_(3 * matrices_.size()) {}

  void set(const PlaneCoefficients& coefficients) { coefficients_ = coefficients; }

  // Plane n of the first loop; 0 <= n < m in ascending order.
  void eliminate(int n, double* d, const double* d_before) {
    const std::size_t size = matrices_.size();
    double *a = row(a_, n), *c = row(c_, n), *r = factor_.data(), *ra = r + size;
    const double A = coefficients_.before[n], C = coefficients_.after[n];
    const bool coupled = n >= 2;
    for (std::size_t l = 0; l < size; ++l) {
      const double b = coefficients_.diagonal[n] + coefficients_.shift_factor * matrices_.shift(l);
      r[l] = 1.0 / (coupled ? b - A * row(c_, n - 1)[l] : b);
      ra[l] = coupled ? A : 0.0;
      c[l] = r[l] * C;
      a[l] = coupled ? -r[l] * A * row(a_, n - 1)[l] : r[l] * A;
    }
    combine(d, coupled ? d_before : d, r, ra);
  }

  // Plane n of the second loop and, at n = 0, of what follows it; 0 <= n < m - 2 descending.
  void reduce(int n, double* d, const double* d_after) {
    const std::size_t size = matrices_.size();
    double *a = row(a_, n), *c = row(c_, n), *r = factor_.data(), *rc = r + size;
    const double *a_after = row(a_, n + 1), *c_after = row(c_, n + 1);
    for (std::size_t l = 0; l < size; ++l) {
      r[l] = n == 0 ? 1.0 / (1.0 - a_after[l] * c[l]) : 1.0;
      rc[l] = c[l];
      if (n > 0) a[l] -= c[l] * a_after[l];
      if (n == 0) a[l] *= r[l];
      c[l] = -r[l] * c[l] * c_after[l];
    }
    combine(d, d_after, r, rc);
  }

  // After both loops: the reduced rows of planes 0 and m - 1.
  EndCoefficients end_coefficients() const {
    const std::size_t size = matrices_.size();
    EndCoefficients ends{Buffer(2 * size), Buffer(2 * size)};
    for (const int end : {0, 1}) {
      const std::size_t from = end * (planes_ - 1) * size, to = end * size;
      std::copy_n(a_.data() + from, size, ends.a.data() + to);
      std::copy_n(c_.data() + from, size, ends.c.data() + to);
    }
    return ends;
  }

  // Step 3: plane 0 < n < m - 1 from planes 0 and m - 1.
  void reconstruct(int n, double* d, const double* first, const double* last) const {
    const std::size_t plane = n * matrices_.size();
    for_each_line(
        lines_, {0, lines_.rows}, matrices_,
        [=](std::ptrdiff_t i, double a, double c) { d[i] -= a * first[i] + c * last[i]; },
        a_.data() + plane, c_.data() + plane);
  }

 private:
  double* row(Buffer& buffer, int n) { return buffer.data() + n * matrices_.size(); }

  // d <- r (d - s other)
  void combine(double* d, const double* other, const double* r_all, const double* s_all) const {
    for_each_line(
        lines_, {0, lines_.rows}, matrices_,
        [=](std::ptrdiff_t i, double r, double s) { d[i] = r * (d[i] - s * other[i]); }, r_all,
        s_all);
  }

  Matrices matrices_;
  Lines lines_;
  int planes_;
  PlaneCoefficients coefficients_;
  Buffer a_, c_;   // [plane][coefficient]
  Buffer factor_;  // of one plane
};

}  // namespace octant::pencil
