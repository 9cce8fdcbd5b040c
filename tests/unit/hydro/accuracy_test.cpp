// Accuracy against exact solutions.
#include <gtest/gtest.h>

#include "tests/unit/hydro/exact_solution.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

HydroOptions method_of(Integrator integrator, const std::string& reconstruction,
                       const std::string& riemann) {
  HydroOptions options;
  options.integrator = integrator;
  options.reconstruction = reconstruction;
  options.riemann = riemann;
  return options;
}

struct Tube {
  Gas1D left, right;
  double end;
};
constexpr Tube k_sod{{1, 0, 1}, {0.125, 0, 0.1}, 0.2};
// Two strong rarefactions, with almost nothing between them (Toro 2009, test 2). The gas collides
// where the tubes meet back to back, and its shocks must not have met the rarefactions by the end.
constexpr Tube k_rarefactions{{1, -2, 0.4}, {1, 2, 0.4}, 0.1};

// L1 error of density of a tube along an axis of the unit box. Two tubes back to back make the box
// periodic: diaphragms at 1/4 and 3/4, so that a tube of `cells` takes twice as many.
double tube_error(const Tube& tube, const HydroOptions& options, int axis, int cells) {
  std::array<int, 3> shape{8, 8, 8};
  shape[axis] = 2 * cells;
  UniformBlocks box(options, {shape, 8, 8, 1.0 / cells});
  const auto along = [axis](double x, double y, double z) {
    return axis == 0 ? x : axis == 1 ? y : z;
  };
  box.set([&](double x, double y, double z) -> std::array<double, 5> {
    const double s = along(x, y, z);
    const Gas1D& gas = s > 0.5 && s < 1.5 ? tube.right : tube.left;
    std::array<double, 5> state{gas.rho, 0, 0, 0, gas.p};
    state[1 + axis] = gas.u;
    return state;
  });
  box.run_until(tube.end, 0.8);
  double error = 0;
  for (int i = 0; i < cells; ++i) {
    const double s = ((i + 0.5) / cells - 0.5) / tube.end;
    const double rho = box.at(0, axis == 0 ? i : 3, axis == 1 ? i : 3, axis == 2 ? i : 3);
    error += std::abs(rho - exact_state(tube.left, tube.right, 1.4, s).rho) / cells;
  }
  return error;
}

double sod_error(const HydroOptions& options, int axis, int cells) {
  return tube_error(k_sod, options, axis, cells);
}

TEST(Accuracy, sod_tube_of_256_cells_errs_by_less_than_0_008_along_every_axis) {
  const auto options = method_of(Integrator::muscl_hancock, "plm", "hllc");
  const double along_x = sod_error(options, 0, 256);
  EXPECT_LT(along_x, 0.008);
  EXPECT_NEAR(sod_error(options, 1, 256), along_x, 1e-12);
  EXPECT_NEAR(sod_error(options, 2, 256), along_x, 1e-12);
}

TEST(Accuracy, sod_tube_errs_less_with_ppm_than_with_plm) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    EXPECT_LT(sod_error(method_of(integrator, "ppm", "hllc"), 0, 256),
              sod_error(method_of(integrator, "plm", "hllc"), 0, 256));
}

TEST(Accuracy, strong_rarefactions_err_as_little_with_ppm_as_with_plm) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    for (int axis = 0; axis < (integrator == Integrator::muscl_hancock ? 3 : 1); ++axis) {
      const auto error = [&](const std::string& reconstruction) {
        return tube_error(k_rarefactions, method_of(integrator, reconstruction, "hllc"), axis, 128);
      };
      EXPECT_LT(error("ppm"), 1.2 * error("plm")) << axis;
    }
}

TEST(Accuracy, every_riemann_solver_solves_the_sod_tube) {
  for (const std::string riemann : {"llf", "hll", "hllc_hybrid", "hllc_low_mach", "hllc", "exact"})
    for (const std::string reconstruction : {"plm", "ppm"})
      EXPECT_LT(sod_error(method_of(Integrator::muscl_hancock, reconstruction, riemann), 0, 128),
                0.006);
}

// L1 error of density of a sound wave of small amplitude that runs along the box's diagonal once.
double wave_error(const HydroOptions& options, int cells) {
  const double amplitude = 1e-6, k = 2 * M_PI, gamma = options.gamma;
  const double wave_number = k * std::sqrt(3.0);
  const double sound = 1.0, pressure = sound * sound / gamma;
  UniformBlocks box(options, {{cells, cells, cells}, 16, 16});
  const auto exact = [&](double x, double y, double z, double t) -> std::array<double, 5> {
    const double s = amplitude * std::sin(k * (x + y + z) - wave_number * sound * t);
    const double v = sound * s / std::sqrt(3.0);
    return {1 + s, v, v, v, pressure * (1 + gamma * s)};
  };
  box.set([&](double x, double y, double z) { return exact(x, y, z, 0); });
  const double period = 1 / std::sqrt(3.0);
  box.run_until(period, 0.8);
  double error = 0;
  box.for_cells([&](int x, int y, int z) {
    const double dx = 1.0 / cells;
    error += std::abs(box.at(0, x, y, z) -
                      exact((x + 0.5) * dx, (y + 0.5) * dx, (z + 0.5) * dx, period)[0]);
  });
  return error / (amplitude * cells * cells * cells);
}

// Errors at 16, 32 and 64 cells.
std::array<double, 3> wave_errors(Integrator integrator, const std::string& reconstruction) {
  const HydroOptions options = method_of(integrator, reconstruction, "hllc");
  return {wave_error(options, 16), wave_error(options, 32), wave_error(options, 64)};
}

TEST(Accuracy, oblique_sound_wave_converges_at_second_order_with_hancock) {
  for (const std::string reconstruction : {"plm", "ppm"}) {
    const auto e = wave_errors(Integrator::muscl_hancock, reconstruction);
    EXPECT_GT(std::log2(e[0] / e[1]), 1.9);
    EXPECT_GT(std::log2(e[1] / e[2]), 1.9);
  }
}

// The errors of space and time have opposite signs: on the coarsest grid they cancel in part, and
// the rate approaches two from below.
TEST(Accuracy, oblique_sound_wave_converges_at_second_order_with_rk2_and_ppm) {
  const auto e = wave_errors(Integrator::rk2, "ppm");
  EXPECT_LT(e[0], 0.02);
  EXPECT_GT(std::log2(e[1] / e[2]), 1.9);
}

TEST(Accuracy, oblique_sound_wave_converges_at_third_order_with_rk3_and_ppm) {
  const auto e = wave_errors(Integrator::rk3, "ppm");
  EXPECT_GT(std::log2(e[0] / e[1]), 3.0);
  EXPECT_GT(std::log2(e[1] / e[2]), 3.0);
}

}  // namespace
}  // namespace octant::hydro::test
