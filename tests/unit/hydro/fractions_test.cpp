// Bounds of fractions: how much mass may leave a cell.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "hydro/fractions.hpp"

namespace octant::hydro {
namespace {

// Primitive variables of a cell and its six neighbours.
struct Neighbourhood {
  double value[k_hydro_variables][7];

  double operator()(int n, int x, int y, int z) const {
    const int face = x != 0 ? (x > 0) : y != 0 ? 2 + (y > 0) : 4 + (z > 0);
    return value[n][x == 0 && y == 0 && z == 0 ? 6 : face];
  }
};

// Densities and pressures that differ by up to exp(contrast), and velocities up to `speed`; units
// of density and velocity are the powers of two given.
Neighbourhood random_cells(std::mt19937& generator, double contrast, double speed,
                           int density_power, int velocity_power) {
  std::uniform_real_distribution<double> random(-1.0, 1.0);
  const double density = std::ldexp(1.0, density_power), velocity = std::ldexp(1.0, velocity_power);
  Neighbourhood cells;
  for (int c = 0; c < 7; ++c) {
    cells.value[k_density][c] = density * std::exp(0.5 * contrast * random(generator));
    cells.value[k_pressure][c] =
        density * velocity * velocity * std::exp(0.5 * contrast * random(generator));
    for (int axis = 0; axis < 3; ++axis)
      cells.value[k_velocity_x + axis][c] = velocity * speed * random(generator);
  }
  return cells;
}

TEST(Departure, is_found_wherever_excesses_may_be_too_large) {
  std::mt19937 generator(1);
  const Gas gas;
  int skipped = 0, exceeding = 0;
  for (int trial = 0; trial < 40000; ++trial) {
    const double contrast = 0.25 * (trial % 16), speed = 0.25 * (trial % 11);
    const int density_power = trial % 3 == 0 ? -80 : 0, velocity_power = trial % 5 == 0 ? 40 : 0;
    const Neighbourhood cells =
        random_cells(generator, contrast, speed, density_power, velocity_power);
    const double dt_over_dx = std::ldexp(0.03 * (1 + trial % 7), -velocity_power);
    const double steepest = 2.0 + trial % 2;
    const bool spreads = trial % 13 == 0;
    const auto shares = shares_of<double>(cells, dt_over_dx, gas.gamma, steepest, spreads);
    Departure<double> departure(dt_over_dx, gas.gamma, steepest, spreads);
    departure.find(cells);
    EXPECT_EQ(departure.may_exceed, shares.exceeds) << trial;
    skipped += !departure.may_exceed && departure.shares.rest == 0.0;
    exceeding += shares.exceeds;
  }
  EXPECT_GT(skipped, 2000);
  EXPECT_GT(exceeding, 2000);
}

}  // namespace
}  // namespace octant::hydro
