#include "cosmology/lagrangian.hpp"

#include <cmath>
#include <numbers>

#include "core/error.hpp"

namespace octant::cosmology {

double velocity_rate(const Background& background, double a) {
  return 100.0 * a * background.hubble(a);
}

LagrangianFields::LagrangianFields(const pencil::PencilGrid& grid, double box)
    : cells_(grid.cells()),
      spacing_(box / grid.cells()[0]),
      own_cells_(static_cast<std::size_t>(grid.box(pencil::Orientation::x).cells())),
      fourier_(grid) {}

LagrangianFields::LagrangianFields(const pencil::PencilGrid& grid, double box,
                                   std::span<const double> overdensity, LptOrder order)
    : LagrangianFields(grid, box) {
  OCTANT_REQUIRE(overdensity.size() == own_cells_, "{} values were given for {} cells",
                 overdensity.size(), own_cells_);
  first_ = spectrum(overdensity);
  solve(order);
}

LagrangianFields::LagrangianFields(const pencil::PencilGrid& grid, double box,
                                   const Coefficient& overdensity, LptOrder order)
    : LagrangianFields(grid, box) {
  first_.reserve(own_cells_ / 2 + own_cells_ / 16);
  fourier_.for_each_mode([&](const Mode& mode, Complex&) {
    const double k = std::sqrt(squared_wave_number(mode));
    first_.push_back(k == 0.0 ? Complex{} : overdensity(mode, k));
  });
  solve(order);
}

void LagrangianFields::solve(LptOrder order) {
  if (order == LptOrder::second) second_ = spectrum(second_order_source());
}

double LagrangianFields::wave_number(int mode, int axis) const {
  return 2.0 * std::numbers::pi * mode / (cells_[axis] * spacing_);
}

double LagrangianFields::odd_wave_number(int mode, int axis) const {
  return 2 * mode == cells_[axis] ? 0.0 : wave_number(mode, axis);
}

double LagrangianFields::squared_wave_number(const Mode& mode) const {
  const double x = wave_number(mode.x, 0), y = wave_number(mode.y, 1), z = wave_number(mode.z, 2);
  return x * x + y * y + z * z;
}

std::vector<std::complex<double>> LagrangianFields::spectrum(std::span<const double> values) {
  std::vector<Complex> coefficients;
  coefficients.reserve(own_cells_ / 2 + own_cells_ / 16);
  fourier_.forward(values.data());
  fourier_.for_each_mode([&](const Mode& mode, Complex& coefficient) {
    const bool is_mean = mode.x == 0 && mode.y == 0 && mode.z == 0;
    coefficients.push_back(is_mean ? Complex{} : coefficient);
  });
  return coefficients;
}

std::vector<double> LagrangianFields::field(
    const std::function<Complex(const Mode&, std::size_t)>& coefficient) {
  std::size_t n = 0;
  fourier_.for_each_mode([&](const Mode& mode, Complex& value) { value = coefficient(mode, n++); });
  std::vector<double> values(own_cells_);
  fourier_.backward(values.data());
  return values;
}

std::vector<double> LagrangianFields::tidal_field(int i, int j) {
  return field([&](const Mode& mode, std::size_t n) {
    const int modes[3] = {mode.x, mode.y, mode.z};
    const double square = squared_wave_number(mode);
    if (square == 0.0) return Complex{};
    const double product = i == j ? std::pow(wave_number(modes[i], i), 2)
                                  : odd_wave_number(modes[i], i) * odd_wave_number(modes[j], j);
    return first_[n] * (product / square);
  });
}

// Source 1/2 ((laplacian phi1)^2 - sum over i and j of (d_i d_j phi1)^2), which needs one second
// derivative in memory at a time.
std::vector<double> LagrangianFields::second_order_source() {
  std::vector<double> source = overdensity(1.0);
  for (double& value : source) value *= 0.5 * value;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const std::vector<double> tide = tidal_field(i, j);
      const double weight = i == j ? 0.5 : 1.0;
      for (std::size_t n = 0; n < source.size(); ++n) source[n] -= weight * tide[n] * tide[n];
    }
  return source;
}

std::vector<double> LagrangianFields::overdensity(double d1) {
  return field([&](const Mode&, std::size_t n) { return d1 * first_[n]; });
}

// Displacements psi1 = i k delta / k^2 and psi2 = -i k laplacian(phi2) / k^2.
std::vector<double> LagrangianFields::displaced(int axis, double first, double second) {
  return field([&](const Mode& mode, std::size_t n) {
    const int modes[3] = {mode.x, mode.y, mode.z};
    const double square = squared_wave_number(mode);
    if (square == 0.0) return Complex{};
    Complex sum = first * first_[n];
    if (!second_.empty()) sum -= second * second_[n];
    return Complex(0.0, odd_wave_number(modes[axis], axis) / square) * sum;
  });
}

std::vector<double> LagrangianFields::displacement(int axis, const Growth& growth) {
  return displaced(axis, growth.first, growth.second);
}

std::vector<double> LagrangianFields::velocity(int axis, const Growth& growth, double rate) {
  return displaced(axis, rate * growth.first_rate * growth.first,
                   rate * growth.second_rate * growth.second);
}

}  // namespace octant::cosmology
