// First- and second-order Lagrangian perturbation theory (Bouchet, Colombi, Hivon & Juszkiewicz
// 1995, A&A 296, 575): displacements and velocities of matter on a periodic grid.
//
// A particle that starts at q is at x = q + D1 psi1(q) + D2 psi2(q), where psi1 = -grad phi1, psi2
// = grad phi2 and, with the linear overdensity delta at D1 = 1,
//   laplacian(phi1) = delta,
//   laplacian(phi2) = sum over i < j of (d_i d_i phi1 d_j d_j phi1 - (d_i d_j phi1)^2).
#pragma once

#include <complex>
#include <functional>
#include <span>
#include <vector>

#include "cosmology/expansion.hpp"
#include "pencil/fourier.hpp"

namespace octant::cosmology {

// Order of Lagrangian perturbation theory: 1LPT or 2LPT.
enum class LptOrder { first = 1, second = 2 };

// Rate a H in km/s per comoving Mpc/h.
double velocity_rate(const Background& background, double a);

// Fields of this rank's x-pencil, [z][y][x], at cell centres. Every function is collective over the
// grid's ranks; results are bitwise independent of the number of ranks.
//
// Odd derivatives omit Nyquist modes along their axis. Second-order products are formed on the grid
// itself without dealiasing: the aliases are smaller than the first-order displacements by a factor
// of the rms overdensity. Memory: about six numbers per cell.
class LagrangianFields {
 public:
  // Overdensity at D1 = 1, cell by cell, or mode by mode: the coefficient of an unscaled transform
  // of the cells' values for a mode of wave number k in h/Mpc. The mean is dropped. The box is
  // given in Mpc/h along x; cells are cubes.
  using Mode = pencil::Mode;
  using Coefficient = std::function<std::complex<double>(const Mode&, double k)>;
  LagrangianFields(const pencil::PencilGrid& grid, double box, std::span<const double> overdensity,
                   LptOrder order = LptOrder::second);
  LagrangianFields(const pencil::PencilGrid& grid, double box, const Coefficient& overdensity,
                   LptOrder order = LptOrder::second);

  // Linear overdensity d1 delta.
  std::vector<double> overdensity(double d1);
  // Displacement along one axis, 0 to 2, in comoving Mpc/h.
  std::vector<double> displacement(int axis, const Growth& growth);
  // Peculiar velocity in km/s: rate (f1 D1 psi1 + f2 D2 psi2) with f = d ln D / d ln a and the
  // rate of velocity_rate().
  std::vector<double> velocity(int axis, const Growth& growth, double rate);

 private:
  using Complex = std::complex<double>;

  LagrangianFields(const pencil::PencilGrid& grid, double box);
  void solve(LptOrder order);
  double wave_number(int mode, int axis) const;
  double odd_wave_number(int mode, int axis) const;  // 0 for the Nyquist mode
  double squared_wave_number(const Mode& mode) const;
  std::vector<Complex> spectrum(std::span<const double> values);
  std::vector<double> tidal_field(int i, int j);  // d_i d_j phi1
  std::vector<double> second_order_source();
  // Weighted sum of the first- and second-order displacements.
  std::vector<double> displaced(int axis, double first, double second);
  // Transforms modes back to a field; `coefficient(mode, n)` returns the coefficient of a
  // mode, the n-th of this rank.
  std::vector<double> field(const std::function<Complex(const Mode&, std::size_t)>& coefficient);

  pencil::Cells cells_;
  double spacing_;  // Mpc/h
  std::size_t own_cells_;
  pencil::PeriodicFourier fourier_;
  std::vector<Complex> first_,
      second_;  // coefficients of delta and of laplacian(phi2), in the order of for_each_mode()
};

}  // namespace octant::cosmology
