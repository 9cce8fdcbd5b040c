// Sweeps of gas with radiation.
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

struct RealScheme {
  Integrator integrator;
  const char* reconstruction;
};
constexpr RealScheme k_real_schemes[] = {{Integrator::muscl_hancock, "plm"},
                                         {Integrator::muscl_hancock, "ppm"},
                                         {Integrator::rk2, "plm"},
                                         {Integrator::rk3, "ppm"}};
constexpr double k_pressure_at_rest = 20.0, k_velocity = 3.0;

// Mean errors of pressure and velocity, relative to their values, after gas of uniform pressure and
// velocity has moved by 0.3.
std::array<double, 2> errors_of_moving(const RealScheme& scheme, int cells,
                                       const std::function<double(double)>& density) {
  HydroOptions options;
  options.integrator = scheme.integrator;
  options.reconstruction = scheme.reconstruction;
  options.gamma = 5.0 / 3.0;
  options.dimensions = 1;
  options.eos.kind = EquationOfState::gas_radiation;
  options.eos.radiation_constant = 1.0;
  const Gas gas = options.gas();
  UniformBlocks box(options, {{cells, 8, 8}, 8, 8});
  box.set([&](double x, double, double) {
    const double rho = density(x);
    const double thermal = real_thermal_pressure(rho, k_pressure_at_rest, gas.real);
    return std::array{rho, k_velocity, 0.0, 0.0, thermal};
  });
  box.run_until(0.3 / k_velocity, 0.8);
  double pressure = 0.0, velocity = 0.0;
  for (int x = 0; x < cells; ++x) {
    const double rho = box.at(k_mass, x, 0, 0), u = box.at(k_momentum_x, x, 0, 0) / rho;
    const double thermal = (options.gamma - 1.0) * (box.at(k_energy, x, 0, 0) - 0.5 * rho * u * u);
    const double found = real_pressure(rho, thermal, 0.0, gas.real);
    pressure += std::abs(found / k_pressure_at_rest - 1.0) / cells;
    velocity += std::abs(u / k_velocity - 1.0) / cells;
  }
  return {pressure, velocity};
}

// The pressure of a mixture of two densities at one pressure differs from that of its parts, so
// that no conservative scheme keeps it exactly.
TEST(RealSweep, converges_behind_contacts) {
  const auto contacts = [](double x) { return std::abs(x - 0.35) < 0.15 ? 1.5 : 0.05; };
  for (const RealScheme& scheme : k_real_schemes) {
    const auto coarse = errors_of_moving(scheme, 64, contacts);
    const auto fine = errors_of_moving(scheme, 128, contacts);
    // 0.0009 and 0.003 with the energy ratio of the cell at its faces.
    EXPECT_LE(coarse[0], 2e-4) << scheme.reconstruction;
    EXPECT_LE(coarse[1], 1.5e-4) << scheme.reconstruction;
    EXPECT_GE(std::log2(coarse[0] / fine[0]), 0.6)
        << scheme.reconstruction << ' ' << coarse[0] << ' ' << fine[0];
  }
}

TEST(RealSweep, converges_at_second_order_in_smooth_flow) {
  const auto wave = [](double x) { return 1.0 + 0.5 * std::sin(2.0 * std::numbers::pi * x); };
  for (const RealScheme& scheme : k_real_schemes) {
    const auto coarse = errors_of_moving(scheme, 64, wave);
    const auto fine = errors_of_moving(scheme, 128, wave);
    for (int n = 0; n < 2; ++n)
      EXPECT_GE(std::log2(coarse[n] / fine[n]), 1.9)
          << scheme.reconstruction << ' ' << coarse[n] << ' ' << fine[n];
  }
}

}  // namespace
}  // namespace octant::hydro::test
