#include <cmath>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/problems/problem_fixture.hpp"

namespace octant::problems {
namespace {

constexpr double k_ambient = 1e-5;

// The energy above that of the ambient gas, over all cells of a level.
double blast_energy(const test::ReadyProblem& ready, int level, double gamma = 1.4) {
  double sum = 0.0;
  ready.for_each_cell(level, [&](const GasState& gas, const Position&) {
    sum += (gas.pressure - k_ambient) / (gamma - 1.0);
  });
  return sum * ready.geometry.cell_volume(level);
}

// Round-off of the pressures (relative to the ambient one) and of a sum of at most 32768 terms.
constexpr double k_round_off = 1e-11;

TEST(Sedov, energy_is_exact_on_every_level) {
  for (const int max_level : {0, 1, 2})
    for (const char* radius : {"0.87", "1", "1.7", "2.5"}) {
      const test::ReadyProblem ready("sedov", test::box(8, max_level),
                                     std::string("energy = 3.5\nradius_cells = ") + radius);
      for (int level = 0; level <= max_level; ++level)
        EXPECT_NEAR(blast_energy(ready, level), 3.5, 3.5 * k_round_off)
            << "radius " << radius << ", level " << level << " of " << max_level;
    }
}

TEST(Sedov, energy_is_exact_wherever_the_centre_is) {
  for (const char* centre : {"[0.3, 0.41, 0.77]", "[0.0, 0.0, 0.0]", "[1.0, 0.5, 0.01]",
                             "[0.53125, 0.46875, 0.28125]"}) {
    const test::ReadyProblem ready("sedov", test::box(8, 1),
                                   std::string("radius_cells = 2.1\ncentre = ") + centre);
    for (const int level : {0, 1})
      EXPECT_NEAR(blast_energy(ready, level), 1.0, k_round_off) << centre << ", level " << level;
  }
}

TEST(Sedov, energy_is_exact_in_a_flat_box_of_odd_shape) {
  mesh::MeshOptions options = test::box(8, 1);
  options.base_cells = {12, 8, 4};
  options.lower = {-1.5, 2.0, 0.0};
  options.upper = {1.5, 4.0, 1.0};
  const test::ReadyProblem ready("sedov", options, "centre = [-0.1, 2.9, 0.4]\nradius_cells = 1.4");
  for (const int level : {0, 1}) EXPECT_NEAR(blast_energy(ready, level), 1.0, k_round_off);
}

TEST(Sedov, an_octant_between_reflecting_walls_holds_an_eighth_of_the_blast) {
  const test::ReadyProblem ready(
      "sedov", test::box(8, 2, mesh::Boundary::reflecting, mesh::Boundary::outflow),
      "centre = [0, 0, 0]\nradius_cells = 2.5");
  for (int level = 0; level <= 2; ++level)
    EXPECT_NEAR(blast_energy(ready, level), 0.125, k_round_off);
}

TEST(Sedov, a_radius_of_one_cell_heats_the_eight_cells_around_a_node) {
  const test::ReadyProblem ready("sedov", test::box(8, 1));
  int hot = 0;
  ready.for_each_cell(1, [&](const GasState& gas, const Position& centre) {
    if (gas.pressure == k_ambient) return;
    ++hot;
    for (int axis = 0; axis < 3; ++axis)
      EXPECT_LT(std::abs(centre[axis] - 0.5), ready.geometry.cell_size(1));
  });
  EXPECT_EQ(hot, 8);
}

TEST(Sedov, the_state_does_not_change_when_axes_are_exchanged_or_mirrored) {
  const test::ReadyProblem ready("sedov", test::box(8, 1), "radius_cells = 3.2");
  for (const int level : {0, 1}) {
    const double cell = ready.geometry.cell_size(level);
    ready.for_each_cell(level, [&](const GasState& gas, const Position& c) {
      const auto pressure = [&](const Position& x) {
        return ready.problem->initial_state(x, cell).pressure;
      };
      EXPECT_EQ(gas.pressure, pressure({c[1], c[2], c[0]}));
      EXPECT_EQ(gas.pressure, pressure({c[1], c[0], c[2]}));
      EXPECT_EQ(gas.pressure, pressure({1.0 - c[0], c[1], 1.0 - c[2]}));
    });
  }
}

TEST(Sedov, a_centre_outside_the_domain_is_an_error) {
  EXPECT_THROW(test::ReadyProblem("sedov", test::box(8, 0), "centre = [0.5, 1.5, 0.5]"),
               InputError);
}

TEST(Sedov, a_ball_that_would_overlap_its_periodic_image_is_an_error) {
  EXPECT_THROW(test::ReadyProblem("sedov", test::box(8, 0), "radius_cells = 4"), InputError);
}

}  // namespace
}  // namespace octant::problems
