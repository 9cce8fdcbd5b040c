// Hydrostatic profiles through cells: faces, halves and neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.hpp"
#include "hydro/hydro_options.hpp"
#include "hydro/hydrostatic.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro {
namespace {

constexpr double k_rounding = 4e-16;

TEST(Hydrostatic, faces_hold_the_weight_of_the_gas_at_its_temperature) {
  for (double s = -0.52; s < 0.53; s += 0.01) {
    const HydrostaticFaces<double> of(s);
    EXPECT_NEAR(of.upper - of.lower, 2.0 * s, k_rounding);
    const double mean = std::abs(s) < 1e-12 ? 1.0 : s / std::tanh(s);
    EXPECT_NEAR(of.upper, mean + s, k_rounding * (1.0 + mean)) << s;
    EXPECT_NEAR(of.upper / of.lower, std::exp(2.0 * s), 1e-15 * std::exp(2.0 * s)) << s;
  }
}

TEST(Hydrostatic, halves_of_a_cell_are_profiles_of_the_same_gas) {
  for (double s = -0.5; s < 0.51; s += 0.05) {
    const double difference = child_difference(s);
    const double lower = 1.0 - 0.5 * difference, upper = 1.0 + 0.5 * difference;
    const HydrostaticFaces<double> whole(s), half(0.5 * s);
    EXPECT_NEAR(lower * half.lower, whole.lower, k_rounding * 2.0);
    EXPECT_NEAR(upper * half.upper, whole.upper, k_rounding * 2.0);
    EXPECT_NEAR(lower * half.upper, upper * half.lower, k_rounding * 2.0);
  }
}

TEST(Hydrostatic, there_is_no_profile_in_cells_that_are_larger_than_two_scale_heights) {
  const Stratification g({0.0, -2.0, 0.0}, 1.0);
  EXPECT_FALSE(g.acts(0));
  EXPECT_TRUE(g.acts(1));
  EXPECT_EQ(g.exponent(0, 1.0, 1.0), 0.0);
  EXPECT_EQ(g.exponent(1, 0.5, 1.0), -0.5);
  EXPECT_EQ(g.exponent(1, 1.0, 1.0), 0.0);
  EXPECT_EQ(g.exponent(1, 1.0, 1e-9), 0.0);
  for (double rho = 0.0; rho < 1.0; rho += 0.01) EXPECT_LT(std::abs(g.exponent(1, rho, 1.0)), 0.52);
}

// The cells have different temperatures, but equal pressures on both sides of each face.
TEST(Hydrostatic, neighbours_in_balance_do_not_deviate) {
  const Stratification g({0.0, 0.0, -1.0}, 0.25);
  const double temperature[5] = {0.7, 1.3, 0.9, 2.0, 0.5};
  double pressure[5] = {1.0};
  for (int n = 1; n < 5; ++n) {
    const auto faces = [&](int m) {
      return HydrostaticFaces<double>(g.exponent(2, 1.0 / temperature[m], 1.0));
    };
    pressure[n] = pressure[n - 1] * faces(n - 1).upper / faces(n).lower;
  }
  const auto line = [&](int n, int o) {
    if (n == k_pressure) return pressure[2 + o];
    return n == k_density ? pressure[2 + o] / temperature[2 + o] : 0.1 * o;
  };
  const HydrostaticLine<2, double> of(g, 2, line), none(g, 1, line);
  for (int o = -2; o <= 2; ++o) {
    EXPECT_NEAR(of.deviation(line, k_pressure, o), pressure[2], 1e-15);
    EXPECT_EQ(of.deviation(line, k_velocity_x, o), 0.1 * o);
    EXPECT_EQ(none.deviation(line, k_pressure, o), pressure[2 + o]);
  }
}

// Gas in half a box of 16^3 cells, between walls, and its mirror image in the other half.
class Column {
 public:
  Column(const HydroOptions& options, int axis, int N, int M, BatchBuffer* batches)
      : axis_(axis), box_(options, {{16, 16, 16}, N, M}) {
    box_.use(batches);
    for (int s : {0, 1}) box_.tiles().closed[axis][s] = {8 * s, false};
    const double temperature[8] = {0.2, 0.31, 0.17, 0.4, 0.25, 0.19, 0.33, 0.22};
    double pressure[8] = {1.0};
    const Stratification g(options.acceleration, 1.0 / 16);
    const auto faces = [&](int m) {
      return HydrostaticFaces<double>(g.exponent(axis, 1.0 / temperature[m], 1.0));
    };
    for (int n = 1; n < 8; ++n) pressure[n] = pressure[n - 1] * faces(n - 1).upper / faces(n).lower;
    box_.set([&](double x, double y, double z) -> std::array<double, 5> {
      const std::array<double, 3> at{x, y, z};
      const int cell = std::min(static_cast<int>(16 * at[axis]), 7);
      return {pressure[cell] / temperature[cell], 0.0, 0.0, 0.0, pressure[cell]};
    });
    other_ = test::Doubles("other", box_.state().extent(0));
    mirror(box_.state());
  }

  void step(double dt) {
    test::Doubles current = box_.state(), to = box_.next(), other = other_;
    for (const Stage& stage : stages(box_.options().integrator)) {
      sweep(box_.options(), box_.arguments(current, to, stage, dt));
      mirror(to);
      current = to;
      std::swap(to, other);
    }
    Kokkos::deep_copy(box_.state(), current);
  }

  // The largest velocity.
  double fastest() {
    double velocity = 0.0;
    box_.for_cells([&](int x, int y, int z) {
      for (int n = k_momentum_x; n < k_momentum_x + 3; ++n)
        velocity = std::max(velocity, std::abs(box_.at(n, x, y, z) / box_.at(k_mass, x, y, z)));
    });
    return velocity;
  }

 private:
  void mirror(const test::Doubles& state) {
    box_.for_cells([&](int x, int y, int z) {
      std::array<int, 3> image{x, y, z};
      if (image[axis_] < 8) return;
      image[axis_] = 15 - image[axis_];
      for (int n = 0; n < box_.options().variable_count(); ++n) {
        const double value = state(box_.offset(n, image[0], image[1], image[2]));
        state(box_.offset(n, x, y, z)) = n == k_momentum_x + axis_ ? -value : value;
      }
    });
  }

  int axis_;
  test::UniformBlocks box_;
  test::Doubles other_;
};

TEST(Hydrostatic, balanced_columns_stay_at_rest_with_every_scheme_axis_and_schedule) {
  BatchBuffer batches(1 << 24);
  int number = 0;
  for (const Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    for (const std::string profile : {"mc", "minmod", "van_leer", "huynh", "ppm"}) {
      HydroOptions options;
      options.integrator = integrator;
      options.reconstruction = profile == "ppm" ? "ppm" : "plm";
      if (profile != "ppm") options.limiter = profile;
      options.riemann = number % 2 == 0 ? "hllc" : "exact";
      options.well_balanced = WellBalanced::isothermal;
      const int axis = number % 3;
      options.acceleration[axis] = number % 2 == 0 ? -1.0 : 1.0;
      Column column(options, axis, 8, number % 4 == 0 ? 16 : 8,
                    number % 4 == 1 ? &batches : nullptr);
      for (int n = 0; n < 10; ++n) column.step(0.01);
      EXPECT_LT(column.fastest(), 1e-14) << name_of(integrator) << " " << profile;
      ++number;
      if (number % 5 != 0) continue;
      options.well_balanced = WellBalanced::off;
      Column rough(options, axis, 8, 8, nullptr);
      rough.step(0.01);
      EXPECT_GT(rough.fastest(), 1e-5);
    }
}

TEST(Hydrostatic, options_that_are_not_supported_are_refused) {
  HydroOptions options;
  options.well_balanced = WellBalanced::isothermal;
  EXPECT_THROW(options.finish(), InputError);
  options.acceleration = {0.0, 0.0, -1.0};
  options.finish();
  EXPECT_TRUE(options.is_balanced());
  options.dual_energy = DualEnergy::overwrite;
  EXPECT_THROW(options.finish(), InputError);
  options.dual_energy = DualEnergy::off;
  options.integrator = Integrator::rk3;
  options.reconstruction = "ppm26";
  EXPECT_THROW(options.finish(), InputError);
}

}  // namespace
}  // namespace octant::hydro
