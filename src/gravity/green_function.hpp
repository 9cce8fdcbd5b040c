// Factors of the base level's Fourier modes: the Green functions of periodic and of isolated
// systems, and a transfer function from a file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/number_file.hpp"
#include "gravity/gravity_options.hpp"
#include "pencil/fourier.hpp"

namespace octant::gravity {

// Factor of a mode of f in a periodic domain, where laplacian(phi) h^2 = f; 0 for the mean.
class GreenFunction {
 public:
  GreenFunction(const pencil::Cells& cells, double cell_size, Laplacian laplacian);

  double operator()(const pencil::Mode& mode) const {
    const double eigenvalue = along(0, mode.x) + along(1, mode.y) + along(2, mode.z);
    return eigenvalue < 0.0 ? 1.0 / eigenvalue : 0.0;
  }
  // Wavenumber 2 pi / wavelength.
  double wave_number(const pencil::Mode& mode) const;

 private:
  double along(int axis, int n) const { return eigenvalues_[axis][n < 0 ? -n : n]; }

  std::array<std::vector<double>, 3> eigenvalues_;  // eigenvalues times h^2, for modes 0 .. n/2
  std::array<double, 3> fundamental_;
};

// Factor of a mode of f, where sum(neighbours) - 6 phi = f and phi = 0 at infinity. Modes are those
// of an array twice as long as the grid along each axis (pencil::Padding), which holds the kernel
// G(i - j), wrapped around. The kernel is that of the 7-point Laplacian,
//
//   -G(x, y, z) = integral over t from 0 to infinity of  K_t(x) K_t(y) K_t(z),
//
// where K_t(n) = exp(-2 t) I_n(2 t) is the heat kernel on a line at time t (Glasser & Zucker 1977).
// Quadrature in t makes the kernel and its transform sums of products of one-dimensional functions.
//
// A sum over a hundred times for each mode costs as much as the transforms of a solve. Sums are
// stored, one for all modes that differ only in signs: one or two numbers per cell of the grid.
class IsolatedGreen {
 public:
  explicit IsolatedGreen(const pencil::Cells& cells);

  // Returns the factor of a mode. Fast if consecutive calls are for modes along z.
  double operator()(const pencil::Mode& mode);

 private:
  using Factors = std::vector<std::vector<double>>;  // [wavenumber][time]

  std::vector<double> column(int x, int y) const;

  std::array<Factors, 3> factors_;
  std::unordered_map<std::int64_t, std::vector<double>> columns_;  // columns along z
  const double* present_ = nullptr;                                // column of the last mode
  int x_ = -1, y_ = 0;
};

// Transfer factors by wavenumber and scale factor, from a file with numbers separated by blanks or
// commas. '#' begins a comment. The first line has ascending scale factors. Every following line
// has a wavenumber, ascending from line to line, and one factor per scale factor.
class TransferTable {
 public:
  // Wavenumbers in the file are in units of `unit`. Throws InputError with file and line.
  TransferTable(const std::string& path, double unit, const TextReader& read_text);

  // Returns the factor for k > 0: linear in log k and a between entries, constant beyond the table.
  double operator()(double k, double a) const;

 private:
  std::vector<double> scale_factors_, log_k_;
  std::vector<std::vector<double>> factors_;  // [wavenumber][scale factor]
};

}  // namespace octant::gravity
