// Sweeps of isothermal gas, with sound speeds that are uniform and that vary.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

struct IsothermalScheme {
  Integrator integrator;
  const char* reconstruction;
};
constexpr IsothermalScheme k_isothermal_schemes[] = {{Integrator::muscl_hancock, "plm"},
                                                     {Integrator::muscl_hancock, "ppm"},
                                                     {Integrator::rk2, "plm"},
                                                     {Integrator::rk3, "ppm"}};

HydroOptions options_of(const IsothermalScheme& scheme, EquationOfState kind) {
  HydroOptions options;
  options.integrator = scheme.integrator;
  options.reconstruction = scheme.reconstruction;
  options.eos.kind = kind;
  options.eos.sound_speed = 1.0;
  return options;
}

// Sound speed c^2 = 1 / R with the distance R from an axis along z through (-1, 0.5).
HydroOptions cooler_outside(const IsothermalScheme& scheme) {
  HydroOptions options = options_of(scheme, EquationOfState::locally_isothermal);
  options.eos.profile = {.exponent = -0.5, .centre = {-1.0, 0.5, 0.0}, .weight = {1.0, 1.0, 0.0}};
  return options;
}

// Largest velocity, and relative error of the density, in the middle of gas at rest with
// c^2 = 1 / (1 + x) and an acceleration g = -1.5 along x, so that
//   c^2 rho = exp(g ((1 + x)^2 - 1) / 2).
// The gas is not in equilibrium at the ends, whose waves do not reach the middle.
std::array<double, 2> errors_at_rest(const IsothermalScheme& scheme, int cells) {
  constexpr double g = -1.5, end = 0.1;
  HydroOptions options = cooler_outside(scheme);
  options.eos.profile.weight[1] = 0.0;
  options.dimensions = 1;
  options.acceleration = {g, 0.0, 0.0};
  const BoxShape shape{{cells, 8, 8}, 8, 8};
  UniformBlocks box(options, shape);
  const auto density = [](double x) {
    const double R = 1.0 + x;
    return R * std::exp(g * (R * R - 1.0) / 2.0);
  };
  box.set([&](double x, double, double) {
    return std::array{density(x), 0.0, 0.0, 0.0, density(x) / (1.0 + x)};
  });
  box.run_until(end, 0.5);
  double fastest = 0.0, error = 0.0;
  for (int x = cells / 4; x < 3 * cells / 4; ++x) {
    const double rho = box.at(k_mass, x, 0, 0), exact = density((x + 0.5) / cells);
    fastest = std::max(fastest, std::abs(box.at(k_momentum_x, x, 0, 0) / rho));
    error = std::max(error, std::abs(rho / exact - 1.0));
  }
  return {fastest, error};
}

TEST(IsothermalSweep, keeps_gas_of_varying_temperature_at_rest_to_second_order) {
  for (const IsothermalScheme& scheme : k_isothermal_schemes) {
    const auto coarse = errors_at_rest(scheme, 32), fine = errors_at_rest(scheme, 64);
    for (int n = 0; n < 2; ++n) {
      EXPECT_LE(fine[n], 1e-4) << scheme.reconstruction;
      EXPECT_GE(std::log2(coarse[n] / fine[n]), 1.8)
          << scheme.reconstruction << ' ' << coarse[n] << ' ' << fine[n];
    }
  }
}

TEST(IsothermalSweep, has_the_bits_of_uniform_gas_if_the_exponent_is_zero) {
  const BoxShape shape{{16, 16, 16}, 8, 8};
  for (const IsothermalScheme& scheme : k_isothermal_schemes) {
    UniformBlocks a(options_of(scheme, EquationOfState::isothermal), shape);
    UniformBlocks b(options_of(scheme, EquationOfState::locally_isothermal), shape);
    for (UniformBlocks* box : {&a, &b}) {
      box->set(stirred);
      for (int n = 0; n < 3; ++n) box->step(5e-3);
    }
    EXPECT_EQ(a.values(k_hydro_variables), b.values(k_hydro_variables));
  }
}

TEST(IsothermalSweep, conserves_mass_momentum_and_energy) {
  const BoxShape shape{{16, 16, 16}, 8, 8};
  for (const IsothermalScheme& scheme : k_isothermal_schemes) {
    UniformBlocks box(options_of(scheme, EquationOfState::isothermal), shape);
    box.set(stirred);
    const auto sum = [&](int n) {
      long double total = 0;
      box.for_cells([&](int x, int y, int z) { total += box.at(n, x, y, z); });
      return static_cast<double>(total);
    };
    std::array<double, k_hydro_variables> before;
    for (int n = 0; n < k_hydro_variables; ++n) before[n] = sum(n);
    for (int n = 0; n < 3; ++n) box.step(5e-3);
    for (int n = 0; n < k_hydro_variables; ++n)
      EXPECT_NEAR(sum(n), before[n], 1e-13 * before[k_energy]) << n;
  }
}

TEST(IsothermalSweep, does_not_depend_on_block_size_and_tiles) {
  for (const IsothermalScheme& scheme : k_isothermal_schemes) {
    std::vector<double> expected;
    for (const BoxShape& shape : {BoxShape{{16, 16, 16}, 8, 8}, BoxShape{{16, 16, 16}, 4, 8},
                                  BoxShape{{16, 16, 16}, 16, 16}}) {
      UniformBlocks box(cooler_outside(scheme), shape);
      box.set(stirred);
      for (int n = 0; n < 3; ++n) box.step(5e-3);
      if (expected.empty()) expected = box.values(k_hydro_variables);
      EXPECT_EQ(box.values(k_hydro_variables), expected) << scheme.reconstruction;
    }
  }
}

}  // namespace
}  // namespace octant::hydro::test
