// Cells along z, and the boundary tables.
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "dns/domain.hpp"
#include "dns/momentum_sweep.hpp"
#include "dns/operators.hpp"
#include "dns/staggered_grid.hpp"

namespace octant::dns {

namespace {

GridOptions stretched(Stretching mapping) {
  GridOptions options;
  options.cells = {4, 4, 17};
  options.size = {1.0, 1.0, 3.0};
  options.stretching = mapping;
  return options;
}

TEST(Grid, faces_ascend_from_0_to_the_extent_with_every_mapping) {
  for (const Stretching mapping : values_of<Stretching>()) {
    if (mapping == Stretching::file) continue;
    const Grid grid(stretched(mapping), false);
    EXPECT_EQ(grid.face[-1], 0.0) << name_of(mapping);
    EXPECT_NEAR(grid.face[16], 3.0, 1e-14) << name_of(mapping);
    for (int k = 0; k < 17; ++k) EXPECT_GT(grid.dz_cell[k], 0.0) << name_of(mapping);
  }
}

TEST(Grid, small_cells_are_where_the_mapping_says) {
  const Grid both(stretched(Stretching::tanh), false),
      lower(stretched(Stretching::tanh_lower), false),
      upper(stretched(Stretching::tanh_upper), false);
  EXPECT_LT(both.dz_cell[0], both.dz_cell[8]);
  EXPECT_NEAR(both.dz_cell[0], both.dz_cell[16], 1e-14);
  EXPECT_LT(lower.dz_cell[0], 0.5 * lower.dz_cell[16]);
  EXPECT_LT(upper.dz_cell[16], 0.5 * upper.dz_cell[0]);
}

TEST(Grid, ghosts_are_mirror_images_or_the_other_end) {
  const Grid walls(stretched(Stretching::tanh_lower), false),
      ring(stretched(Stretching::tanh_lower), true);
  EXPECT_EQ(walls.dz_cell[-1], walls.dz_cell[0]);
  EXPECT_EQ(ring.dz_cell[-1], ring.dz_cell[16]);
  EXPECT_EQ(ring.dz_face[-1], ring.dz_face[16]);
}

TEST(Operators, a_second_derivative_is_exact_for_a_parabola_on_equal_cells) {
  GridOptions options = stretched(Stretching::uniform);
  const Grid grid(options, false);
  FlowParameters parameters;
  const Boundaries boundaries(parameters, grid.size);
  const auto m = velocity_z_matrix(grid, boundaries, k_w);
  ASSERT_EQ(m.size(), 16);  // the faces between two walls
  const auto w = [&](int k) { return grid.face[k] * (3.0 - grid.face[k]); };
  for (int k = 0; k < 16; ++k)
    EXPECT_NEAR(m.lower[k] * (k > 0 ? w(k - 1) : 0.0) + m.diagonal[k] * w(k) +
                    m.upper[k] * (k < 15 ? w(k + 1) : 0.0),
                -2.0, 1e-11);
}

TEST(Operators, what_a_moving_wall_adds_makes_a_linear_profile_free_of_curvature) {
  const Grid grid(stretched(Stretching::tanh), false);
  FlowParameters parameters;
  parameters.boundary_velocity[2][1] = {3.0, 0.0, 0.0};
  const Boundaries boundaries(parameters, grid.size);
  const auto m = velocity_z_matrix(grid, boundaries, k_u);
  for (int k = 0; k < 17; ++k) {
    double curvature = m.diagonal[k] * grid.centre[k];
    if (k > 0) curvature += m.lower[k] * grid.centre[k - 1];
    if (k < 16) curvature += m.upper[k] * grid.centre[k + 1];
    if (k == 16) curvature += boundary_weight(grid, boundaries, k_u, 2, 1) * 3.0;
    EXPECT_NEAR(curvature, 0.0, 1e-10) << k;
  }
}

TEST(Operators, where_fluid_leaves_a_velocity_without_gradient_has_no_curvature) {
  const Grid grid(stretched(Stretching::tanh), false);
  for (const int open : {0, 1}) {
    FlowParameters parameters;
    parameters.boundary[2][open] = Side::outflow;
    const Boundaries boundaries(parameters, grid.size);
    const auto m = velocity_z_matrix(grid, boundaries, k_w);
    ASSERT_EQ(m.size(), 16);
    for (int k = 0; k < 16; ++k) {
      double curvature = m.diagonal[k];
      if (k > 0) curvature += m.lower[k];
      if (k < 15) curvature += m.upper[k];
      const int beside_wall = open == 0 ? 15 : 0;
      if (k == beside_wall) EXPECT_LT(curvature, -1.0);
      else EXPECT_NEAR(curvature, 0.0, 1e-12 * std::abs(m.diagonal[k])) << k;
    }
  }
}

TEST(Boundaries, conditions_follow_from_the_sides) {
  FlowParameters parameters;
  parameters.boundary[0] = {Side::inflow, Side::outflow};
  parameters.boundary[1] = {Side::free_slip, Side::wall};
  parameters.boundary_velocity[0][0] = {1.0, 0.0, 0.0};
  const Boundaries b(parameters, {1.0, 1.0, 1.0});
  EXPECT_EQ(b.of_velocity(k_u, 0, 1), Condition::neumann);
  EXPECT_EQ(b.of_pressure(0, 1), Condition::dirichlet);
  EXPECT_EQ(b.of_pressure(0, 0), Condition::neumann);
  EXPECT_EQ(b.of_velocity(k_u, 1, 0), Condition::neumann);
  EXPECT_EQ(b.of_velocity(k_v, 1, 0), Condition::dirichlet);
  EXPECT_EQ(b.of_velocity(k_u, 1, 1), Condition::dirichlet);
}

TEST(Boundaries, a_periodic_side_needs_a_partner) {
  FlowParameters parameters;
  parameters.boundary[1] = {Side::periodic, Side::wall};
  EXPECT_THROW(Boundaries(parameters, {1.0, 1.0, 1.0}), InputError);
}

TEST(RungeKutta, stages_add_up_to_a_step) {
  double alpha = 0.0, gamma = 0.0;
  for (int n = 0; n < k_stages; ++n) {
    const Stage stage = runge_kutta_stage(n, 2.0);
    alpha += stage.alpha + stage.beta;
    gamma += stage.gamma;
  }
  EXPECT_NEAR(alpha, 2.0, 1e-15);
  EXPECT_NEAR(gamma, 2.0, 1e-15);
}

TEST(RowSum, takes_every_value_once_whatever_the_length) {
  for (int n = 0; n < 40; ++n) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), 1.0);
    EXPECT_EQ(row_sum(values.data(), n), 0.5 * n * (n + 1));
  }
}

}  // namespace

}  // namespace octant::dns
