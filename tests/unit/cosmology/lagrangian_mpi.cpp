#include "cosmology/lagrangian.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "comm/communicator.hpp"
#include "core/random.hpp"
#include "cosmology/initial_generator.hpp"

namespace octant::cosmology {
namespace {

using pencil::Box;
using pencil::PencilGrid;

constexpr int k_side = 16;
constexpr double k_box = 40.0;
constexpr double k_wave = 2.0 * std::numbers::pi / k_box;

// Growth at which only the second order, or both orders, move anything.
constexpr Growth k_second{0.0, 1.0, -2.0, 3.0};
constexpr Growth k_both{0.5, 0.9, -0.2, 1.7};

class Lagrangian : public testing::Test {
 protected:
  using Function = std::function<double(double x, double y, double z)>;

  std::vector<double> sampled(const Function& function) const {
    std::vector<double> values;
    const Box box = grid.box(pencil::Orientation::x);
    const double h = k_box / k_side;
    for (int k = box[2].begin; k < box[2].end; ++k)
      for (int j = box[1].begin; j < box[1].end; ++j)
        for (int i = 0; i < k_side; ++i)
          values.push_back(function((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h));
    return values;
  }
  LagrangianFields fields(const Function& overdensity) const {
    return {grid, k_box, sampled(overdensity)};
  }
  void expect_equal(const std::vector<double>& values, const Function& function,
                    double tolerance) const {
    const std::vector<double> expected = sampled(function);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t n = 0; n < values.size(); ++n) EXPECT_NEAR(values[n], expected[n], tolerance);
  }

  Communicator world = Communicator::world();
  PencilGrid grid{world,
                  {k_side, k_side, k_side},
                  pencil::fitting_process_grid(world.size(), {k_side, k_side, k_side}, 1)};
};

TEST_F(Lagrangian, a_plane_wave_is_exact_at_first_order_and_has_no_second) {
  // delta = cos(k.q) with k = (1, 2, 0) k_wave: psi1 = -k / |k|^2 sin(k.q) (Zel'dovich 1970).
  const auto phase = [](double x, double y) { return k_wave * (x + 2.0 * y); };
  auto wave = fields([&](double x, double y, double) { return std::cos(phase(x, y)); });
  const double amplitude[] = {-0.2 / k_wave, -0.4 / k_wave, 0.0};
  for (int axis = 0; axis < 3; ++axis) {
    const auto psi1 = [&](double x, double y, double) {
      return amplitude[axis] * std::sin(phase(x, y));
    };
    expect_equal(
        wave.displacement(axis, k_both),
        [&](double x, double y, double z) { return 0.5 * psi1(x, y, z); }, 1e-13);
    expect_equal(
        wave.velocity(axis, k_both, 30.0),
        [&](double x, double y, double z) { return 30.0 * 0.9 * 0.5 * psi1(x, y, z); }, 1e-11);
    expect_equal(
        wave.displacement(axis, k_second), [](double, double, double) { return 0.0; }, 1e-13);
  }
  expect_equal(
      wave.overdensity(0.5),
      [&](double x, double y, double) { return 0.5 * std::cos(phase(x, y)); }, 1e-14);
}

TEST_F(Lagrangian, crossed_plane_waves_have_the_analytic_second_order) {
  // phi1 = -(a cos kx + b cos 2ky) / (k^2, 4 k^2): the source is delta_x delta_y, and phi2 is that
  // over -(k^2 + 4 k^2).
  const double a = 0.7, b = 0.3;
  auto waves = fields([&](double x, double y, double) {
    return a * std::cos(k_wave * x) + b * std::cos(2.0 * k_wave * y);
  });
  const double phi2 = -a * b / (5.0 * k_wave * k_wave);
  const auto psi2_x = [&](double x, double y, double) {
    return -k_wave * phi2 * std::sin(k_wave * x) * std::cos(2.0 * k_wave * y);
  };
  const auto psi2_y = [&](double x, double y, double) {
    return -2.0 * k_wave * phi2 * std::cos(k_wave * x) * std::sin(2.0 * k_wave * y);
  };
  const auto times = [](double factor, const auto& f) {
    return [=](double x, double y, double z) { return factor * f(x, y, z); };
  };
  expect_equal(waves.displacement(0, k_second), times(-2.0, psi2_x), 1e-13);
  expect_equal(waves.displacement(1, k_second), times(-2.0, psi2_y), 1e-13);
  expect_equal(waves.velocity(1, k_second, 10.0), times(10.0 * 3.0 * -2.0, psi2_y), 1e-11);
  expect_equal(
      waves.displacement(2, k_second), [](double, double, double) { return 0.0; }, 1e-13);
}

TEST_F(Lagrangian, an_oblique_pair_of_waves_needs_the_mixed_derivatives) {
  // delta = cos(k1.q) + cos(k2.q), k1 = (1, 1, 0) and k2 = (0, 1, 1): the source is
  // (1 - (k1.k2)^2 / (k1^2 k2^2)) cos(k1.q) cos(k2.q), here with the factor 3/4.
  const auto p1 = [](double x, double y, double) { return k_wave * (x + y); };
  const auto p2 = [](double, double y, double z) { return k_wave * (y + z); };
  auto waves = fields(
      [&](double x, double y, double z) { return std::cos(p1(x, y, z)) + std::cos(p2(x, y, z)); });
  // cos p1 cos p2 = 1/2 cos(p1 + p2) + 1/2 cos(p1 - p2) with squared wavenumbers 6 and 2; both
  // have k_x = 1.
  expect_equal(
      waves.displacement(0, k_second),
      [&](double x, double y, double z) {
        const double plus = p1(x, y, z) + p2(x, y, z), minus = p1(x, y, z) - p2(x, y, z);
        return -2.0 * 0.375 / k_wave * (std::sin(plus) / 6.0 + std::sin(minus) / 2.0);
      },
      1e-13);
}

TEST_F(Lagrangian, waves_of_half_the_sampling_rate_move_nothing_along_themselves) {
  const auto zero = [](double, double, double) { return 0.0; };
  const auto fastest = [](double place) {  // +1, -1, ... at the centres
    return std::sin(std::numbers::pi * k_side / k_box * place);
  };
  auto along_x =
      fields([&](double x, double y, double) { return fastest(x) * std::cos(k_wave * y); });
  auto along_y =
      fields([&](double x, double y, double) { return fastest(y) * std::cos(k_wave * x); });
  auto along_z =
      fields([&](double x, double, double z) { return fastest(z) * std::cos(k_wave * x); });
  expect_equal(along_x.displacement(0, {0.5, 1.0, 0.0}), zero, 1e-14);
  expect_equal(along_y.displacement(1, {0.5, 1.0, 0.0}), zero, 1e-14);
  expect_equal(along_z.displacement(2, {0.5, 1.0, 0.0}), zero, 1e-14);
}

// One number that changes with any bit of the values and does not depend on who holds them.
std::uint64_t fingerprint(const PencilGrid& grid, const std::vector<double>& values) {
  const Box box = grid.box(pencil::Orientation::x);
  std::uint64_t sum = 0, n = 0;
  for (int k = box[2].begin; k < box[2].end; ++k)
    for (int j = box[1].begin; j < box[1].end; ++j)
      for (int i = 0; i < k_side; ++i) {
        const std::uint64_t place = (k * k_side + j) * k_side + i;
        const auto words = philox4x32_10(
            {{static_cast<std::uint32_t>(place), 0,
              static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(values[n]) >> 32),
              static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(values[n]))}},
            1, 2);
        sum += std::uint64_t{words.word[0]} << 32 | words.word[1];
        ++n;
      }
  return grid.communicator().sum(sum);
}

TEST_F(Lagrangian, the_bits_are_the_same_on_every_number_of_ranks) {
  const auto made_on = [&](const PencilGrid& ranks) {
    LagrangianFields fields(ranks, k_box, [&](const pencil::Mode& mode, double k) {
      return noise_mode(1, mode, ranks.cells()) / k;
    });
    std::vector<std::uint64_t> prints{fingerprint(ranks, fields.overdensity(0.5))};
    for (int axis = 0; axis < 3; ++axis) {
      prints.push_back(fingerprint(ranks, fields.displacement(axis, k_both)));
      prints.push_back(fingerprint(ranks, fields.velocity(axis, k_both, 30.0)));
    }
    return prints;
  };
  const PencilGrid alone(world.split(world.rank()), {k_side, k_side, k_side}, {1, 1});
  EXPECT_EQ(made_on(grid), made_on(alone));
}

}  // namespace
}  // namespace octant::cosmology
