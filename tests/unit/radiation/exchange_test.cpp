// Exchange of energy and momentum between gas and radiation.
#include "radiation/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "random_cells.hpp"

namespace octant::radiation::test {
namespace {

RadiatingCell cell_at_rest(double internal, double energy) {
  return {2.0, {0, 0, 0}, internal, energy, {0, 0, 0}};
}

double kinetic(const RadiatingCell& cell) {
  const double p = norm(cell.momentum);
  return p * p / (2 * cell.density);
}

double total_energy(const RadiatingCell& cell, const Light& light) {
  return cell.internal + kinetic(cell) + light.c / light.reduced * cell.energy;
}

// Largest change of a component of the total momentum, relative to the sum of its parts.
double momentum_error(const RadiatingCell& a, const RadiatingCell& b, const Light& light) {
  const double unit = 1 / (light.c * light.reduced);
  double error = 0, size = 0;
  for (int d = 0; d < 3; ++d) {
    error = std::max(error,
                     std::abs(a.momentum[d] + unit * a.flux[d] - b.momentum[d] - unit * b.flux[d]));
    size += std::abs(a.momentum[d]) + unit * std::abs(a.flux[d]);
  }
  return size > 0 ? error / size : error;
}

void expect_physical(const RadiatingCell& cell, const Light& light) {
  EXPECT_GT(cell.energy, 0.0);
  EXPECT_GT(cell.internal, 0.0);
  EXPECT_LE(norm(cell.flux), light.c * cell.energy * (1 + 1e-15));
}

bool has_same_bits(const RadiatingCell& a, const RadiatingCell& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Reference solutions -------------------------------------------------------------------------

// State of the differential equations: e + kinetic energy, E, momentum, flux.
using Moments = std::array<double, 8>;

Moments moments_of(const RadiatingCell& u) {
  return {u.internal + kinetic(u), u.energy,  u.momentum[0], u.momentum[1],
          u.momentum[2],           u.flux[0], u.flux[1],     u.flux[2]};
}

// Pressure tensor of Levermore's closure times a vector.
std::array<double, 3> pressure_times(double E, const double* F, const double* v, double c) {
  const double size = std::hypot(F[0], F[1], F[2]), f = size / (c * E);
  const double chi = (3 + 4 * f * f) / (5 + 2 * std::sqrt(4 - 3 * f * f));
  std::array<double, 3> result;
  const double along = size > 0 ? (F[0] * v[0] + F[1] * v[1] + F[2] * v[2]) / size : 0;
  for (int d = 0; d < 3; ++d)
    result[d] =
        E * ((1 - chi) / 2 * v[d] + (size > 0 ? (3 * chi - 1) / 2 * along * F[d] / size : 0.0));
  return result;
}

// Time derivative of the moments, as in the description of exchange().
Moments derivative(const Moments& u, double rho, const Light& light, double heat_capacity,
                   const Opacity& opacity) {
  const double c = light.c, E = u[1];
  const double* F = &u[5];
  double v[3], kinetic = 0;
  for (int d = 0; d < 3; ++d) {
    v[d] = u[2 + d] / rho;
    kinetic += rho * v[d] * v[d] / 2;
  }
  const double T = (u[0] - kinetic) / (heat_capacity * rho);
  const auto carried = pressure_times(E, F, v, c);
  double comoving = E, work = 0, G[3];
  for (int d = 0; d < 3; ++d) {
    comoving += v[d] * (E * v[d] + carried[d] - 2 * F[d]) / (c * c);
    G[d] = opacity.extinction(rho, T) * (F[d] - E * v[d] - carried[d]) / c;
    work += v[d] * G[d];
  }
  const double Q =
      c * opacity.absorption(rho, T) * (comoving - light.constant * std::pow(T, 4)) + work;
  Moments change{Q, -light.reduced / c * Q};
  for (int d = 0; d < 3; ++d) {
    change[2 + d] = G[d];
    change[5 + d] = -light.reduced * c * G[d];
  }
  return change;
}

// Solution at the time `end` by the classical method of Runge and Kutta.
Moments integrate(Moments u, double rho, const Light& light, double heat_capacity,
                  const Opacity& opacity, double end, int steps) {
  const double dt = end / steps;
  const auto at = [&](const Moments& k, double h) {
    Moments w = u;
    for (int n = 0; n < 8; ++n) w[n] += h * k[n];
    return derivative(w, rho, light, heat_capacity, opacity);
  };
  for (int step = 0; step < steps; ++step) {
    const Moments k1 = derivative(u, rho, light, heat_capacity, opacity);
    const Moments k2 = at(k1, dt / 2), k3 = at(k2, dt / 2), k4 = at(k3, dt);
    for (int n = 0; n < 8; ++n) u[n] += dt / 6 * (k1[n] + 2 * k2[n] + 2 * k3[n] + k4[n]);
  }
  return u;
}

// Largest error of a moment after `steps` calls, relative to its size in the exact solution.
double error_after(const RadiatingCell& begin, const Light& light, double heat_capacity,
                   const Opacity& opacity, double end, int steps, const Moments& exact) {
  RadiatingCell cell = begin;
  for (int n = 0; n < steps; ++n)
    EXPECT_GT(exchange(cell, light, ideal(heat_capacity), opacity, end / steps), 0);
  const Moments found = moments_of(cell);
  double error = 0;
  for (int n = 0; n < 8; ++n) error = std::max(error, std::abs(found[n] / exact[n] - 1));
  return error;
}

// Residual of the implicit equation for the temperature of gas at rest, in long double.
long double residual(long double T, const RadiatingCell& before, const Light& light,
                     const Material& material, const Opacity& opacity, double dt) {
  const long double ratio = static_cast<long double>(light.c) / light.reduced;
  const long double fourth = light.constant * T * T * T * T;
  const long double depth = static_cast<long double>(light.reduced) * dt *
                            opacity.absorption(before.density, static_cast<double>(T));
  const long double theta = depth / (1 + depth);
  const long double internal =
      material.cubic > 0 ? material.cubic * fourth : material.heat_capacity * before.density * T;
  return internal - before.internal + theta * ratio * (fourth - before.energy);
}

// Root of linear T + quartic T^4 = sum, by Newton's method from above.
long double quartic_temperature(long double linear, long double quartic, long double sum) {
  long double T = sum / linear;
  for (int n = 0; n < 500; ++n) {
    const long double cube = quartic * T * T * T;
    T -= (linear * T + cube * T - sum) / (linear + 4 * cube);
  }
  return T;
}

// Energy ----------------------------------------------------------------------------------------

TEST(Exchange, keeps_the_bits_of_a_cell_without_opacity) {
  Draw draw(1);
  for (int n = 0; n < 100; ++n) {
    const RadiatingCell before = random_cell(draw, k_light, 0.1);
    RadiatingCell cell = before;
    EXPECT_EQ(exchange(cell, k_light, ideal(1.0), Opacity(), 1e10), 0);
    EXPECT_TRUE(has_same_bits(cell, before));
    EXPECT_EQ(exchange(cell, k_light, ideal(1.0), Opacity::constant(1, 1), 0.0), 0);
    EXPECT_TRUE(has_same_bits(cell, before));
  }
}

TEST(Exchange, converges_to_the_exact_solution_at_first_order) {
  struct Case {
    double internal, energy;
    Light light;
    Opacity opacity;
  };
  const Opacity grey = Opacity::constant(0.1, 0.2, 0.05);
  const Opacity steep = Opacity::power_law(0.1, 0.05, 2.0, 1.5, 1.0, -3.5);
  const Case cases[] = {{8.0, 0.1, k_light, grey},   // hot gas, cold radiation
                        {0.4, 16.0, k_light, grey},  // and the reverse
                        {8.0, 0.1, k_reduced, grey}, {0.4, 16.0, k_reduced, grey},
                        {8.0, 0.1, k_light, steep},  {2.0, 16.0, k_light, steep}};
  for (const Case& c : cases) {
    RadiatingCell cell = cell_at_rest(c.internal, c.energy);
    for (int d = 0; d < 3; ++d) {
      cell.momentum[d] = 0.5 + 0.3 * d;
      cell.flux[d] = c.light.c * c.energy * (0.4 - 0.25 * d);
    }
    const double end = 1.0 / c.light.reduced;
    const Moments exact =
        integrate(moments_of(cell), cell.density, c.light, 2.0, c.opacity, end, 20000);
    const auto error = [&](int steps) {
      return error_after(cell, c.light, 2.0, c.opacity, end, steps, exact);
    };
    const double coarse = error(200), fine = error(400);
    EXPECT_LT(coarse, 0.02);
    EXPECT_NEAR(coarse / fine, 2.0, 0.05) << c.internal << ' ' << c.light.reduced;
  }
}

TEST(Exchange, solves_the_implicit_equation_to_round_off_at_any_stiffness_and_energy) {
  Draw draw(2);
  for (int n = 0; n < 10000; ++n) {
    const Light light = n % 2 ? k_light : k_reduced;
    const RadiatingCell before = random_cell(draw, light, 0.0);
    const Material gas = ideal(heat_capacity_for(before, light, draw.decade(-12, 12)), false);
    const Opacity opacity = Opacity::constant(draw.decade(-3, 3), 1.0);
    const double rate = light.reduced * opacity.absorption(before.density, 1.0);
    const double dt = draw.decade(-10, 10) / rate;
    RadiatingCell cell = before;
    ASSERT_GT(exchange(cell, light, gas, opacity, dt), 0);

    const long double depth = static_cast<long double>(rate) * dt, theta = depth / (1 + depth);
    const long double ratio = light.c / light.reduced, linear = gas.heat_capacity * before.density;
    const long double T = quartic_temperature(linear, theta * ratio * light.constant,
                                              before.internal + theta * ratio * before.energy);
    const long double energy =
        (before.energy + depth * light.constant * T * T * T * T) / (1 + depth);
    ASSERT_NEAR(static_cast<double>(cell.internal / (linear * T)), 1.0, 1e-12);
    ASSERT_NEAR(static_cast<double>(cell.energy / energy), 1.0, 1e-12);
  }
}

TEST(Exchange, reaches_equilibrium_in_an_infinite_time_from_both_sides) {
  const double infinity = std::numeric_limits<double>::infinity();
  Draw draw(3);
  for (int n = 0; n < 10000; ++n) {
    const Light light = n % 2 ? k_light : k_reduced;
    const RadiatingCell before = random_cell(draw, light, 0.0);
    const Material gas = ideal(heat_capacity_for(before, light, draw.decade(-12, 12)), n % 3 != 0);
    RadiatingCell cell = before;
    for (double& m : cell.momentum) m = 0;
    for (double& f : cell.flux) f = 0;
    ASSERT_GT(exchange(cell, light, gas, Opacity::constant(1.0, 1.0), infinity), 0);
    const long double ratio = light.c / light.reduced, linear = gas.heat_capacity * before.density;
    const long double T = quartic_temperature(linear, ratio * light.constant,
                                              before.internal + ratio * before.energy);
    ASSERT_NEAR(static_cast<double>(cell.internal / (linear * T)), 1.0, 1e-12);
    ASSERT_NEAR(static_cast<double>(cell.energy / (light.constant * T * T * T * T)), 1.0, 1e-12);
  }
}

TEST(Exchange, stays_at_equilibrium_at_stiffnesses_of_1e8_and_1e10) {
  for (const double depth : {1e8, 1e10})
    for (const double T : {1e-3, 1.0, 1e3}) {
      const double energy = k_light.constant * T * T * T * T;
      RadiatingCell cell = cell_at_rest(2.0 * 3.0 * T, energy);
      for (int n = 0; n < 100; ++n)
        exchange(cell, k_light, ideal(3.0), Opacity::constant(1.0, 1.0), depth / 20.0);
      EXPECT_NEAR(cell.internal / (6.0 * T), 1.0, 1e-13);
      EXPECT_NEAR(cell.energy / energy, 1.0, 1e-13);
    }
}

TEST(Exchange, solves_the_equations_of_a_cubic_heat_capacity) {
  Draw draw(4);
  for (int n = 0; n < 1000; ++n) {
    const Light light = n % 2 ? k_light : k_reduced;
    const RadiatingCell before = random_cell(draw, light, 0.0);
    const Material gas{0.0, draw.decade(-3, 3), false};
    const double depth = draw.decade(-10, 10), ratio = light.c / light.reduced;
    RadiatingCell cell = before;
    const double dt = depth / (light.reduced * before.density);
    ASSERT_GT(exchange(cell, light, gas, Opacity::constant(1.0, 1.0), dt), 0);
    // e and E depend linearly on T^4.
    const double theta = depth / (1 + depth);
    const double internal =
        (before.internal + theta * ratio * before.energy) / (1 + theta * ratio / gas.cubic);
    const double energy = before.energy / (1 + depth) + theta * internal / gas.cubic;
    ASSERT_NEAR(cell.internal / internal, 1.0, 1e-13);
    ASSERT_NEAR(cell.energy / energy, 1.0, 1e-13);
  }
}

// Checks that the temperature of `cell` is a root of the implicit equation.
void expect_root(const RadiatingCell& cell, const RadiatingCell& before, const Light& light,
                 const Material& gas, const Opacity& opacity, double dt) {
  const long double T =
      static_cast<long double>(cell.internal) / (gas.heat_capacity * before.density);
  const long double below = residual(T * (1 - 1e-11L), before, light, gas, opacity, dt);
  const long double above = residual(T * (1 + 1e-11L), before, light, gas, opacity, dt);
  EXPECT_LE(below * above, 0.0) << "b = " << opacity.planck.temperature_exponent;
}

TEST(Exchange, keeps_the_temperature_of_gas_with_surroundings_and_passes_its_heat_to_them) {
  const double T = 3.0, emission = k_reduced.constant * T * T * T * T;
  for (const double opacity : {1e-4, 0.3, 1e8}) {
    const Material material{1.5, 0.0, false, true};
    RadiatingCell before = cell_at_rest(9.0, 0.2);
    before.surroundings = T;
    RadiatingCell cell = before;
    EXPECT_GT(exchange(cell, k_reduced, material, Opacity::constant(opacity, 0.0), 2.0), 0);
    const double depth = k_reduced.reduced * 2.0 * before.density * opacity;
    EXPECT_NEAR(cell.energy / ((before.energy + depth * emission) / (1 + depth)), 1.0, 1e-13);
    const double sum = total_energy(before, k_reduced);
    EXPECT_NEAR(total_energy(cell, k_reduced) / sum, 1.0, 1e-13);
  }
}

TEST(Exchange, evaluates_steep_opacities_at_the_new_temperature) {
  Draw draw(5);
  for (const double exponent : {-3.5, -1.0, 0.5, 3.0})
    for (int n = 0; n < 2000; ++n) {
      const Light light = n % 2 ? k_light : k_reduced;
      const RadiatingCell before = random_cell(draw, light, 0.0);
      const Material gas = ideal(heat_capacity_for(before, light, draw.decade(-6, 6)), false);
      const double T = before.internal / (gas.heat_capacity * before.density);
      const Opacity opacity =
          Opacity::power_law(1.0, 1.0, before.density, T * draw.decade(-1, 1), 1.0, exponent);
      const double dt = draw.decade(-5, 10) / (light.reduced * before.density);
      RadiatingCell cell = before;
      ASSERT_GT(exchange(cell, light, gas, opacity, dt), 0);
      // If nearly all energy is in the radiation, T has the relative error of the total energy.
      expect_root(cell, before, light, gas, opacity, dt);
      expect_physical(cell, light);
    }
}

TEST(Exchange, evaluates_the_extinction_at_the_new_temperature) {
  const Opacity opacity = Opacity::kramers(1.0, 0.3, 2.0, 1.0);
  RadiatingCell cell = cell_at_rest(4.0, 100.0);
  cell.flux[1] = 20.0;
  exchange(cell, k_light, ideal(2.0, false), opacity, 0.1);
  const double T = cell.internal / 4.0;
  EXPECT_GT(T, 1.5);
  EXPECT_NEAR(cell.flux[1], 20.0 / (1 + 10.0 * 0.1 * 2.0 * 0.3 * std::pow(T, -3.5)), 1e-12);
}

// Conservation ----------------------------------------------------------------------------------

TEST(Exchange, conserves_energy_and_momentum_and_leaves_physical_states) {
  const Opacity opacities[] = {Opacity::constant(1.0, 1.0),
                               Opacity::constant(1.0, 1.0, 10.0),
                               Opacity::constant(5.0, 1.0),
                               Opacity::constant(0.0, 0.0, 1.0),
                               Opacity::constant(1.0, 0.0, 0.0),
                               Opacity::power_law(1.0, 1.0, 1.0, 1.0, 1.0, -3.5),
                               Opacity::power_law(1.0, 2.0, 1.0, 1.0, 0.0, 3.0)};
  Draw draw(6);
  int solved = 0;
  for (int n = 0; n < 10000; ++n) {
    const Light light = n % 2 ? k_light : Light{10.0, 0.1, 0.5};
    const RadiatingCell before = random_cell(draw, light, 0.1);
    Material gas = ideal(heat_capacity_for(before, light, draw.decade(-12, 12)));
    if (n % 5 == 0) gas.cubic = draw.decade(-3, 3);
    Opacity opacity = opacities[n % std::size(opacities)];
    opacity.planck.temperature = before.internal / (gas.heat_capacity * before.density);
    opacity.rosseland.temperature = opacity.planck.temperature;
    const double dt = draw.decade(-10, 10) / (light.reduced * before.density);
    RadiatingCell cell = before;
    // Radiation with as much energy as the gas has mass accelerates it to speeds near c.
    const bool is_slow = total_energy(before, light) < 0.1 * before.density * light.c * light.c;
    solved += is_slow;
    ASSERT_TRUE(exchange(cell, light, gas, opacity, dt) > 0 || !is_slow) << n;
    ASSERT_NEAR(total_energy(cell, light) / total_energy(before, light), 1.0, 1e-14) << n;
    ASSERT_LT(momentum_error(before, cell, light), 1e-14) << n;
    expect_physical(cell, light);
  }
  EXPECT_GT(solved, 6000);
}

TEST(Exchange, conserves_and_stays_physical_where_light_would_accelerate_gas_to_its_speed) {
  Draw draw(7);
  int unsolved = 0;
  for (int n = 0; n < 2000; ++n) {
    RadiatingCell before = random_cell(draw, k_reduced, 0.9);
    before.energy = before.density * 100.0 * draw.decade(-1, 4);
    draw.vector(k_reduced.c * before.energy * draw.uniform(0.9, 1.0), before.flux);
    // Cold gas with a large heat capacity, which absorbs the radiation.
    before.internal = 1e-3 * before.energy;
    const Material gas = ideal(heat_capacity_for(before, k_reduced, draw.decade(-24, 0)));
    RadiatingCell cell = before;
    const double dt = draw.decade(-3, 10) / (k_reduced.reduced * before.density);
    unsolved += exchange(cell, k_reduced, gas, Opacity::constant(1.0, 0.1), dt) < 0;
    ASSERT_NEAR(total_energy(cell, k_reduced) / total_energy(before, k_reduced), 1.0, 1e-13) << n;
    ASSERT_LT(momentum_error(before, cell, k_reduced), 1e-13) << n;
    expect_physical(cell, k_reduced);
  }
  EXPECT_GT(unsolved, 10);
}

TEST(Exchange, transfers_the_flux_that_exceeds_the_remaining_energy_to_the_gas) {
  RadiatingCell cell{1.0, {0, 0, 0}, 1e-3, 1e-6, {10.0 * 1e-6, 0, 0}};
  const RadiatingCell before = cell;
  EXPECT_GT(exchange(cell, k_light, ideal(1e3), Opacity::constant(1.0, 0.1), 1.0), 0);
  EXPECT_NEAR(cell.energy / before.energy, 1.0 / 11, 1e-6);
  EXPECT_NEAR(cell.flux[0] / (10.0 * cell.energy), 1.0, 1e-14);
  EXPECT_NEAR(cell.momentum[0] / (1e-7 * 10 / 11), 1.0, 1e-6);
}

TEST(Exchange, ends_for_numbers_that_are_not_numbers) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Opacity opacities[] = {Opacity::constant(1.0, 1.0), Opacity::kramers(1.0, 1.0, 1.0, 1.0)};
  for (const Opacity& opacity : opacities) {
    for (int n = 0; n < 10; ++n) {
      RadiatingCell cell{1.0, {0.1, 0.2, 0.3}, 1.0, 2.0, {0.1, 0.2, 0.3}};
      double* const values[] = {&cell.density,     &cell.momentum[0], &cell.momentum[1],
                                &cell.momentum[2], &cell.internal,    &cell.energy,
                                &cell.flux[0],     &cell.flux[1],     &cell.flux[2]};
      if (n < 9) *values[n] = nan;
      EXPECT_LT(exchange(cell, k_light, ideal(1.0), opacity, n < 9 ? 1.0 : nan), 0) << n;
    }
  }
}

// Momentum --------------------------------------------------------------------------------------

TEST(Exchange, damps_the_flux_in_gas_at_rest_and_keeps_its_momentum) {
  for (double depth = 1e-10; depth < 1e12; depth *= 100) {
    RadiatingCell cell{2.0, {0.5, -0.25, 3.0}, 1.0, 2.0, {3.0, -4.0, 5.0}};
    const RadiatingCell before = cell;
    const double dt = depth / (k_reduced.reduced * 2.0 * 1.5);
    RadiatingCell resting = before;
    for (double& m : resting.momentum) m = 0;
    // Emission keeps E from becoming less than |F|, which would limit F.
    const Opacity opacity = Opacity::constant(0.01, 1.0, 0.5);
    exchange(cell, k_reduced, ideal(0.3, false), opacity, dt);
    exchange(resting, k_reduced, ideal(0.3, false), opacity, dt);
    EXPECT_EQ(cell.internal, resting.internal);
    EXPECT_EQ(cell.energy, resting.energy);
    for (int d = 0; d < 3; ++d) {
      EXPECT_NEAR(cell.flux[d] / before.flux[d] * (1 + depth), 1.0, 1e-14);
      EXPECT_EQ(cell.momentum[d], before.momentum[d]);
    }
  }
}

TEST(Exchange, accelerates_heavy_gas_by_the_momentum_of_scattered_light) {
  for (const Light& light : {k_light, k_reduced})
    for (const double depth : {1e-6, 1e-3, 1.0, 1e3}) {
      RadiatingCell cell{1.0, {0, 0, 0}, 1e-6, 1e-10, {6e-10, 0, -8e-10}};
      const RadiatingCell before = cell;
      exchange(cell, light, ideal(1.0), Opacity::constant(0, 0, 2.0), depth / (2 * light.reduced));
      for (int d = 0; d < 3; ++d) {
        const double scattered = before.flux[d] * depth / (1 + depth);
        EXPECT_NEAR(cell.momentum[d], scattered / (light.c * light.reduced), 1e-16);
      }
      EXPECT_EQ(cell.internal, before.internal);
    }
}

TEST(Exchange, takes_the_kinetic_energy_from_the_radiation) {
  RadiatingCell cell{1.0, {0.02, 0.01, 0.0}, 1e-6, 1e-2, {0.08, 0, -0.02}};
  const RadiatingCell before = cell;
  exchange(cell, k_reduced, ideal(1.0), Opacity::constant(0, 0, 2.0), 100.0);
  const double gain = kinetic(cell) - kinetic(before);
  EXPECT_GT(gain, 1e-4);
  EXPECT_EQ(cell.internal, before.internal);
  EXPECT_NEAR((before.energy - cell.energy) / (gain / 100.0), 1.0, 1e-9);
}

// Isotropic radiation in equilibrium with slowly moving gas exerts the drag -4/3 rho kappa E v / c.
TEST(Exchange, slows_gas_down_by_isotropic_radiation) {
  for (const Opacity& opacity : {Opacity::constant(1.0, 1.0), Opacity::constant(0.0, 0.0, 1.0)}) {
    const double v = 1e-4 * k_light.c, energy = k_light.constant * 1e-12, dt = 1e-5;
    RadiatingCell cell{2.0, {0, 2.0 * v, 0}, 2.0 * 5.0 * 1e-3, energy, {0, 0, 0}};
    exchange(cell, k_light, ideal(5.0), opacity, dt);
    const double force = -4.0 / 3.0 * 2.0 * energy * v / k_light.c;
    // Backward Euler divides the force by 1 + c rho kappa dt.
    EXPECT_NEAR(cell.flux[1] / (-k_light.c * k_light.c * force * dt), 1.0 / (1 + 20 * dt), 1e-7);
    EXPECT_NEAR(cell.momentum[1] - 2.0 * v, force * dt, 1e-18);
  }
}

TEST(Exchange, carries_radiation_with_optically_thick_gas) {
  for (const double beta : {1e-4, 1e-3, 1e-2}) {
    const double T = 1e-2, energy = k_light.constant * 1e-8;
    RadiatingCell cell{1.0, {0, 0, beta * k_light.c}, 1e4 * T, energy, {0, 0, 0}};
    exchange(cell, k_light, ideal(1e4), Opacity::constant(1.0, 1.0), 1e20);
    EXPECT_NEAR(cell.flux[2] / (4.0 / 3.0 * cell.energy * beta * k_light.c), 1.0, 3 * beta * beta);
    // Energy density in the frame of the gas: E (1 - 4/3 beta^2).
    const double emitted = k_light.constant * std::pow(cell.internal / 1e4, 4);
    EXPECT_NEAR(cell.energy / emitted, 1 + 4.0 / 3.0 * beta * beta, 10 * std::pow(beta, 4) + 1e-14);
  }
}

TEST(Exchange, does_not_depend_on_the_order_and_direction_of_the_axes) {
  Draw draw(8);
  for (int n = 0; n < 1000; ++n) {
    RadiatingCell cell = random_cell(draw, k_reduced, 0.1), turned = cell;
    for (int d = 0; d < 3; ++d) {
      turned.momentum[d] = -cell.momentum[(d + 1) % 3];
      turned.flux[d] = -cell.flux[(d + 1) % 3];
    }
    const Material gas = ideal(heat_capacity_for(cell, k_reduced, draw.decade(-3, 3)));
    const double dt = draw.decade(-3, 3) / (k_reduced.reduced * cell.density);
    exchange(cell, k_reduced, gas, Opacity::constant(1.0, 1.0), dt);
    exchange(turned, k_reduced, gas, Opacity::constant(1.0, 1.0), dt);
    EXPECT_NEAR(turned.internal / cell.internal, 1.0, 1e-9);
    EXPECT_NEAR(turned.energy / cell.energy, 1.0, 1e-9);
    for (int d = 0; d < 3; ++d)
      EXPECT_NEAR(turned.flux[d], -cell.flux[(d + 1) % 3], 1e-9 * k_light.c * cell.energy);
  }
}

}  // namespace
}  // namespace octant::radiation::test
