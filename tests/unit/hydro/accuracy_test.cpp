// Accuracy against exact solutions.
#include <gtest/gtest.h>

#include "tests/unit/hydro/exact_solution.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

HydroOptions with(Scheme scheme, Reconstruction reconstruction, RiemannSolver riemann) {
  HydroOptions options;
  options.scheme = scheme;
  options.reconstruction = reconstruction;
  options.riemann = riemann;
  return options;
}

// L1 error of density of a Sod tube along an axis of the unit box. Two tubes back to back make the box
// periodic: diaphragms at 1/4 and 3/4, so that a tube of `cells` takes twice as many.
double sod_error(const HydroOptions& options, int axis, int cells) {
  std::array<int, 3> shape{8, 8, 8};
  shape[axis] = 2 * cells;
  UniformBlocks box(options, {shape, 8, 8, 1.0 / cells});
  const auto along = [axis](double x, double y, double z) { return axis == 0 ? x : axis == 1 ? y : z; };
  box.set([&](double x, double y, double z) -> std::array<double, 5> {
    const double s = along(x, y, z);
    if (s > 0.5 && s < 1.5) return {0.125, 0, 0, 0, 0.1};
    return {1, 0, 0, 0, 1};
  });
  const double end = 0.2;
  box.run_until(end, 0.8);
  double error = 0;
  for (int i = 0; i < cells; ++i) {
    const double s = ((i + 0.5) / cells - 0.5) / end;
    const double rho = box.at(0, axis == 0 ? i : 3, axis == 1 ? i : 3, axis == 2 ? i : 3);
    error += std::abs(rho - exact_state({1, 0, 1}, {0.125, 0, 0.1}, 1.4, s).rho) / cells;
  }
  return error;
}

TEST(Accuracy, sod_tube_of_256_cells_errs_by_less_than_0_008) {
  for (int axis : {0, 1, 2})
    EXPECT_LT(sod_error(with(Scheme::muscl_hancock, Reconstruction::plm, RiemannSolver::hllc), axis,
                        256), 0.008);
}

TEST(Accuracy, every_riemann_solver_and_scheme_solves_the_sod_tube_and_ppm_beats_plm) {
  for (Scheme scheme : {Scheme::muscl_hancock, Scheme::rk2, Scheme::rk3})
    for (RiemannSolver riemann :
         {RiemannSolver::llf, RiemannSolver::hll, RiemannSolver::hllc, RiemannSolver::exact}) {
      const double plm = sod_error(with(scheme, Reconstruction::plm, riemann), 0, 128);
      const double ppm = sod_error(with(scheme, Reconstruction::ppm, riemann), 0, 128);
      std::printf("scheme %d riemann %d: plm %.5f ppm %.5f\n", int(scheme), int(riemann), plm, ppm);
      EXPECT_LT(plm, 0.01);
      EXPECT_LT(ppm, plm);
    }
}

// L1 error of density of a sound wave of small amplitude that runs along the box's diagonal once.
double wave_error(const HydroOptions& options, int cells) {
  const double amplitude = 1e-4, k = 2 * M_PI, gamma = options.gamma;
  const double wave_number = k * std::sqrt(3.0);
  const double sound = 1.0, pressure = sound * sound / gamma;
  UniformBlocks box(options, {{cells, cells, cells}, 8, 8});
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

TEST(Accuracy, oblique_sound_wave_converges_at_second_order) {
  for (Scheme scheme : {Scheme::muscl_hancock, Scheme::rk2, Scheme::rk3})
    for (Reconstruction reconstruction : {Reconstruction::plm, Reconstruction::ppm}) {
      const HydroOptions options = with(scheme, reconstruction, RiemannSolver::hllc);
      const double e16 = wave_error(options, 16), e32 = wave_error(options, 32),
                   e64 = wave_error(options, 64);
      std::printf("scheme %d reconstruction %d: errors %.2e %.2e %.2e rates %.2f %.2f\n",
                  int(scheme), int(reconstruction), e16, e32, e64, std::log2(e16 / e32),
                  std::log2(e32 / e64));
      EXPECT_GT(std::log2(e16 / e32), 1.9);
      EXPECT_GT(std::log2(e32 / e64), 1.9);
    }
}

}  // namespace
}  // namespace octant::hydro::test
