#include <cmath>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "problems/problem.hpp"
#include "tests/unit/problems/problem_fixture.hpp"

namespace octant::problems {
namespace {

TEST(Mixture, keeps_mass_momentum_and_energy) {
  GasState first, second;
  first.density = 2.0;
  first.velocity = {1.0, -3.0, 0.5};
  first.pressure = 0.3;
  second.density = 0.25;
  second.velocity = {-2.0, 1.0, 4.0};
  second.pressure = 7.0;
  const double gamma = 5.0 / 3.0, fraction = 0.3;
  const auto energy = [&](const GasState& gas) {
    const auto& v = gas.velocity;
    return gas.pressure / (gamma - 1.0) +
           0.5 * gas.density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  };
  const GasState mean = mixture(first, second, fraction, gamma);
  EXPECT_DOUBLE_EQ(mean.density, 0.3 * 2.0 + 0.7 * 0.25);
  EXPECT_DOUBLE_EQ(mean.density * mean.velocity[2], 0.3 * 2.0 * 0.5 + 0.7 * 0.25 * 4.0);
  EXPECT_DOUBLE_EQ(energy(mean), fraction * energy(first) + (1.0 - fraction) * energy(second));
}

TEST(Sod, states_meet_at_the_plane_along_the_chosen_axis) {
  const test::ReadyProblem ready(
      "sod", test::box(8, 0, mesh::Boundary::outflow, mesh::Boundary::outflow), "axis = \"y\"");
  ready.for_each_cell(0, [&](const GasState& gas, const Position& centre) {
    EXPECT_EQ(gas.density, centre[1] < 0.5 ? 1.0 : 0.125);
    EXPECT_EQ(gas.pressure, centre[1] < 0.5 ? 1.0 : 0.1);
  });
  EXPECT_EQ(ready.problem->inflow_state({1, 1, {}, 0.0}).density, 0.125);
}

TEST(Sod, mass_is_exact_when_the_plane_cuts_cells) {
  const test::ReadyProblem ready("sod", test::box(8, 0), "position = 0.3");
  double mass = 0.0;
  ready.for_each_cell(0, [&](const GasState& gas, const Position&) { mass += gas.density; });
  EXPECT_NEAR(mass * ready.geometry.cell_volume(0), 0.3 + 0.7 * 0.125, 1e-13);
}

TEST(Sod, a_negative_density_is_an_error) {
  EXPECT_THROW(test::ReadyProblem("sod", test::box(8, 0), "left = [-1.0, 0.0, 1.0]"), InputError);
}

TEST(Implosion, mass_is_exact_and_the_state_symmetric) {
  mesh::MeshOptions options =
      test::box(16, 0, mesh::Boundary::reflecting, mesh::Boundary::reflecting);
  options.base_cells = {16, 16, 4};
  options.upper = {0.3, 0.3, 0.075};
  const test::ReadyProblem ready("implosion", options);
  double mass = 0.0;
  ready.for_each_cell(0, [&](const GasState& gas, const Position& c) {
    mass += gas.density;
    const double cell = ready.geometry.cell_size(0);
    EXPECT_EQ(gas.density, ready.problem->initial_state({c[1], c[0], c[2]}, cell).density);
  });
  const double corner = 0.5 * 0.15 * 0.15 * 0.075, all = 0.3 * 0.3 * 0.075;
  EXPECT_NEAR(mass * ready.geometry.cell_volume(0), all - (1.0 - 0.125) * corner, 1e-15);
}

TEST(Noh, gas_moves_towards_the_centre_at_the_given_speed) {
  const test::ReadyProblem ready(
      "noh", test::box(8, 0, mesh::Boundary::reflecting, mesh::Boundary::outflow), "speed = 2.0");
  ready.for_each_cell(0, [&](const GasState& gas, const Position& c) {
    const auto& v = gas.velocity;
    EXPECT_NEAR(std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 2.0, 1e-14);
    EXPECT_NEAR(v[0] * c[1], v[1] * c[0], 1e-14);
    EXPECT_LT(v[0], 0.0);
  });
}

TEST(Gresho, pressure_balances_the_rotation) {
  const test::ReadyProblem ready("gresho", test::box(8, 0), "mach = 0.1");
  const auto at = [&](double r) { return ready.problem->initial_state({0.5 + r, 0.5, 0.5}, 0.01); };
  const double h = 1e-5;
  for (const double r : {0.1, 0.25, 0.35, 0.45}) {
    const double slope = (at(r + h).pressure - at(r - h).pressure) / (2.0 * h);
    const double speed = at(r).velocity[1];
    // The difference quotient is exact to h^2 p''' / 6, and to the round-off of p ~ 70 over h.
    EXPECT_NEAR(slope, speed * speed / r, 1e-8) << r;
  }
  const GasState fastest = at(0.2);
  const double sound_speed = std::sqrt(1.4 * fastest.pressure / fastest.density);
  EXPECT_NEAR(fastest.velocity[1] / sound_speed, 0.1, 1e-12);
}

TEST(Gresho, has_the_same_shape_for_any_radius_and_speed) {
  const test::ReadyProblem one("gresho", test::box(8, 0));
  const test::ReadyProblem other("gresho", test::box(8, 0), "radius = 0.1\nspeed = 8.0");
  for (const double r : {0.1, 0.25, 0.35, 0.45}) {
    const GasState a = one.problem->initial_state({0.5 + r, 0.5, 0.5}, 0.01);
    const GasState b = other.problem->initial_state({0.5 + r / 4.0, 0.5, 0.5}, 0.01);
    EXPECT_NEAR(b.velocity[1], 8.0 * a.velocity[1], 1e-12);
    EXPECT_NEAR(b.pressure, 64.0 * a.pressure, 1e-10);
  }
}

TEST(Gresho, a_mach_number_without_positive_pressure_is_an_error) {
  EXPECT_THROW(test::ReadyProblem("gresho", test::box(8, 0), "mach = 1.3"), InputError);
}

TEST(KelvinHelmholtz, layers_are_smooth_and_symmetric) {
  const test::ReadyProblem ready("kelvin_helmholtz", test::box(8, 0));
  const auto at = [&](double y) { return ready.problem->initial_state({0.1, y, 0.5}, 0.01); };
  EXPECT_NEAR(at(0.5).density, 2.0, 1e-4);
  EXPECT_NEAR(at(0.0).density, 1.0, 1e-4);
  EXPECT_NEAR(at(0.25).density, 1.5, 1e-12);
  EXPECT_NEAR(at(0.25).velocity[0], 0.0, 1e-12);
  for (const double y : {0.1, 0.24, 0.3}) EXPECT_NEAR(at(y).density, at(1.0 - y).density, 1e-12);
}

TEST(SoundWave, is_the_mean_over_each_cell) {
  // The mean over a cell of level 0 is the mean of the means over its eight parts of level 1.
  const test::ReadyProblem ready("sound_wave", test::box(8, 1),
                                 "wave = [1, 2, -1]\namplitude = 1e-2");
  ready.for_each_cell(0, [&](const GasState& gas, const Position& c) {
    const double half = ready.geometry.cell_size(1);
    double density = 0.0;
    for (int n = 0; n < 8; ++n)
      density += 0.125 * ready.problem
                             ->initial_state(
                                 {c[0] + ((n & 1) - 0.5) * half, c[1] + ((n >> 1 & 1) - 0.5) * half,
                                  c[2] + ((n >> 2) - 0.5) * half},
                                 half)
                             .density;
    EXPECT_NEAR(gas.density, density, 1e-14);
  });
}

TEST(SoundWave, perturbs_pressure_and_velocity_as_a_travelling_wave_does) {
  const test::ReadyProblem ready("sound_wave", test::box(8, 0),
                                 "wave = [1, 1, 0]\nsound_speed = 3.0\ndensity = 2.0");
  ready.for_each_cell(0, [&](const GasState& gas, const Position&) {
    const double signal = gas.density / 2.0 - 1.0;
    // Signals of 1e-6 are known to the round-off of numbers near one.
    EXPECT_NEAR(gas.pressure, 2.0 * 9.0 / 1.4 * (1.0 + 1.4 * signal), 1e-13);
    EXPECT_NEAR(gas.velocity[0], 3.0 * signal / std::sqrt(2.0), 1e-14);
    EXPECT_NEAR(gas.velocity[2], 0.0, 1e-14);
  });
}

TEST(SoundWave, a_wave_through_a_wall_is_an_error) {
  EXPECT_THROW(test::ReadyProblem("sound_wave", test::box(8, 0, mesh::Boundary::reflecting,
                                                          mesh::Boundary::reflecting)),
               InputError);
}

TEST(Blob, wraps_around_the_periodic_domain) {
  const test::ReadyProblem ready("blob", test::box(8, 0), "centre = [0.05, 0.5, 0.95]");
  const auto at = [&](double x, double z) {
    return ready.problem->initial_state({x, 0.5, z}, 0.01);
  };
  EXPECT_NEAR(at(0.05, 0.95).density, 10.0, 1e-6);
  EXPECT_NEAR(at(0.95, 0.05).density, at(0.15, 0.85).density, 1e-12);
  ASSERT_EQ(at(0.5, 0.5).scalars.size(), 2u);
  EXPECT_NEAR(at(0.05, 0.95).scalars[1], 1.0, 1e-12);
}

}  // namespace
}  // namespace octant::problems
