#include "cosmology/lagrangian.hpp"

#include <cmath>
#include <numbers>

#include "core/error.hpp"

namespace octant::cosmology {

using pencil::Mode;

LagrangianFields::LagrangianFields(const pencil::PencilGrid& grid, double box,
                                   std::span<const double> values, const Filter& filter,
                                   LagrangianOrder order)
    : cells_(grid.cells()),
      spacing_(box / grid.cells()[0]),
      own_cells_(static_cast<std::size_t>(grid.box(pencil::Orientation::x).cells())),
      fourier_(grid) {
  OCTANT_REQUIRE(values.size() == own_cells_, "{} values were given for {} cells", values.size(),
                 own_cells_);
  first_ = spectrum(values, filter);
  if (order == LagrangianOrder::second)
    second_ = spectrum(second_order_source(), [](double) { return 1.0; });
}

double LagrangianFields::wave_number(int mode, int axis) const {
  return 2.0 * std::numbers::pi * mode / (cells_[axis] * spacing_);
}

double LagrangianFields::odd_wave_number(int mode, int axis) const {
  return 2 * mode == cells_[axis] ? 0.0 : wave_number(mode, axis);
}

std::vector<std::complex<double>> LagrangianFields::spectrum(std::span<const double> values,
                                                             const Filter& filter) {
  std::vector<Complex> coefficients;
  fourier_.forward(values.data());
  fourier_.for_each_mode([&](const Mode& mode, Complex& coefficient) {
    const double kx = wave_number(mode.x, 0), ky = wave_number(mode.y, 1),
                 kz = wave_number(mode.z, 2);
    const double k = std::sqrt(kx * kx + ky * ky + kz * kz);
    coefficients.push_back(k == 0.0 ? Complex{} : coefficient * filter(k));
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
    double square = 0.0;
    for (int axis = 0; axis < 3; ++axis) square += std::pow(wave_number(modes[axis], axis), 2);
    if (square == 0.0) return Complex{};
    const double product = i == j ? std::pow(wave_number(modes[i], i), 2)
                                  : odd_wave_number(modes[i], i) * odd_wave_number(modes[j], j);
    return first_[n] * (product / square);
  });
}

// 1/2 ((laplacian phi1)^2 - sum over i and j of (d_i d_j phi1)^2), so that one second derivative is
// held at a time.
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

// psi1 = i k delta / k^2 and psi2 = -i k laplacian(phi2) / k^2.
std::vector<double> LagrangianFields::displaced(int axis, double first, double second) {
  return field([&](const Mode& mode, std::size_t n) {
    const int modes[3] = {mode.x, mode.y, mode.z};
    double square = 0.0;
    for (int d = 0; d < 3; ++d) square += std::pow(wave_number(modes[d], d), 2);
    if (square == 0.0) return Complex{};
    Complex sum = first * first_[n];
    if (!second_.empty()) sum -= second * second_[n];
    return Complex(0.0, odd_wave_number(modes[axis], axis) / square) * sum;
  });
}

std::vector<double> LagrangianFields::displacement(int axis, const LagrangianGrowth& growth) {
  return displaced(axis, growth.d1, growth.d2);
}

std::vector<double> LagrangianFields::velocity(int axis, const LagrangianGrowth& growth) {
  return displaced(axis, growth.rate * growth.f1 * growth.d1, growth.rate * growth.f2 * growth.d2);
}

}  // namespace octant::cosmology
