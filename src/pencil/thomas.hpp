// Thomas' algorithm for the lines of a batch, one plane at a time. Internal to pencil/.
#pragma once

#include <cstddef>
#include <utility>

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

  // The reciprocals of many matrices are made when their planes are prepared.
  void set(const PlaneCoefficients& coefficients) {
    coefficients_ = coefficients;
    made_.reset();
    if (matrices_.size() != 1) return;
    for (int n = 0; n < coefficients_.planes(); ++n) make_reciprocals(n, {0, 1});
    made_.reset(coefficients_.planes());
  }

  // To be called by all threads before plane n is eliminated, in ascending order of n.
  void prepare(const Team& team, int n) {
    if (!made_.takes_up(team, n)) return;
    make_reciprocals(n, team.share(static_cast<int>(matrices_.size())));
    team.barrier();
  }

  // The first sweep for some rows, in ascending order of n.
  void eliminate(Range rows, int n, double* result, const double* d, const double* before) const {
    const double a = n == 0 ? 0.0 : coefficients_.before[n];
    const double* reciprocals = &reciprocal_.data()[n * matrices_.size()];
    if (n == 0) before = d;
    for_each_line(
        lines_, rows, matrices_,
        [=](std::ptrdiff_t i, double r) { result[i] = eliminated(d[i], a, before[i], r); },
        reciprocals);
  }

  // The second one, whose solution goes to two places. In descending order of n.
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
    if (!singular_ || !coefficients_.homogeneous || n < coefficients_.planes() - 1) return;
    const auto first = static_cast<int>(matrices_.place(0, 0));
    if (lines.contains(first)) r[first] = 0.0;
  }

  Matrices matrices_;
  Lines lines_;
  bool singular_;
  PlaneCoefficients coefficients_;
  Buffer reciprocal_;  // [plane][coefficient]
  PlanesMade made_;    // reciprocals
};

}  // namespace octant::pencil
