// Flows whose discrete solution is known: eigenmodes of the operators decay and move by the
// amplification factor of the Runge-Kutta scheme, and steady states stay, to rounding errors.
#include <complex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "dns/incompressible_flow.hpp"
#include "flow_fixture.hpp"

namespace octant::dns {

namespace {

using Point = TestFlow::Point;
using Complex = std::complex<double>;

constexpr double k_two_pi = 2.0 * M_PI;

// Rates of an eigenmode: of diffusion along x and y, and along z (negative), and of advection
// (imaginary).
struct ModeRates {
  double diffusion_xy, diffusion_z, advection;
};

// Factor by which a step multiplies the mode.
Complex amplification(Diffusion diffusion, const ModeRates& rates, double dt, bool damped) {
  const double implicit = (diffusion == Diffusion::implicit_all ? rates.diffusion_xy : 0.0) +
                          (diffusion != Diffusion::explicit_all ? rates.diffusion_z : 0.0);
  const Complex explicit_rate(rates.diffusion_xy + rates.diffusion_z - implicit, rates.advection);
  const double weight = damped ? 1.0 : 0.5;
  Complex value = 1.0, before = 0.0;
  for (int n = 0; n < k_stages; ++n) {
    const Stage stage = runge_kutta_stage(n, dt);
    const Complex rate = explicit_rate * value;
    value = value * (1.0 + (1.0 - weight) * stage.gamma * implicit) + stage.alpha * rate +
            stage.beta * before;
    value /= 1.0 - weight * stage.gamma * implicit;
    before = rate;
  }
  return value;
}

// Second difference of a wave of this length: eigenvalue.
double second_difference(double wave_number, double spacing) {
  const double s = 2.0 * std::sin(0.5 * wave_number * spacing) / spacing;
  return -s * s;
}

FlowSetup periodic_setup() {
  FlowSetup setup;
  setup.grid.cells = {8, 8, 8};
  setup.grid.size = {k_two_pi, k_two_pi, k_two_pi};
  for (auto& sides : setup.flow.boundary) sides = {Side::periodic, Side::periodic};
  setup.flow.viscosity = 0.2;
  return setup;
}

// Channel between walls along z with cells of equal size.
FlowSetup channel_setup(Axis axis) {
  FlowSetup setup;
  setup.grid.cells = {6, 8, 12};
  setup.grid.size = {1.3, 0.9, 1.1};
  setup.flow.viscosity = 0.3;
  setup.flow.forcing_axis = axis;
  return setup;
}

// The discrete solution of viscosity * second difference = -1 between walls, where a ghost is minus
// the value inside.
double parabola(const FlowSetup& setup, double z) {
  const double height = setup.grid.size[2], dz = height / setup.grid.cells[2];
  return 0.5 / setup.flow.viscosity * (z * (height - z) + 0.25 * dz * dz);
}

// Repeats a test for each treatment of diffusion, which alternates with the process grids.
template <class Test>
void for_all_flows(FlowSetup setup, const Test& test) {
  const auto grids = process_grids_of(setup.grid.cells);
  std::size_t turn = 0;
  for (const Diffusion diffusion : values_of<Diffusion>()) {
    const pencil::ProcessGrid processes = grids[turn++ % grids.size()];
    setup.flow.diffusion = diffusion;
    SCOPED_TRACE(fmt::format("{}, {}", name_of(diffusion), to_string(processes)));
    test(setup, processes);
  }
}

// u = sin x cos y, v = -cos x sin y: advection of this flow is a gradient, on the grid as well.
TEST(ExactFlows, taylor_green_vortices_decay_by_the_amplification_factor) {
  constexpr double dt = 0.15;
  constexpr int steps = 3;
  for (const auto& axes : {std::array{0, 1}, std::array{2, 0}, std::array{1, 2}})
    for_all_flows(periodic_setup(), [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
      const int a = axes[0], b = axes[1];
      TestFlow test(setup, processes);
      const auto vortices = [&](int component, const Point& x) {
        if (component == a) return std::sin(x[a]) * std::cos(x[b]);
        return component == b ? -std::cos(x[a]) * std::sin(x[b]) : 0.0;
      };
      test.set_velocity(vortices);
      const double energy = measure(test.flow()).kinetic_energy();
      EXPECT_NEAR(energy, 0.25, 1e-14);
      for (int n = 0; n < steps; ++n) test.flow().step(dt);
      const double rate = setup.flow.viscosity * second_difference(1.0, test.domain().grid.dx);
      const bool with_z = a == 2 || b == 2;
      const ModeRates rates{with_z ? rate : 2.0 * rate, with_z ? rate : 0.0, 0.0};
      const double factor =
          std::pow(amplification(setup.flow.diffusion, rates, dt, false).real(), steps);
      EXPECT_LT(factor, 0.9);
      EXPECT_LT(test.velocity_error([&](int c, const Point& x) { return factor * vortices(c, x); }),
                1e-13);
      const Totals totals = measure(test.flow());
      EXPECT_NEAR(totals.kinetic_energy(), factor * factor * energy, 1e-14);
      EXPECT_LT(totals.scaled_divergence, 1e-13);
    });
}

// A shear wave and a wave of the scalar that a uniform stream carries along.
TEST(ExactFlows, a_uniform_stream_carries_waves_by_the_amplification_factor) {
  constexpr double dt = 0.12;
  constexpr int steps = 3;
  constexpr double k_stream[] = {0.7, -0.4, 0.3};
  for (int axis = 0; axis < 3; ++axis) {
    FlowSetup carrying = periodic_setup();
    carrying.scalar.enabled = true;
    carrying.scalar.diffusivity = 0.1;
    for_all_flows(carrying, [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
      TestFlow test(setup, processes);
      const int component = (axis + 1) % 3;
      const auto wave = [&](const Point& x, Complex factor) {
        return (factor * std::polar(1.0, x[axis])).imag();
      };
      const auto velocity = [&](int c, const Point& x, Complex factor) {
        return k_stream[c] + (c == component ? wave(x, factor) : 0.0);
      };
      test.set(test.flow().scalar(), -1, [&](const Point& x) { return 2.0 + wave(x, 1.0); });
      test.set_velocity([&](int c, const Point& x) { return velocity(c, x, 1.0); });
      test.flow().set_damped_steps(1);
      for (int n = 0; n < steps; ++n) {
        EXPECT_EQ(test.flow().damped_steps(), n == 0 ? 1 : 0);
        test.flow().step(dt);
      }
      const double dx = test.domain().grid.dx;
      const auto factor_of = [&](double diffusivity) {
        const double rate = diffusivity * second_difference(1.0, dx);
        const ModeRates rates{axis < 2 ? rate : 0.0, axis < 2 ? 0.0 : rate,
                              -k_stream[axis] * std::sin(dx) / dx};
        const Diffusion diffusion = setup.flow.diffusion;
        return amplification(diffusion, rates, dt, true) *
               std::pow(amplification(diffusion, rates, dt, false), steps - 1);
      };
      const Complex velocity_condition = factor_of(setup.flow.viscosity),
                    of_scalar = factor_of(setup.scalar.diffusivity);
      EXPECT_LT(std::abs(velocity_condition), 0.96);
      EXPECT_LT(test.velocity_error(
                    [&](int c, const Point& x) { return velocity(c, x, velocity_condition); }),
                1e-13);
      EXPECT_LT(test.error(test.flow().scalar(), -1,
                           [&](const Point& x) { return 2.0 + wave(x, of_scalar); }),
                1e-13);
    });
  }
}

TEST(ExactFlows, a_pressure_gradient_keeps_the_parabola_between_walls) {
  constexpr double k_gradient = 2.0;
  for (const Axis axis : {Axis::x, Axis::y}) {
    FlowSetup driven = channel_setup(axis);
    driven.flow.forcing = Forcing::pressure_gradient;
    driven.flow.pressure_gradient = k_gradient;
    for_all_flows(driven, [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
      TestFlow test(setup, processes);
      const auto profile = [&](int c, const Point& x) {
        return c == index_of(axis) ? k_gradient * parabola(setup, x[2]) : 0.0;
      };
      test.set_velocity(profile);
      for (int n = 0; n < 4; ++n) test.flow().step(0.005);
      EXPECT_LT(test.velocity_error(profile), 1e-13);
      EXPECT_EQ(test.flow().mean_force(), k_gradient);
      // Friction at the walls balances the force. Wall shear is that of u.
      const Totals totals = measure(test.flow());
      const double balance = axis == Axis::x ? k_gradient * setup.grid.size[2] : 0.0;
      EXPECT_NEAR(totals.wall_shear[0] - totals.wall_shear[1], balance, 1e-12);
    });
  }
}

TEST(ExactFlows, the_force_that_keeps_the_mean_of_a_parabola_is_its_pressure_gradient) {
  constexpr double k_gradient = 2.0;
  for (const Axis axis : {Axis::x, Axis::y}) {
    FlowSetup driven = channel_setup(axis);
    double mean = 0.0;
    const int cells = driven.grid.cells[2];
    for (int k = 0; k < cells; ++k)
      mean += k_gradient * parabola(driven, (k + 0.5) * driven.grid.size[2] / cells) / cells;
    driven.flow.forcing = Forcing::bulk_velocity;
    driven.flow.bulk_velocity = mean;
    for_all_flows(driven, [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
      TestFlow test(setup, processes);
      const auto profile = [&](int c, const Point& x) {
        return c == index_of(axis) ? k_gradient * parabola(setup, x[2]) : 0.0;
      };
      test.set_velocity(profile);
      for (int n = 0; n < 4; ++n) {
        test.flow().step(0.005);
        EXPECT_NEAR(test.flow().mean_force(), k_gradient, 1e-10);
      }
      EXPECT_LT(test.velocity_error(profile), 1e-12);
    });
  }
}

// With implicit diffusion the forcing of a stage balances the wall friction of the present velocity
// instead of that of the new one: the mean then has an error of second order in the step.
TEST(ExactFlows, the_mean_velocity_is_kept_whatever_the_flow_and_its_side_walls) {
  for (const bool duct : {false, true}) {
    FlowSetup driven = channel_setup(Axis::x);
    driven.flow.forcing = Forcing::bulk_velocity;
    driven.flow.bulk_velocity = 0.6;
    driven.grid.stretching = Stretching::tanh;
    if (duct) driven.flow.boundary[1] = {Side::wall, Side::free_slip};
    for_all_flows(driven, [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
      double errors[2];
      for (const int refined : {0, 1}) {
        TestFlow test(setup, processes);
        test.set_velocity([](int c, const Point& x) {
          return std::sin(1.0 + c + 5.0 * x[0] * x[1] + 3.0 * x[2]);
        });
        test.flow().step(refined ? 1e-4 : 2e-4);
        errors[refined] = std::abs(measure(test.flow()).mean[0] - 0.6);
      }
      if (setup.flow.diffusion == Diffusion::explicit_all) {
        EXPECT_LT(errors[0], 1e-13);
      } else {
        EXPECT_LT(errors[0], 1e-4);
        EXPECT_GT(errors[0], 3.5 * errors[1]);
      }
    });
  }
}

TEST(ExactFlows, sliding_walls_and_values_at_sides_keep_linear_profiles) {
  for (int axis = 0; axis < 3; ++axis) {
    FlowSetup sheared;
    sheared.grid.cells = {8, 8, 9};
    sheared.grid.size = {1.3, 0.9, 1.1};
    if (axis == 2) sheared.grid.stretching = Stretching::tanh_lower;
    for (auto& sides : sheared.flow.boundary) sides = {Side::periodic, Side::periodic};
    sheared.flow.boundary[axis] = {Side::wall, Side::wall};
    sheared.flow.boundary_velocity[axis] = {Vector{0.3, 0.2, -0.1}, Vector{-0.5, 0.4, 0.7}};
    for (Vector& velocity : sheared.flow.boundary_velocity[axis]) velocity[axis] = 0.0;
    sheared.scalar.enabled = true;
    sheared.scalar.values[axis] = {1.0, -2.0};
    for_all_flows(sheared, [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
      TestFlow test(setup, processes);
      const auto between = [&](double lower, double upper, const Point& x) {
        return lower + (upper - lower) * x[axis] / setup.grid.size[axis];
      };
      const auto shear = [&](int c, const Point& x) {
        const auto& sides = setup.flow.boundary_velocity[axis];
        return between(sides[0][c], sides[1][c], x);
      };
      const auto conduction = [&](const Point& x) { return between(1.0, -2.0, x); };
      test.set(test.flow().scalar(), -1, conduction);
      test.set_velocity(shear);
      for (int n = 0; n < 3; ++n) test.flow().step(0.01);
      EXPECT_LT(test.velocity_error(shear), 1e-12);
      EXPECT_LT(test.error(test.flow().scalar(), -1, conduction), 1e-12);
      if (axis < 2) return;
      const Totals totals = measure(test.flow());
      const double height = setup.grid.size[2];
      for (const int end : {0, 1}) {
        EXPECT_NEAR(totals.wall_shear[end], setup.flow.viscosity * -0.8 / height, 1e-13);
        EXPECT_NEAR(totals.scalar_flux[end], setup.scalar.diffusivity * 3.0 / height, 1e-13);
      }
    });
  }
}

TEST(ExactFlows, a_stratified_fluid_stays_at_rest_and_its_pressure_holds_it) {
  FlowSetup stratified = channel_setup(Axis::x);
  stratified.grid.stretching = Stretching::tanh_upper;
  stratified.scalar.enabled = true;
  stratified.scalar.values[2] = {0.5, 2.0};
  stratified.scalar.buoyancy = 4.0;
  stratified.scalar.reference = 0.25;
  for_all_flows(stratified, [](const FlowSetup& setup, pencil::ProcessGrid processes) {
    TestFlow test(setup, processes);
    const auto linear = [&](const Point& x) { return 0.5 + 1.5 * x[2] / setup.grid.size[2]; };
    test.set(test.flow().scalar(), -1, linear);
    test.set_velocity([](int, const Point&) { return 0.0; });
    for (int n = 0; n < 2; ++n) test.flow().step(0.005);
    EXPECT_LT(test.velocity_error([](int, const Point&) { return 0.0; }), 1e-13);
    const Domain& d = test.domain();
    const Field& p = test.state().p;
    for (int k = 0; k < d.unknowns(k_w, 2); ++k) {
      const double buoyancy = 4.0 * (linear(test.place(k_w, 0, 0, k)) - 0.25);
      EXPECT_NEAR((p(1, 1, k + 1) - p(1, 1, k)) / d.dz_face[k], buoyancy, 1e-11);
    }
  });
}

TEST(ExactFlows, a_uniform_stream_passes_through_the_domain_unchanged) {
  for (int axis = 0; axis < 3; ++axis)
    for (const int inflow : {0, 1}) {
      FlowSetup stream;
      stream.grid.cells = {8, 8, 8};
      stream.grid.size = {1.3, 0.9, 1.1};
      for (auto& sides : stream.flow.boundary) sides = {Side::free_slip, Side::free_slip};
      stream.flow.boundary[axis] = {Side::outflow, Side::outflow};
      stream.flow.boundary[axis][inflow] = Side::inflow;
      const double speed = inflow == 0 ? 0.8 : -0.8;
      stream.flow.boundary_velocity[axis][inflow][axis] = speed;
      for_all_flows(stream, [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
        TestFlow test(setup, processes);
        const auto uniform = [&](int c, const Point&) { return c == axis ? speed : 0.0; };
        test.set_velocity(uniform);
        for (int n = 0; n < 3; ++n) test.flow().step(0.01);
        EXPECT_LT(test.velocity_error(uniform), 1e-13);
        // Advection alone, and diffusion along the axes where it is explicit, limit the step.
        const Grid& grid = test.domain().grid;
        const double spacing = axis == 2 ? grid.dz_cell[0] : grid.spacing(axis);
        const double xy = 1.0 / (grid.dx * grid.dx) + 1.0 / (grid.dy * grid.dy);
        const double z = 1.0 / (grid.dz_cell[0] * grid.dz_cell[0]);
        const double squares[] = {xy + z, xy, 0.0};
        const double rate =
            0.8 / spacing / std::sqrt(3.0) +
            4.0 * setup.flow.viscosity * squares[static_cast<int>(setup.flow.diffusion)] / 2.51;
        EXPECT_NEAR(stable_step(test.flow(), measure(test.flow()), 0.5), 0.5 / rate, 1e-12);
      });
    }
}

// Reads the section [sources] of a parameter file.
void read_force(BodyForce& force, const std::string& section) {
  ParameterSchema schema;
  force.declare(schema);
  schema.read_text("[sources]\n" + section, "test");
}

TEST(BodyForces, that_change_with_time_are_integrated_to_second_order) {
  const FlowSetup setup = periodic_setup();
  for (const pencil::ProcessGrid processes : process_grids_of(setup.grid.cells)) {
    const Grid grid(setup.grid, true);
    BodyForce force;
    read_force(force, R"toml(acceleration = ["cos(2*t)", "0", "-0.5*t"])toml");
    force.prepare(grid, setup.flow.viscosity);
    EXPECT_TRUE(force.changes_with_time());
    EXPECT_TRUE(force.is_uniform_along_x());
    double errors[2];
    for (const int refined : {0, 1}) {
      TestFlow run(setup, processes, &force);
      const int steps = refined ? 8 : 4;
      for (int n = 0; n < steps; ++n) run.flow().step(1.0 / steps);
      errors[refined] =
          run.error(run.state().u, k_u, [](const Point&) { return std::sin(2.0) / 2.0; });
      EXPECT_LT(run.error(run.state().v, k_v, [](const Point&) { return 0.0; }), 1e-15);
      EXPECT_LT(run.error(run.state().w, k_w, [](const Point&) { return -0.25; }), 1e-14);
      EXPECT_NEAR(run.flow().largest_force()[0], std::abs(std::cos(2.0)), 1e-14);
      EXPECT_NEAR(run.flow().largest_force()[2], 0.5, 1e-14);
    }
    EXPECT_GT(errors[0], 3.8 * errors[1]);
    EXPECT_LT(errors[0], 4.3 * errors[1]);
  }
}

TEST(BodyForces, that_differ_from_place_to_place_are_balanced_by_friction) {
  for_all_flows(periodic_setup(), [&](const FlowSetup& setup, pencil::ProcessGrid processes) {
    const Grid grid(setup.grid, true);
    BodyForce force;
    read_force(force, R"toml(acceleration = ["2*sin(k*y)", "0", "0"]
constants = ["k = 2*pi/size_y"])toml");
    force.prepare(grid, setup.flow.viscosity);
    EXPECT_FALSE(force.changes_with_time());
    TestFlow run(setup, processes, &force);
    const double friction = -setup.flow.viscosity * second_difference(1.0, grid.dy);
    const auto kolmogorov = [&](int c, const Point& x) {
      return c == k_u ? 2.0 * std::sin(x[1]) / friction : 0.0;
    };
    run.set_velocity(kolmogorov);
    for (int n = 0; n < 2; ++n) run.flow().step(0.01);
    EXPECT_LT(run.velocity_error(kolmogorov), 1e-13 / friction);
  });
}

TEST(BodyForces, without_three_expressions_or_finite_values_are_refused) {
  const Grid grid(periodic_setup().grid, true);
  BodyForce two, none, some;
  read_force(two, R"toml(acceleration = ["1", "0"])toml");
  EXPECT_EQ(error_of<InputError>([&] { two.prepare(grid, 1.0); }),
            "sources.acceleration: expected 3 expressions, found 2");
  read_force(none, "");
  EXPECT_FALSE(none.is_wanted());
  none.prepare(grid, 1.0);
  read_force(some, R"toml(acceleration = ["0", "1/(x-x)", "r"]
centre = [0.0, 0.0, 3.0])toml");
  some.prepare(grid, 1.0);
  EXPECT_FALSE(some.is_uniform_along_x());
  EXPECT_TRUE(some.vanishes(k_u));
  EXPECT_EQ(some.at(k_w, {0.0, 4.0, 0.0}, 0.0), 5.0);
  const std::string message = error_of<RunError>([&] { some.at(k_v, {0.5, 0.25, 2.0}, 1.5); });
  EXPECT_NE(message.find("sources.acceleration[1]"), std::string::npos) << message;
  EXPECT_NE(message.find("at x = 0.5, y = 0.25, z = 2, t = 1.5; expected a finite number"),
            std::string::npos)
      << message;
}

}  // namespace

}  // namespace octant::dns
