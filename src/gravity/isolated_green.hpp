// The potential of a mass in one cell of an endless grid: the Green's function of isolated systems.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "pencil/fourier.hpp"

namespace octant::gravity {

// What a mode of f is multiplied by, where sum(neighbours) - 6 phi = f and phi = 0 at infinity.
// Modes are those of an array twice as long as the grid along each axis (pencil::Padding), with the
// kernel G(i - j) in it, wrapped around. The kernel is that of the 7-point Laplacian,
//
//   -G(x, y, z) = integral over t from 0 to infinity of  K_t(x) K_t(y) K_t(z),
//
// where K_t(n) = exp(-2 t) I_n(2 t) is how far a line's heat has spread after a time t (Glasser &
// Zucker 1977): as a sum over times, it is one of products of functions of one axis each, and so is
// its transform.
//
// A sum over a hundred times per mode costs as much as the transforms of a solve: sums are kept,
// one for all modes that differ in signs alone, or one or two numbers per cell of the grid.
class IsolatedGreen {
 public:
  explicit IsolatedGreen(const pencil::Cells& cells);

  // Fastest for one mode after the other along z.
  double operator()(const pencil::Mode& mode);

 private:
  using Factors = std::vector<std::vector<double>>;  // [wave number][time]

  std::vector<double> column(int x, int y) const;

  std::array<Factors, 3> factors_;
  std::unordered_map<std::int64_t, std::vector<double>> columns_;  // along z
  const double* present_ = nullptr;                                // column of the last mode
  int x_ = -1, y_ = 0;
};

}  // namespace octant::gravity
