// Cells along z, and the boundary tables.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "dns/domain.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/operators.hpp"
#include "dns/prediction.hpp"
#include "flow_fixture.hpp"

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
  EXPECT_EQ(b.velocity_condition(k_u, 0, 1), Condition::neumann);
  EXPECT_EQ(b.pressure_condition(0, 1), Condition::dirichlet);
  EXPECT_EQ(b.pressure_condition(0, 0), Condition::neumann);
  EXPECT_EQ(b.velocity_condition(k_u, 1, 0), Condition::neumann);
  EXPECT_EQ(b.velocity_condition(k_v, 1, 0), Condition::dirichlet);
  EXPECT_EQ(b.velocity_condition(k_u, 1, 1), Condition::dirichlet);
}

TEST(Boundaries, a_periodic_side_needs_a_partner) {
  FlowParameters parameters;
  parameters.boundary[1] = {Side::periodic, Side::wall};
  EXPECT_THROW(Boundaries(parameters, {1.0, 1.0, 1.0}), InputError);
}

// The message with which a change of parameters is refused.
template <class Change>
std::string refused_boundaries(const Change& change) {
  FlowParameters parameters;
  change(parameters);
  return error_of<InputError>([&] { Boundaries(parameters, {1.0, 2.0, 3.0}); });
}

void expect_part(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << "\"" << message << "\" lacks " << part;
}

TEST(Boundaries, that_do_not_go_together_are_refused_by_name) {
  expect_part(refused_boundaries([](FlowParameters& p) { p.boundary[1] = {Side::wall}; }),
              "dns.boundary_y has 1 entries; expected two");
  expect_part(refused_boundaries([](FlowParameters& p) {
                p.boundary[0] = {Side::free_slip, Side::periodic};
              }),
              "dns.boundary_x = [\"free_slip\", \"periodic\"]: either both boundaries or neither "
              "must be periodic");
  expect_part(refused_boundaries([](FlowParameters& p) {
                p.boundary_velocity[2][0] = {0.0, 0.0, 1.0};
              }),
              "dns.velocity_z_lower = [0, 0, 1]: a wall can only move tangentially");
  expect_part(
      refused_boundaries([](FlowParameters& p) {
        p.boundary[2] = {Side::outflow, Side::inflow};
        p.boundary_velocity[2][1] = {0.0, 0.0, 1.0};
      }),
      "dns.velocity_z_upper = [0, 0, 1]: an inflow must point into the domain; expected a negative "
      "velocity along z");
  expect_part(
      refused_boundaries([](FlowParameters& p) {
        p.boundary[2] = {Side::wall, Side::free_slip};
        p.boundary_velocity[2][1] = {1.0, 0.0, 0.0};
      }),
      "the boundary type \"free_slip\" does not take a prescribed velocity; expected [0, 0, 0]");
  expect_part(refused_boundaries([](FlowParameters& p) {
                p.boundary[2] = {Side::inflow, Side::wall};
                p.boundary_velocity[2][0] = {0.0, 0.0, 0.5};
              }),
              "the inflows have a net volume flux of 1, but there is no outflow boundary");
  expect_part(
      refused_boundaries([](FlowParameters& p) {
        p.boundary[0] = {Side::wall, Side::free_slip};
        p.forcing = Forcing::bulk_velocity;
      }),
      "dns.forcing = \"bulk_velocity\" along x requires a periodic axis, but dns.boundary_x is "
      "[\"wall\", \"free_slip\"]");
}

TEST(Boundaries, whose_inflows_bring_in_what_others_take_out_need_no_outflow) {
  FlowParameters p;
  p.boundary[0] = {Side::inflow, Side::wall};
  p.boundary_velocity[0][0] = {1.0, 0.0, 0.0};
  expect_part(error_of<InputError>([&] { Boundaries(p, {1.0, 2.0, 3.0}); }), "no outflow");
  p.boundary[0] = {Side::inflow, Side::outflow};
  EXPECT_EQ(error_of<InputError>([&] { Boundaries(p, {1.0, 2.0, 3.0}); }), "");
}

// A file of numbers, removed at the end.
class NumberFile {
 public:
  explicit NumberFile(const std::string& text)
      : path((std::filesystem::temp_directory_path() / "octant_faces_").string() +
             std::to_string(::getpid())) {
    std::ofstream(path) << text;
  }
  ~NumberFile() { std::filesystem::remove(path); }
  std::string path;
};

std::string refused_faces(const std::string& text) {
  const NumberFile file(text);
  GridOptions options = stretched(Stretching::file);
  options.cells[2] = 3;
  options.stretching_file = file.path;
  return error_of<InputError>([&] {
    options.read_stretching_file(read_text_file);
    z_faces(options);
  });
}

TEST(Grid, faces_from_a_file_are_those_numbers) {
  const NumberFile file("0 0.5\n1.25 3.0\n");
  GridOptions options = stretched(Stretching::file);
  options.cells[2] = 3;
  options.stretching_file = file.path;
  options.read_stretching_file(read_text_file);
  EXPECT_EQ(z_faces(options), (std::vector<double>{0.0, 0.5, 1.25, 3.0}));
  const Grid grid(options, false);
  EXPECT_EQ(grid.dz_cell[1], 0.75);
  EXPECT_EQ(grid.centre[2], 2.125);
}

TEST(Grid, files_of_faces_that_do_not_fit_are_refused) {
  expect_part(refused_faces("0 1 2"),
              "the file has 3 values, but grid.cells[2] = 3 requires 4 face positions");
  expect_part(refused_faces("0 1 x 3"), "the entry after value 2 is not a number");
  expect_part(refused_faces("0 2 1 3"),
              "value 3 is 1, which does not exceed the previous value, 2");
  expect_part(refused_faces("0 1 2 2.5"),
              "the faces extend from 0 to 2.5; expected 0 to "
              "grid.size[2] = 3");
  GridOptions missing = stretched(Stretching::file);
  missing.stretching_file = "/nonexistent/faces";
  expect_part(error_of<InputError>([&] { missing.read_stretching_file(read_text_file); }),
              "grid.stretching_file = \"/nonexistent/faces\": cannot be read; expected a text file "
              "with 18 face positions");
}

TEST(Grid, lengths_that_rounding_errors_would_spoil_are_refused) {
  GridOptions flat = stretched(Stretching::uniform);
  flat.size = {4e-7, 1.0, 3.0};
  expect_part(error_of<InputError>([&] { Grid(flat, false); }),
              "the longest extent is 3 and the smallest face spacing is 1e-07");
  GridOptions vast = stretched(Stretching::uniform);
  vast.size = {1e51, 1e51, 1e51};
  expect_part(error_of<InputError>([&] { Grid(vast, false); }), "choose another unit of length");
}

TEST(Parameters, of_grid_and_flow_are_read_by_their_names) {
  GridOptions grid;
  FlowParameters flow;
  ScalarOptions scalar;
  ParameterSchema schema;
  declare(schema, grid);
  declare(schema, flow);
  declare(schema, scalar);
  schema.read_text(R"toml(
[grid]
cells = [4, 6, 8]
stretching = "tanh_lower"
[dns]
diffusion = "implicit_z"
boundary_x = ["inflow", "outflow"]
velocity_x_lower = [1.5, 0.0, 0.0]
schedule = "batches"
[scalar]
enabled = true
boundary_z = ["value", "insulated"]
values_z = [2.0, 0.0]
)toml",
                   "test");
  EXPECT_EQ(grid.cells, (std::array{4, 6, 8}));
  EXPECT_EQ(grid.stretching, Stretching::tanh_lower);
  EXPECT_EQ(flow.diffusion, Diffusion::implicit_z);
  EXPECT_EQ(flow.boundary_velocity[0][0][0], 1.5);
  EXPECT_TRUE(in_batches(flow));
  const Boundaries boundaries(flow, grid.size);
  const ScalarSides sides = scalar.sides(boundaries);
  EXPECT_EQ(sides[0][0].condition, Condition::dirichlet);
  EXPECT_EQ(sides[0][1].condition, Condition::neumann);  // an outflow
  EXPECT_EQ(sides[1][0].condition, Condition::periodic);
  EXPECT_EQ(sides[2][0].value, 2.0);
  EXPECT_EQ(sides[2][1].condition, Condition::neumann);
  scalar.boundary[0][0] = ScalarSideKind::insulated;
  expect_part(error_of<InputError>([&] { scalar.sides(boundaries); }),
              "scalar.boundary_x: the lower boundary is an inflow, where the scalar is prescribed");
  scalar.values[1] = {1.0};
  scalar.boundary[0][0] = ScalarSideKind::value;
  expect_part(error_of<InputError>([&] { scalar.sides(boundaries); }),
              "scalar.boundary_y and scalar.values_y have 2 and 1 entries; expected two each");
}

// A lid along z, or a wall along x, that moves over fluid whose profile is linear or at rest.
bool is_sudden(Diffusion diffusion, int axis, bool linear, bool hot) {
  FlowSetup setup;
  setup.grid.cells = {4, 4, 4};
  setup.flow.diffusion = diffusion;
  for (auto& sides : setup.flow.boundary) sides = {Side::periodic, Side::periodic};
  setup.flow.boundary[axis] = {Side::wall, Side::wall};
  if (!hot) setup.flow.boundary_velocity[axis][1][1] = axis == 1 ? 0.0 : 2.0;
  setup.scalar.enabled = hot;
  setup.scalar.values[axis] = {0.0, 2.0};
  TestFlow test(setup, {1, 1});
  const auto profile = [&](const TestFlow::Point& x) { return linear ? 2.0 * x[axis] : 0.0; };
  if (hot) test.set(test.flow().scalar(), -1, profile);
  test.set_velocity(
      [&](int c, const TestFlow::Point& x) { return !hot && c == k_v ? profile(x) : 0.0; });
  return has_sudden_walls(test.flow());
}

TEST(SuddenWalls, are_those_whose_value_jumps_where_diffusion_is_implicit) {
  for (const bool hot : {false, true}) {
    EXPECT_TRUE(is_sudden(Diffusion::implicit_z, 2, false, hot));
    EXPECT_TRUE(is_sudden(Diffusion::implicit_all, 0, false, hot));
    EXPECT_FALSE(is_sudden(Diffusion::implicit_z, 0, false, hot));  // explicit along x
    EXPECT_FALSE(is_sudden(Diffusion::explicit_all, 2, false, hot));
    for (const int axis : {0, 2}) EXPECT_FALSE(is_sudden(Diffusion::implicit_all, axis, true, hot));
  }
}

// The stiffest mode, 4 viscosity / spacing^2, times half of the longest stage, 8/15 of a step.
TEST(SuddenWalls, would_ring_in_steps_that_are_long_against_diffusion_across_a_cell) {
  FlowSetup setup;
  setup.grid.cells = {16, 4, 4};
  setup.flow.viscosity = 0.1;
  for (const Diffusion diffusion : {Diffusion::implicit_z, Diffusion::implicit_all}) {
    setup.flow.diffusion = diffusion;
    TestFlow test(setup, {1, 1});
    const double spacing = diffusion == Diffusion::implicit_z ? 0.25 : 1.0 / 16.0;
    const double longest = 15.0 / 16.0 * spacing * spacing / 0.1;
    EXPECT_FALSE(needs_damping(test.flow(), 0.999 * longest));
    EXPECT_TRUE(needs_damping(test.flow(), 1.001 * longest));
  }
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
