// Difference operators, kernels of one row, and what boundaries add to them.
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "dns/forcing.hpp"
#include "dns/ghosts.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/operators.hpp"
#include "dns/projection.hpp"
#include "dns/scalar.hpp"
#include "flow_fixture.hpp"

namespace octant::dns {

namespace {

// A channel with walls along z, on a stretched grid.
FlowSetup channel() {
  FlowSetup setup;
  setup.grid.cells = {6, 5, 9};
  setup.grid.size = {1.2, 0.8, 1.0};
  setup.grid.stretching = Stretching::tanh;
  return setup;
}

// The part of it that a process alone holds: all.
Domain domain_of(const FlowSetup& setup) {
  const Boundaries boundaries(setup.flow, setup.grid.size);
  const Communicator& world = Communicator::world();
  return Domain(world.split(world.rank()), Grid(setup.grid, boundaries.periodic(2)), boundaries,
                {1, 1});
}

std::vector<double> times(const pencil::TridiagonalMatrix& m, const std::vector<double>& x) {
  const int n = m.size();
  std::vector<double> y(n);
  for (int k = 0; k < n; ++k) {
    y[k] = m.diagonal[k] * x[k];
    if (k > 0) y[k] += m.lower[k] * x[k - 1];
    if (k + 1 < n) y[k] += m.upper[k] * x[k + 1];
  }
  return y;
}

TEST(Operators, a_helmholtz_matrix_is_the_identity_plus_a_multiple) {
  const Domain d = domain_of(channel());
  const auto second = velocity_z_matrix(d.grid, d.boundaries, k_u);
  const auto matrix = helmholtz(second, -0.3);
  for (int k = 0; k < second.size(); ++k) {
    EXPECT_EQ(matrix.diagonal[k], 1.0 - 0.3 * second.diagonal[k]);
    EXPECT_EQ(matrix.lower[k], -0.3 * second.lower[k]);
    EXPECT_EQ(matrix.upper[k], -0.3 * second.upper[k]);
  }
}

TEST(Operators, planes_beyond_the_unknowns_keep_their_values) {
  const Domain d = domain_of(channel());
  auto matrix = helmholtz(velocity_z_matrix(d.grid, d.boundaries, k_w), -0.3);
  ASSERT_EQ(matrix.size(), 8);
  append_identity_rows(matrix, 9);
  ASSERT_EQ(matrix.size(), 9);
  EXPECT_EQ(matrix.diagonal[8], 1.0);
  EXPECT_EQ(matrix.lower[8], 0.0);
  EXPECT_EQ(matrix.upper[7], 0.0);
}

TEST(Operators, the_response_to_one_solves_its_matrix) {
  const Domain d = domain_of(channel());
  const auto matrix = helmholtz(velocity_z_matrix(d.grid, d.boundaries, k_u), -0.02);
  const std::vector<double> response = response_to_one(matrix);
  for (const double value : times(matrix, response)) EXPECT_NEAR(value, 1.0, 1e-13);
}

TEST(Operators, a_constant_pressure_has_no_second_derivative_between_walls) {
  const Domain d = domain_of(channel());
  const auto matrix = pressure_z_matrix(d.grid, d.boundaries);
  for (const double value : times(matrix, std::vector<double>(matrix.size(), 1.0)))
    EXPECT_NEAR(value, 0.0, 1e-11);
}

TEST(Operators, boundary_weights_follow_from_where_a_component_lies) {
  FlowSetup setup = channel();
  setup.flow.boundary[1] = {Side::free_slip, Side::wall};
  const Domain d = domain_of(setup);
  const double dy2 = d.grid.dy * d.grid.dy;
  const auto weight = [&](int component, int axis, int end) {
    return boundary_weight(d.grid, d.boundaries, component, axis, end);
  };
  EXPECT_EQ(weight(k_u, 0, 0), 0.0);  // periodic
  EXPECT_EQ(weight(k_u, 1, 0), 0.0);  // free slip
  EXPECT_DOUBLE_EQ(weight(k_u, 1, 1), 2.0 / dy2);
  EXPECT_DOUBLE_EQ(weight(k_v, 1, 0), 1.0 / dy2);
}

TEST(Operators, diffusion_of_a_scalar_leaves_one_cell_as_it_enters_the_next) {
  const Domain d = domain_of(channel());
  for (int k = 0; k + 1 < d.nz; ++k) {
    const ScalarOperator here = scalar_operator(d, 0.1, k), above = scalar_operator(d, 0.1, k + 1);
    EXPECT_DOUBLE_EQ(here.above * d.dz_cell[k], above.below * d.dz_cell[k + 1]);
  }
}

TEST(Domain, a_face_on_an_upper_wall_is_no_unknown) {
  const Domain d = domain_of(channel());
  EXPECT_EQ(d.unknowns(k_w, 2), d.nz - 1);
  EXPECT_EQ(d.unknowns(k_u, 2), d.nz);
  EXPECT_EQ(d.unknowns(k_v, 1), d.ny);  // periodic
  EXPECT_TRUE(d.ends(2, 0));
  EXPECT_FALSE(d.ends(1, 0));
}

TEST(Domain, faces_of_a_lower_outflow_belong_to_the_state) {
  FlowSetup setup = channel();
  setup.flow.boundary[0] = {Side::outflow, Side::wall};
  const Domain d = domain_of(setup);
  EXPECT_EQ(d.first(k_u, 0), -1);
  EXPECT_EQ(d.first(k_v, 0), 0);
  EXPECT_EQ(d.first(k_w, 2), 0);
}

TEST(GhostRules, follow_from_sides_and_quantities) {
  FlowSetup setup = channel();
  setup.flow.boundary_velocity[2][1] = {0.5, 0.0, 0.0};
  const Domain d = domain_of(setup);
  ScalarSides sides;
  sides[2][0] = {Condition::dirichlet, 3.0};
  const GhostRules rules = ghost_rules(d.boundaries, sides);
  EXPECT_EQ(rules[k_u][2][1].value, 0.5);
  EXPECT_FALSE(rules[k_u][2][1].on_face);
  EXPECT_TRUE(rules[k_w][2][0].on_face);
  EXPECT_EQ(rules[k_pressure][2][0].condition, Condition::neumann);
  EXPECT_EQ(rules[k_pressure][0][0].condition, Condition::periodic);
  EXPECT_EQ(rules[k_scalar][2][0].value, 3.0);
}

// Fills a field with numbers that differ everywhere, and its ghosts by the schedule of a place.
template <Place place, class Values, class AllGhosts, class Options>
Field with_ghosts(const FlowSetup& setup, int quantity, const Options& options) {
  const Domain d = domain_of(setup);
  Field field(d.box);
  for (int k = 0; k < d.nz; ++k)
    for (int j = 0; j < d.ny; ++j)
      for (int i = 0; i < d.nx; ++i) field(i, j, k) = std::sin(1.0 + i + 7.0 * j + 41.0 * k);
  const Outflow<place> outflow(d, setup.flow.viscosity);
  AllGhosts ghosts(d, options, outflow);
  if constexpr (place == Place::host) {
    ghosts.fill(field, quantity);
  } else {
    DeviceField device(d.box);
    device.copy_from(field);
    ghosts.fill(device, quantity);
    device.copy_to(field);
  }
  return field;
}

TEST(Ghosts, have_the_same_bits_plane_by_plane_and_all_at_once) {
  FlowSetup setup = channel();
  setup.flow.boundary[1] = {Side::wall, Side::free_slip};
  setup.flow.boundary_velocity[2][1] = {0.5, -0.25, 0.0};
  for (int quantity = 0; quantity <= k_pressure; ++quantity) {
    const Field a = with_ghosts<Place::host, Field, Ghosts>(setup, quantity, pencil::HaloOptions{});
    const Field b =
        with_ghosts<Place::device, DeviceField, BatchGhosts>(setup, quantity, CommOptions{});
    for (int k = -1; k <= a.nz(); ++k)
      for (int j = -1; j <= a.ny(); ++j)
        for (int i = -1; i <= a.nx(); ++i)
          ASSERT_EQ(a.row(k, j)[i], b.row(k, j)[i])
              << quantity << " at " << i << ", " << j << ", " << k;
  }
}

TEST(Ghosts, of_a_moving_wall_put_its_velocity_half_way_between_the_cells) {
  FlowSetup setup = channel();
  setup.flow.boundary_velocity[2][1] = {0.5, -0.25, 0.0};
  const Field u = with_ghosts<Place::host, Field, Ghosts>(setup, k_u, pencil::HaloOptions{});
  for (int j = 0; j < u.ny(); ++j)
    for (int i = 0; i < u.nx(); ++i)
      EXPECT_NEAR(0.5 * (u(i, j, u.nz() - 1) + u.row(u.nz(), j)[i]), 0.5, 1e-15);
}

TEST(ScalarSides, are_insulated_at_outflows_and_continue_at_periodic_sides) {
  FlowSetup setup = channel();
  setup.flow.boundary[0] = {Side::inflow, Side::outflow};
  setup.flow.boundary_velocity[0][0] = {1.0, 0.0, 0.0};
  const ScalarSides sides = setup.scalar.sides(domain_of(setup).boundaries);
  EXPECT_EQ(sides[0][0].condition, Condition::dirichlet);
  EXPECT_EQ(sides[0][1].condition, Condition::neumann);
  EXPECT_EQ(sides[1][0].condition, Condition::periodic);
}

TEST(ScalarSides, that_an_inflow_contradicts_are_refused) {
  FlowSetup setup = channel();
  setup.flow.boundary[0] = {Side::inflow, Side::outflow};
  setup.flow.boundary_velocity[0][0] = {1.0, 0.0, 0.0};
  setup.scalar.boundary[0] = {ScalarSideKind::insulated, ScalarSideKind::value};
  const Domain d = domain_of(setup);
  EXPECT_NE(error_of<InputError>([&] { setup.scalar.sides(d.boundaries); }).find("boundary_x"),
            std::string::npos);
  setup.scalar.boundary[0] = {ScalarSideKind::value};
  EXPECT_NE(error_of<InputError>([&] { setup.scalar.sides(d.boundaries); }).find("two each"),
            std::string::npos);
}

TEST(Scalar, its_value_at_a_wall_adds_twice_its_curvature_beside_the_wall) {
  FlowSetup setup = channel();
  setup.scalar.values[2] = {3.0, -1.0};
  const Domain d = domain_of(setup);
  const ScalarSides sides = setup.scalar.sides(d.boundaries);
  const double square = d.dz_cell[0] * d.dz_face[-1];
  EXPECT_DOUBLE_EQ(scalar_source(d, sides, 2, 0, 0.5), 2.0 * 0.5 * 3.0 / square);
  EXPECT_LT(scalar_source(d, sides, 2, 1, 0.5), 0.0);
  EXPECT_EQ(scalar_source(d, sides, 1, 0, 0.5), 0.0);  // periodic
}

TEST(Scalar, buoyancy_is_linear_in_the_excess_over_the_reference) {
  FlowSetup setup = channel();
  setup.scalar.buoyancy = 2.0;
  setup.scalar.reference = 0.7;
  const Domain d = domain_of(setup);
  const Stage stage = runge_kutta_stage(1, 0.1);
  for (int k = 0; k + 1 < d.nz; ++k) {
    const auto [here, above, none] = buoyancy_weights(d, setup.scalar, stage, k);
    const double cold[] = {0.7, 0.7}, warm[] = {1.7, 1.7};
    double w[] = {0.0, 0.0};
    const auto act = [&, a = here, b = above, c = none](const double* t, double* to) {
      Buoyancy{t, t, t, t, a, b, c, to}(0);
    };
    act(cold, &w[0]), act(warm, &w[1]);
    EXPECT_NEAR(w[0], 0.0, 1e-16);
    EXPECT_NEAR(w[1], 2.0 * stage.gamma, 1e-15);
  }
}

TEST(Kernels, the_divergence_of_a_linear_velocity_is_the_sum_of_its_slopes) {
  const double u[] = {1.0, 1.5, 2.0}, v[] = {4.0, 4.0}, v_south[] = {3.0, 3.0}, w[] = {0.0, 0.0},
               w_bottom[] = {0.25, 0.25};
  double result[2];
  for_each_cell(2, Divergence{2.0, 3.0, 4.0, u + 1, v, v_south, w, w_bottom, result});
  for (const double value : result) EXPECT_EQ(value, 2.0 * 0.5 + 3.0 * 1.0 - 4.0 * 0.25);
}

TEST(Kernels, a_correction_subtracts_the_gradient_and_adds_the_forcing) {
  const double velocity[] = {1.0, 2.0}, phi[] = {0.5, 0.25}, next[] = {1.5, 0.75};
  double result[2];
  for_each_cell(2, VelocityCorrection{velocity, phi, next, 0.5, 0.125, result});
  EXPECT_EQ(result[0], 1.0 - 0.5 * 1.0 + 0.125);
  EXPECT_EQ(result[1], 2.0 - 0.5 * 0.5 + 0.125);
}

TEST(Kernels, the_pressure_gains_the_laplacian_of_the_correction_where_diffusion_is_implicit) {
  const double phi[] = {1.0, 4.0, 9.0}, above[] = {5.0}, below[] = {2.0}, north[] = {6.0},
               south[] = {3.0};
  const auto updated = [&](auto diffusion) {
    double p = 10.0;
    const PressureRows rows{phi + 1, above, below, north, south, &p, 0.5, 0.25, 2.0, 3.0};
    PressureUpdate<decltype(diffusion)::value>{rows}(0);
    return p;
  };
  const double along_z = 0.5 * (5.0 - 4.0) - 0.25 * (4.0 - 2.0);
  const double along_xy = 2.0 * (9.0 + 1.0 - 8.0) + 3.0 * (6.0 + 3.0 - 8.0);
  using enum Diffusion;
  EXPECT_EQ(updated(std::integral_constant<Diffusion, explicit_all>{}), 14.0);
  EXPECT_EQ(updated(std::integral_constant<Diffusion, implicit_z>{}), 14.0 + along_z);
  EXPECT_EQ(updated(std::integral_constant<Diffusion, implicit_all>{}), 14.0 + along_z + along_xy);
}

TEST(Kernels, a_uniform_scalar_stays_uniform_in_a_flow_without_divergence) {
  const double t[] = {2.0, 2.0, 2.0}, u[] = {0.5, 0.5, 0.5}, v[] = {1.0}, w[] = {-3.0};
  double rhs = 0.0, result = 0.0;
  const double* row = t + 1;
  const ScalarRows rows{row, row, row, row, row, u + 1, v, v, w, w, &rhs, &result};
  ScalarCell<Diffusion::explicit_all>{
      {1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.4}, runge_kutta_stage(0, 0.1), rows}(0);
  EXPECT_EQ(rhs, 0.0);
  EXPECT_EQ(result, 2.0);
}

TEST(Launches, reach_every_cell_once_in_both_places) {
  const pencil::Box box{Range{0, 5}, {0, 4}, {0, 3}};
  Field host(box);
  add_to_cells<HostSpace>(view_of(host), 1.0);
  add_beside<HostSpace>(view_of(host), 1, 1, 2.0);
  DeviceField device(box);
  add_to_cells(device.view(), 1.0);
  add_beside(device.view(), 1, 1, 2.0);
  Field copy(box);
  device.copy_to(copy);
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(host(i, j, k), j == 3 ? 3.0 : 1.0);
        EXPECT_EQ(copy(i, j, k), host(i, j, k));
      }
}

TEST(Correction, takes_its_coefficients_from_the_treatment_of_diffusion) {
  FlowParameters parameters;
  parameters.viscosity = 0.1;
  const Stage stage = runge_kutta_stage(0, 0.5);
  const double half = -0.5 * 0.1 * stage.gamma;
  EXPECT_EQ(correction_step(parameters, stage, 0.0).implicit_z, 0.0);
  parameters.diffusion = Diffusion::implicit_z;
  EXPECT_DOUBLE_EQ(correction_step(parameters, stage, 0.0).implicit_z, half);
  EXPECT_EQ(correction_step(parameters, stage, 0.0).implicit_xy, 0.0);
  parameters.diffusion = Diffusion::implicit_all;
  EXPECT_DOUBLE_EQ(correction_step(parameters, stage, 0.0).implicit_xy, half);
}

TEST(Forcing, the_missing_velocity_is_the_mean_that_is_wanted_less_the_one_there_is) {
  const Domain d = domain_of(channel());
  FlowParameters parameters;
  parameters.bulk_velocity = 0.75;
  ReproducibleSum sum;
  for (int k = 0; k < d.nz; ++k) sum += 0.5 * d.nx * d.ny * d.dz_cell[k];
  EXPECT_NEAR(missing_velocity(d, parameters, sum), 0.25, 1e-14);
}

TEST(StableStep, is_infinite_in_a_fluid_at_rest_whose_diffusion_is_implicit) {
  FlowSetup setup = channel();
  setup.flow.diffusion = Diffusion::implicit_all;
  TestFlow resting(setup, {1, 1});
  resting.flow().complete();
  EXPECT_EQ(stable_step(resting.flow(), measure(resting.flow()), 1.0),
            std::numeric_limits<double>::infinity());
  setup.flow.diffusion = Diffusion::explicit_all;
  TestFlow diffusing(setup, {1, 1});
  diffusing.flow().complete();
  const double dz = diffusing.domain().dz_cell[0];
  EXPECT_LT(stable_step(diffusing.flow(), measure(diffusing.flow()), 1.0),
            2.51 * dz * dz / (4.0 * setup.flow.viscosity));
}

}  // namespace

}  // namespace octant::dns
