// The planes of one rank, reduced to the two at their ends (P-TDMA). Internal to pencil/.
//
// Planes are counted in the order of the sweep, 0 .. m - 1. Without the couplings to plane 0, the
// rows 1 .. m - 1 are eliminated as in Thomas' algorithm; each row n keeps a fill-in f_n that
// multiplies plane 0:
//
//   b_n phi_n + a_n phi_0 + C_n phi_(n+1) = d'_n,   a_n = -A_n a_(n-1) / b_(n-1),  f_n = a_n / b_n.
//
// The paper's algorithm 2 then sweeps back, so that the rows couple to planes 0 and m - 1 alone.
// Here the reduced right-hand side of plane 0 is gathered as a weighted sum of the d'_n during the
// first sweep, so that planes 0 and m - 1 are known before the way back, where the others follow:
//
//   phi_n = (d'_n - C_n phi_(n+1)) / b_n - f_n phi_0.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

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
  // m >= 2 planes.
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

  void set(const PlaneCoefficients& coefficients) {
    coefficients_ = coefficients;
    eliminate_matrices();
    for (Weights& weights : weights_) weights.plane = 0;
    reduce_matrices();
  }
  const EndCoefficients& end_coefficients() const { return ends_; }

  // First sweep, n = 1 .. m - 1 in ascending order; plane 0 is left as it is. `first` gathers what
  // the others add to the reduced right-hand side of plane 0.
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

  // Right-hand side of the reduced row of plane n (0 or m - 1) from its plane.
  void scale(const Team& team, int n, double* end, const double* d) const {
    for_each_line(
        lines_, lines_.share(team), matrices_,
        [=](std::ptrdiff_t i, double r) { end[i] = d[i] * r; }, plane(reciprocal_, n));
  }

  // The same where the row has gathered what other planes add.
  void add_and_scale(const Team& team, int n, double* end, const double* d) const {
    for_each_line(
        lines_, lines_.share(team), matrices_,
        [=](std::ptrdiff_t i, double r) { end[i] = (end[i] + d[i]) * r; }, plane(reciprocal_, n));
  }

  // Second sweep: planes n = m - 2 .. 1 in descending order from planes n + 1 and 0, in two places.
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

  // Rows 1 .. m - 1 downwards. The weights serve as a_n.
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

  // Then upwards, so that rows m - 2 .. 1 couple to planes 0 and m - 1, and row 1 into row 0. What
  // the ends' coefficients hold on the way is a_n / b_n and c_n / b_n.
  void reduce_matrices() {
    const std::size_t size = matrices_.size();
    const auto& [before, diagonal, after, factor, homogeneous] = coefficients_;
    double *a = ends_.a.data(), *c = ends_.c.data(), *a_last = a + size, *c_last = c + size;
    const double *f_last = plane(fill_, planes_ - 1), *r_last = plane(reciprocal_, planes_ - 1);
    for (std::size_t l = 0; l < size; ++l) {
      a_last[l] = f_last[l];
      c_last[l] = after[planes_ - 1] * r_last[l];
    }
    for (int n = planes_ - 2; n >= 1; --n) {
      const double *r = plane(reciprocal_, n), *f = plane(fill_, n);
      const double C = after[n];
      const bool beside_last = n == planes_ - 2;
#pragma omp simd
      for (std::size_t l = 0; l < size; ++l) {
        a[l] = beside_last ? f[l] : f[l] - C * r[l] * a[l];
        c[l] = beside_last ? C * r[l] : -C * r[l] * c[l];
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

  // Each thread makes its own in every sweep: they are few, and need not be waited for.
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
  // Of d'_n in the reduced row of plane 0, for this n; 0: none.
  struct Weights {
    Buffer values;
    int plane = 0;
  };
  std::vector<Weights> weights_;  // by thread
};

}  // namespace octant::pencil
