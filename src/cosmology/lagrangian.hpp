// Displacements and velocities of matter by Lagrangian perturbation theory of first and second
// order (Bouchet, Colombi, Hivon & Juszkiewicz 1995, A&A 296, 575) on a periodic grid.
//
// A particle from q is at x = q + D1 psi1(q) + D2 psi2(q), where psi1 = -grad phi1,
// psi2 = grad phi2 and, with the linear overdensity delta at D1 = 1,
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

enum class LagrangianOrder { first = 1, second = 2 };

// a H in km/s per comoving Mpc/h.
double velocity_rate(const Background& background, double a);

// The fields of this rank's x-pencil, [z][y][x], values at the cells' centres. Every function is
// collective over the grid's ranks; the bits do not depend on their number.
//
// Odd derivatives leave out modes of half the sampling rate along their axis, as they must. The
// products of second order are formed on the grid itself: their aliases, smaller than the
// first-order displacements by the rms overdensity, stay in.
//
// Memory: some six numbers per cell.
class LagrangianFields {
 public:
  // The overdensity at D1 = 1, cell by cell, or mode by mode: the coefficient that an unscaled
  // transform of the cells' values would give for a mode of wave number k in h/Mpc. Its mean is
  // dropped. The box is given in Mpc/h along x; cells are cubes.
  using Mode = pencil::Mode;
  using Coefficient = std::function<std::complex<double>(const Mode&, double k)>;
  LagrangianFields(const pencil::PencilGrid& grid, double box, std::span<const double> overdensity,
                   LagrangianOrder order = LagrangianOrder::second);
  LagrangianFields(const pencil::PencilGrid& grid, double box, const Coefficient& overdensity,
                   LagrangianOrder order = LagrangianOrder::second);

  // The linear overdensity d1 delta.
  std::vector<double> overdensity(double d1);
  // Along one axis, 0 to 2, in comoving Mpc/h.
  std::vector<double> displacement(int axis, const Growth& growth);
  // Peculiar velocity in km/s: rate (f1 D1 psi1 + f2 D2 psi2) with f = d ln D / d ln a and the
  // rate of velocity_rate().
  std::vector<double> velocity(int axis, const Growth& growth, double rate);

 private:
  using Complex = std::complex<double>;

  LagrangianFields(const pencil::PencilGrid& grid, double box);
  void solve(LagrangianOrder order);
  double wave_number(int mode, int axis) const;
  double odd_wave_number(int mode, int axis) const;  // 0 at half the sampling rate
  double squared_wave_number(const Mode& mode) const;
  std::vector<Complex> spectrum(std::span<const double> values);
  std::vector<double> tidal_field(int i, int j);  // d_i d_j phi1
  std::vector<double> second_order_source();
  // Sums of both orders' displacements with these weights.
  std::vector<double> displaced(int axis, double first, double second);
  // The field whose modes are `coefficient(mode, n)`, n counting this rank's modes.
  std::vector<double> field(const std::function<Complex(const Mode&, std::size_t)>& coefficient);

  pencil::Cells cells_;
  double spacing_;  // Mpc/h
  std::size_t own_cells_;
  pencil::PeriodicFourier fourier_;
  std::vector<Complex> first_, second_;  // delta and laplacian(phi2), in the order of visits
};

}  // namespace octant::cosmology
