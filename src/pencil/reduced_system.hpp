// The reduced system of P-TDMA: two planes per part, one diagonal of ones, solved on whole lines.
// Internal to pencil/.
#pragma once

#include <cstddef>
#include <utility>

#include "pencil/buffer.hpp"
#include "pencil/lines.hpp"

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

}  // namespace octant::pencil
