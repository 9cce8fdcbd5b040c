// Barotropic equations of state.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "hydro/hydro_options.hpp"

namespace octant::hydro::test {
namespace {

EosOptions isothermal(double sound_speed) {
  EosOptions options;
  options.kind = EquationOfState::isothermal;
  options.sound_speed = sound_speed;
  return options;
}

EosOptions barotropic(double unit_of_density = 1.0, double unit_of_speed = 1.0) {
  EosOptions options;
  options.kind = EquationOfState::barotropic;
  options.sound_speed = 0.2 * unit_of_speed;
  options.densities = {0.5 * unit_of_density, 3.0 * unit_of_density, 70.0 * unit_of_density};
  options.exponents = {1.0, 1.4, 1.1, 5.0 / 3.0};
  return options;
}

TEST(Barotrope, is_proportional_to_the_density_if_isothermal) {
  const Barotrope eos = isothermal(0.3).barotrope();
  for (const double density : {1e-12, 0.7, 1.0, 3e8}) {
    const auto state = eos.at(density);
    EXPECT_EQ(state.pressure, 0.3 * 0.3 * density);
    EXPECT_NEAR(state.squared_sound_speed(density), 0.09, 1e-16);
  }
}

TEST(Barotrope, has_the_given_sound_speed_at_the_first_density) {
  const auto state = barotropic().barotrope().at(0.5);
  EXPECT_DOUBLE_EQ(state.pressure, 0.2 * 0.2 * 0.5);
}

TEST(Barotrope, is_continuous) {
  const Barotrope eos = barotropic().barotrope();
  for (const double density : {0.5, 3.0, 70.0}) {
    const double below = eos.at(std::nextafter(density, 0.0)).pressure;
    EXPECT_NEAR(eos.at(density).pressure / below, 1.0, 1e-14) << density;
  }
}

TEST(Barotrope, has_the_sound_speed_that_is_the_derivative_of_the_pressure) {
  const Barotrope eos = barotropic().barotrope();
  for (const double density : {1e-3, 0.3, 0.6, 2.0, 4.0, 60.0, 80.0, 1e5}) {
    const double step = 1e-5 * density;
    const double slope =
        (eos.at(density + step).pressure - eos.at(density - step).pressure) / (2.0 * step);
    EXPECT_NEAR(eos.at(density).squared_sound_speed(density) / slope, 1.0, 1e-9) << density;
  }
}

TEST(Barotrope, gives_the_same_bits_in_all_lanes) {
  const Barotrope eos = barotropic().barotrope();
  using P = SimdTraits<SimdDouble>;
  const auto density = [](int lane) { return 0.1 * std::pow(3.0, lane); };
  const auto states = eos.at(P::generate(density));
  for (int lane = 0; lane < P::width; ++lane) {
    const auto alone = eos.at(density(lane));
    EXPECT_EQ(P::lane(states.pressure, lane), alone.pressure);
    EXPECT_EQ(P::lane(states.exponent, lane), alone.exponent);
  }
}

TEST(Barotrope, has_the_same_bits_in_units_that_differ_by_powers_of_two) {
  const Barotrope eos = barotropic().barotrope(), scaled = barotropic(8.0, 4.0).barotrope();
  for (const double density : {0.1, 0.5, 1.7, 33.0, 1e3})
    EXPECT_EQ(scaled.at(8.0 * density).pressure, 8.0 * 16.0 * eos.at(density).pressure);
}

TEST(SoundSpeedProfile, is_a_power_of_the_distance_from_the_axis) {
  const SoundSpeedProfile profile{.square = 0.09,
                                  .exponent = -0.5,
                                  .inverse_square_radius = 0.25,
                                  .square_softening = 0.04,
                                  .centre = {1.0, 2.0, 3.0},
                                  .weight = {1.0, 0.0, 1.0}};
  for (const double y : {-7.0, 2.0}) {
    const double square = 0.5 * 0.5 + 0.3 * 0.3 + 0.04;
    EXPECT_NEAR(profile.at(1.5, y, 2.7), 0.09 / std::sqrt(square / 4.0), 1e-15);
  }
  EXPECT_EQ(SoundSpeedProfile{.square = 0.09}.at(1.5, 2.0, 2.7), 0.09);
}

TEST(EosOptions, refuse_exponents_above_gamma) {
  HydroOptions options;
  options.eos = barotropic();
  options.gamma = 1.5;
  EXPECT_THROW(options.finish(), InputError);
  options.gamma = 5.0 / 3.0;
  EXPECT_NO_THROW(options.finish());
  EXPECT_EQ(options.eos.smallest_exponent(options.gamma), 1.0);
}

}  // namespace
}  // namespace octant::hydro::test
