// What 26 points buy: an error that hardly depends on direction, and what must not suffer for it.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "hydro/hydro_options.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

HydroOptions rk3_of(const std::string& reconstruction, double gamma) {
  HydroOptions options;
  options.integrator = Integrator::rk3;
  options.reconstruction = reconstruction;
  options.gamma = gamma;
  return options;
}

// Mean error of the density, in units of the amplitude, of a sound wave after one period; steps are
// 0.4 of the time that sound takes through a cell.
double linear_wave_error(const std::string& reconstruction, const std::array<int, 3>& k,
                         int cells) {
  const double amplitude = 1e-6, gamma = 5.0 / 3.0;
  const double length = std::sqrt(double(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]));
  UniformBlocks box(rk3_of(reconstruction, gamma),
                    {{cells, k[1] ? cells : 16, k[2] ? cells : 16}, 16, 16, 1.0 / cells});
  const auto wave = [&](double x, double y, double z) {
    return amplitude * std::sin(2 * M_PI * (k[0] * x + k[1] * y + k[2] * z));
  };
  box.set([&](double x, double y, double z) -> std::array<double, 5> {
    const double s = wave(x, y, z);
    return {1 + s, s * k[0] / length, s * k[1] / length, s * k[2] / length,
            (1 + gamma * s) / gamma};
  });
  const double period = 1 / length;
  const int steps = static_cast<int>(std::ceil(period * cells / 0.4 - 1e-9));
  for (int n = 0; n < steps; ++n) box.step(std::min(0.4 / cells, period - n * 0.4 / cells));
  double error = 0;
  int count = 0;
  box.for_cells([&](int x, int y, int z) {
    const double exact = 1 + wave((x + 0.5) / cells, (y + 0.5) / cells, (z + 0.5) / cells);
    error += std::abs(box.at(k_mass, x, y, z) - exact), ++count;
  });
  return error / (count * amplitude);
}

// The errors of parabolas without any limiter and a central-upwind flux at the centres of faces, as
// an independent program gives them: nothing is lost at crests, and nothing at edges and vertices.
TEST(Ppm26, linear_waves_err_as_without_limiters_in_every_direction) {
  for (const std::string reconstruction : {"ppm", "ppm26"}) {
    const auto error = [&](const std::array<int, 3>& k, int cells) {
      return linear_wave_error(reconstruction, k, cells);
    };
    EXPECT_NEAR(error({1, 0, 0}, 16), 3.066e-3, 3e-5);
    EXPECT_NEAR(error({1, 0, 0}, 32), 2.087e-4, 2e-6);
    EXPECT_NEAR(error({1, 1, 0}, 16), 3.326e-3, 3e-5);
    EXPECT_NEAR(error({1, 1, 0}, 32), 2.872e-4, 3e-6);
    EXPECT_NEAR(error({1, 1, 1}, 16), 4.007e-3, 4e-5);
  }
}

// The errors of an independent implementation of Octo-Tiger's scheme. Monotone parabolas clip the
// crests of waves, and Simpson's rule takes means over lines for point values: errors of second
// order.
TEST(Ppm26, waves_err_as_those_of_octo_tiger_as_published) {
  const auto error = [](const std::array<int, 3>& k, int cells) {
    return linear_wave_error("ppm26_published", k, cells);
  };
  EXPECT_NEAR(error({1, 0, 0}, 16), 6.418e-2, 1e-4);
  EXPECT_NEAR(error({1, 0, 0}, 32), 2.689e-2, 3e-5);
  EXPECT_NEAR(error({1, 1, 0}, 16), 8.602e-2, 1e-4);
  EXPECT_NEAR(error({1, 1, 0}, 32), 2.456e-2, 3e-5);
}

// Mean error of the density in gas of this pressure, much faster than its sound, that a wave of
// velocity along (1, 1, 0) compresses half of the way to a shock: each part moves on as it began.
double steepening_wave_error(const std::string& reconstruction, double pressure) {
  const int cells = 32;
  const double k = 2 * M_PI * std::sqrt(2.0), end = 0.5 / k;
  HydroOptions options = rk3_of(reconstruction, 5.0 / 3.0);
  options.riemann = "hll";
  UniformBlocks box(options, {{cells, cells, 8}, 8, 8, 1.0 / cells});
  box.set([&](double x, double y, double) -> std::array<double, 5> {
    const double speed = std::sin(2 * M_PI * (x + y)) / std::sqrt(2.0);
    return {1, speed, speed, 0, pressure};
  });
  box.step(1e-4);
  while (box.time() < end * (1 - 1e-12)) box.step(std::min(box.stable_dt(0.4), end - box.time()));
  const auto exact = [&](double phase) {
    double first = phase;  // by Newton's method: where the gas comes from
    for (int n = 0; n < 50; ++n)
      first -= (first + 0.5 * std::sin(first) - phase) / (1 + 0.5 * std::cos(first));
    return 1 / (1 + 0.5 * std::cos(first));
  };
  double error = 0;
  for (int y = 0; y < cells; ++y)
    for (int x = 0; x < cells; ++x)
      error += std::abs(box.at(k_mass, x, y, 3) - exact(2 * M_PI * (x + y + 1) / cells));
  return error / (cells * cells);
}

// Compressed, but no shock: edges and vertices would make an error of 1.0e-2. At Mach 8, and at
// Mach 77, where the pressure is noise of the total energy.
TEST(Ppm26, smooth_flow_is_compressed_as_with_centres_of_faces_alone) {
  for (const double pressure : {1e-2, 1e-4}) {
    const double of_centres = steepening_wave_error("ppm", pressure);
    EXPECT_LT(of_centres, 3e-3);
    EXPECT_NEAR(steepening_wave_error("ppm26", pressure), of_centres, 0.05 * of_centres);
  }
}

// Radii at which the density first exceeds 1.5 on rays from outside, over all directions: their rms
// deviation as a share of the mean.
double roundness_of_blast(const std::string& reconstruction) {
  const int cells = 32;
  UniformBlocks box(rk3_of(reconstruction, 1.4), {{cells, cells, cells}, 16, 16});
  const auto energy = [&](double x, double y, double z) {
    const double r2 = (x - .5) * (x - .5) + (y - .5) * (y - .5) + (z - .5) * (z - .5);
    return std::exp(-r2 * cells * cells / 4);
  };
  double sum = 0;
  box.for_cells([&](int x, int y, int z) {
    sum += energy((x + .5) / cells, (y + .5) / cells, (z + .5) / cells) / (cells * cells * cells);
  });
  box.set([&](double x, double y, double z) -> std::array<double, 5> {
    return {1, 0, 0, 0, 1e-5 + 0.4 * energy(x, y, z) / sum};
  });
  box.step(1e-6);
  while (box.time() < 0.05 * (1 - 1e-12)) box.step(std::min(box.stable_dt(0.8), 0.05 - box.time()));

  const auto density = [&](const std::array<double, 3>& place) {
    int first[3];
    double part[3], value = 0;
    for (int d = 0; d < 3; ++d) {
      first[d] = static_cast<int>(std::floor(place[d] * cells - 0.5));
      part[d] = place[d] * cells - 0.5 - first[d];
    }
    for (int n = 0; n < 8; ++n) {
      const int c[3] = {n & 1, n >> 1 & 1, n >> 2};
      double weight = 1;
      for (int d = 0; d < 3; ++d) weight *= c[d] ? part[d] : 1 - part[d];
      value += weight * box.at(k_mass, first[0] + c[0], first[1] + c[1], first[2] + c[2]);
    }
    return value;
  };
  const int rays = 1000;
  double mean = 0, square = 0;
  for (int n = 0; n < rays; ++n) {
    const double z = 1 - 2 * (n + 0.5) / rays, angle = n * M_PI * (3 - std::sqrt(5.0));
    const double across = std::sqrt(1 - z * z);
    double r = 0.45;
    while (r > 0 && density({0.5 + r * across * std::cos(angle), 0.5 + r * across * std::sin(angle),
                             0.5 + r * z}) < 1.5)
      r -= 0.0005;
    mean += r / rays, square += r * r / rays;
  }
  return std::sqrt(square - mean * mean) / mean;
}

TEST(Ppm26, a_blast_is_much_rounder_than_with_centres_of_faces_alone) {
  const double of_centres = roundness_of_blast("ppm"), of_26 = roundness_of_blast("ppm26");
  EXPECT_LT(of_26, 0.6 * of_centres);
  EXPECT_LT(of_26, 1.1e-2);
}

// Both cells of a face have the same say in whether it belongs to a shock.
TEST(Ppm26, a_blast_stays_its_own_mirror_image) {
  const int cells = 16;
  UniformBlocks box(rk3_of("ppm26", 1.4), {{cells, cells, cells}, 8, 8});
  box.set([](double x, double y, double z) -> std::array<double, 5> {
    const double r2 = (x - .5) * (x - .5) + (y - .5) * (y - .5) + (z - .5) * (z - .5);
    return {1, 0, 0, 0, 1e-3 + std::exp(-200 * r2)};
  });
  box.run_until(0.1, 0.8);
  const int last = cells - 1;
  box.for_cells([&](int x, int y, int z) {
    const double rho = box.at(k_mass, x, y, z);
    EXPECT_NEAR(box.at(k_mass, last - x, y, z), rho, 1e-11 * rho);
    EXPECT_NEAR(box.at(k_mass, x, last - y, z), rho, 1e-11 * rho);
    EXPECT_NEAR(box.at(k_mass, x, y, last - z), rho, 1e-11 * rho);
  });
}

// A shock tube along an axis, back to back with another one, has no new extrema.
TEST(Ppm26, densities_in_a_shock_tube_fall_and_stay_between_those_at_first) {
  const int cells = 128;
  UniformBlocks box(rk3_of("ppm26", 1.4), {{2 * cells, 8, 8}, 8, 8, 1.0 / cells});
  box.set([](double x, double, double) -> std::array<double, 5> {
    const bool right = x > 0.5 && x < 1.5;
    return {right ? 0.125 : 1.0, 0, 0, 0, right ? 0.1 : 1.0};
  });
  box.run_until(0.2, 0.8);
  for (int x = 1; x < cells; ++x) {
    EXPECT_LT(box.at(k_mass, x, 3, 3), box.at(k_mass, x - 1, 3, 3) + 3e-3);
    EXPECT_LE(box.at(k_mass, x, 3, 3), 1.0 + 1e-12);
    EXPECT_GE(box.at(k_mass, x, 3, 3), 0.125 - 1e-12);
  }
}

// Gresho's vortex, drifting through the box while it turns once.
struct Vortex {
  double error, kept;  // mean error of the speed; share of the energy that is left
};
Vortex drifting_vortex(const std::string& reconstruction) {
  const int cells = 32;
  const auto exact = [](double x, double y) -> std::array<double, 3> {
    const double r = std::max(std::hypot(x -= 0.5, y -= 0.5), 1e-30);
    double u = 0, p = 3 + 4 * std::log(2.0);
    if (r < 0.2) u = 5 * r, p = 5 + 12.5 * r * r;
    else if (r < 0.4) u = 2 - 5 * r, p = 9 + 12.5 * r * r - 20 * r + 4 * std::log(r / 0.2);
    return {-u * y / r, u * x / r, p};
  };
  const double turn = 0.4 * M_PI;
  HydroOptions options = rk3_of(reconstruction, 1.4);
  options.riemann = "hll";
  UniformBlocks box(options, {{cells, cells, 8}, 8, 8, 1.0 / cells});
  box.set([&](double x, double y, double) -> std::array<double, 5> {
    const auto [u, v, p] = exact(x, y);
    return {1, 1 + u, v, 0, p};
  });
  box.run_until(turn, 0.8);
  double error = 0, kept = 0, first = 0;
  for (int y = 0; y < cells; ++y)
    for (int x = 0; x < cells; ++x) {
      const double x0 = (x + 0.5) / cells - turn;
      const auto [u, v, p] = exact(x0 - std::floor(x0), (y + 0.5) / cells);
      const double rho = box.at(k_mass, x, y, 3);
      const double u1 = box.at(1, x, y, 3) / rho - 1, v1 = box.at(2, x, y, 3) / rho;
      error += std::abs(std::hypot(u1, v1) - std::hypot(u, v)) / (cells * cells);
      kept += u1 * u1 + v1 * v1, first += u * u + v * v;
    }
  return {error, kept / first};
}

// With monotone limiters the error is 3.46e-2, and 0.944 of the energy is kept.
TEST(Ppm26, a_vortex_drifts_as_with_centres_of_faces_alone) {
  const Vortex of_centres = drifting_vortex("ppm"), of_26 = drifting_vortex("ppm26");
  EXPECT_LT(of_26.error, 2.3e-2);
  EXPECT_GT(of_26.kept, 0.985);
  EXPECT_NEAR(of_26.error, of_centres.error, 1e-6);
  EXPECT_NEAR(of_26.kept, of_centres.kept, 1e-6);
}

TEST(Ppm26, is_refused_with_hancocks_predictor) {
  HydroOptions options;
  options.reconstruction = "ppm26";
  EXPECT_THROW(options.finish(), InputError);
  options.integrator = Integrator::rk3;
  options.finish();
  EXPECT_EQ(options.ghosts().kind, mesh::GhostShape::Kind::cube);
}

}  // namespace
}  // namespace octant::hydro::test
