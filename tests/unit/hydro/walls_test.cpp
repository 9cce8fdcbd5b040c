// Sides of the domain that gas does not enter: the flux through a wall is the pressure alone.
#include <gtest/gtest.h>

#include "hydro/fallback.hpp"
#include "hydro/riemann.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

struct Side {
  int axis, side;
  bool is_diode;
};

// Gas between faces 0 and 8 of an axis, with what a boundary puts beyond them in the other half of
// the box: its mirror image.
PrimitiveAt mirrored(const PrimitiveAt& gas, int axis) {
  return [=](double x, double y, double z) {
    std::array<double, 3> at{x, y, z};
    const bool beyond = at[axis] > 0.5;
    if (beyond) at[axis] = 1.0 - at[axis];
    auto w = gas(at[0], at[1], at[2]);
    if (beyond) w[k_velocity_x + axis] = -w[k_velocity_x + axis];
    return w;
  };
}

// Of all variables, what one step takes through the 64 faces of one side.
std::vector<double> flux_through(const HydroOptions& options, const Side& side, int N, int M,
                                 const PrimitiveAt& gas, BatchBuffer* batches) {
  UniformBlocks box(options, {{16, 16, 16}, N, M});
  box.use(batches);
  box.set(mirrored(gas, side.axis));
  for (int s : {0, 1}) box.tiles().closed[side.axis][s] = {8 * s, side.is_diode};
  mesh::FluxRegisterFaces request{};
  request.axis = static_cast<std::int8_t>(side.axis);
  request.plane = static_cast<std::int16_t>(8 * side.side);
  request.a_end = request.b_end = 8;
  request.stride_b = 8, request.stride_variable = 64;
  box.request(0, request, std::size_t(64) * options.variable_count());
  box.step(1e-2);
  const auto found = box.registers();
  return {found.data(), found.data() + found.extent(0)};
}

HydroOptions options_of(Integrator integrator, const std::string& reconstruction,
                        const std::string& riemann) {
  HydroOptions options;
  options.integrator = integrator;
  options.reconstruction = reconstruction;
  options.riemann = riemann;
  options.scalars = passive_scalars(2);
  options.acceleration = {0.3, -0.7, 0.5};
  return options;
}

std::vector<HydroOptions> all_schemes() {
  std::vector<HydroOptions> all;
  for (const Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    for (const std::string reconstruction : {"plm", "ppm", "ppm26", "ppm26_published"})
      for (const std::string riemann : {"llf", "hll", "hllc", "exact"}) {
        const bool has_own_flux = reconstruction.starts_with("ppm26");
        if (has_own_flux && (integrator == Integrator::muscl_hancock || riemann != "llf")) continue;
        all.push_back(options_of(integrator, reconstruction, riemann));
        all.push_back(all.back());
        all.back().dual_energy = DualEnergy::on;
        if (riemann == "hll") all.back().well_balanced = WellBalanced::isothermal;
      }
  return all;
}

std::string described(const HydroOptions& options, const Side& side) {
  return options.riemann + " " + options.reconstruction + " " + name_of(options.integrator) +
         ", axis " + std::to_string(side.axis) + ", side " + std::to_string(side.side);
}

void expect_pressure_alone(const HydroOptions& options, const Side& side, int N, int M,
                           BatchBuffer* batches) {
  const auto flux = flux_through(options, side, N, M, stirred, batches);
  for (int n = 0; n < options.variable_count(); ++n)
    for (int f = 0; f < 64; ++f) {
      if (n == k_momentum_x + side.axis) ASSERT_GT(flux[64 * n + f], 0.0);
      else ASSERT_EQ(flux[64 * n + f], 0.0) << described(options, side) << ", variable " << n;
    }
}

TEST(Walls, let_pass_pressure_alone_with_every_scheme_axis_and_side) {
  BatchBuffer batches(1 << 24);
  int number = 0;
  for (const HydroOptions& options : all_schemes()) {
    ++number;
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side) {
        const Side of{axis, side, false};
        if (number % 3 == 0) expect_pressure_alone(options, of, 8, 8, nullptr);
        if (number % 3 == 1) expect_pressure_alone(options, of, 8, 16, nullptr);
        if (number % 3 == 2) expect_pressure_alone(options, of, 4, 8, &batches);
      }
  }
}

TEST(Walls, let_pass_nothing_in_first_order_fluxes_either) {
  for (const std::string reconstruction : {"plm", "ppm26"}) {
    const HydroOptions options = options_of(Integrator::rk2, reconstruction, "hllc");
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side) {
        UniformBlocks box(options, {{16, 16, 16}, 8, 8});
        box.set(mirrored(stirred, axis));
        for (int s : {0, 1}) box.tiles().closed[axis][s] = {8 * s, false};
        const SweepArguments arguments =
            box.arguments(box.state(), box.next(), k_rk2_stages[0], 1e-2);
        sweep(options, arguments);
        std::array<std::int16_t, 3> c{3, 4, 5};
        c[axis] = static_cast<std::int16_t>(7 * side);
        const auto differences =
            fallback_differences(options, arguments,
                                 {{box.slot_of(c[0], c[1], c[2]), c[0] + 8 * (c[1] + 8 * c[2]),
                                   box.tile_index(c[0], c[1], c[2]), c[0], c[1], c[2], 0}});
        const int face = 2 * axis + side;
        for (int n = 0; n < options.variable_count(); ++n)
          if (n != k_momentum_x + axis) {
            EXPECT_EQ(differences[face * options.variable_count() + n], 0.0) << n;
          }
      }
  }
}

// Solvers treat both sides alike: nothing is left to be cleared.
template <class Solver>
void expect_symmetry() {
  const IdealGas gas{Gas{}};
  for (int n = 0; n < 2000; ++n) {
    const double a = std::sin(12.9898 * n), b = std::sin(78.233 * n), c = std::sin(37.719 * n);
    const State<double> w{{std::exp(4 * a), 3 * b, c, a * c, std::exp(5 * c)}};
    State<double> image = w;
    image[k_velocity_x] = -image[k_velocity_x];
    const auto flux = Solver::template flux<0>(image, w, gas);
    for (const int m : {k_mass, k_momentum_y, k_momentum_z, k_energy})
      ASSERT_EQ(flux[m], 0.0) << Solver::name;
  }
}

TEST(Walls, riemann_solvers_find_no_mass_flux_between_mirror_images) {
  expect_symmetry<Llf>();
  expect_symmetry<Hll>();
  expect_symmetry<Hllc>();
}

TEST(Diodes, let_gas_out_and_none_in) {
  for (const std::string reconstruction : {"plm", "ppm26"})
    for (const double speed : {-0.5, 0.5})
      for (int axis = 0; axis < 3; ++axis)
        for (int side = 0; side < 2; ++side) {
          HydroOptions options = options_of(Integrator::rk2, reconstruction, "hllc");
          options.acceleration = {};
          const auto uniform = [=](double, double, double) {
            std::array<double, 5> w{2, 0, 0, 0, 3};
            w[k_velocity_x + axis] = speed;
            return w;
          };
          // Ghost cells are not mirror images here: beyond a diode they continue the gas.
          UniformBlocks box(options, {{16, 16, 16}, 8, 8});
          box.set(uniform);
          for (int s : {0, 1}) box.tiles().closed[axis][s] = {8 * s, true};
          mesh::FluxRegisterFaces request{};
          request.axis = static_cast<std::int8_t>(axis);
          request.plane = static_cast<std::int16_t>(8 * side);
          request.a_end = request.b_end = 8;
          request.stride_b = 8, request.stride_variable = 64;
          box.request(0, request, std::size_t(64) * options.variable_count());
          box.step(1e-4);
          const bool leaves = (speed > 0) == (side == 1);
          if (leaves) EXPECT_NEAR(box.registers()(0), 2 * speed * 1e-4, 1e-9);
          else EXPECT_EQ(box.registers()(0), 0.0);
        }
}

}  // namespace
}  // namespace octant::hydro::test
