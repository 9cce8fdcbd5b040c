// Dual energy keeps the temperature of cold, fast flows.
#include <gtest/gtest.h>

#include "hydro/dual_energy.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

// A gas of pressure 1e-11 that moves at speed 10: a share of 3e-13 of its energy is internal, and
// total minus kinetic energy is mostly rounding. A smooth density wave drifts with it at constant
// entropy.
std::array<double, 5> cold_flow(double x, double y, double) {
  const double rho = 1 + 0.2 * std::sin(2 * M_PI * (x + y));
  return {rho, 10, 7, 3, 1e-11 * std::pow(rho, 1.4)};
}

// Gas of one entropy that falls together from both sides, far faster than sound: its velocity
// has a crest, a trough, and places between where it vanishes.
std::array<double, 5> cold_inflow(double x, double, double) {
  return {1, -std::sin(2 * M_PI * x), 0.1 * std::cos(2 * M_PI * x), 0, 1e-10};
}

double specific_entropy(UniformBlocks& box, int x, int y, int z) {
  const double rho = box.at(k_mass, x, y, z);
  if (box.options().has_dual_energy()) return box.at(k_entropy, x, y, z) / rho;
  double m2 = 0;
  for (int n = 1; n < 4; ++n) m2 += box.at(n, x, y, z) * box.at(n, x, y, z);
  return 0.4 * (box.at(k_energy, x, y, z) - 0.5 * m2 / rho) / std::pow(rho, 1.4);
}

double total_energy(UniformBlocks& box) {
  double sum = 0;
  box.for_cells([&](int x, int y, int z) { sum += box.at(k_energy, x, y, z); });
  return sum;
}

// The worst relative error of an entropy that was `entropy` everywhere, after some steps.
double worst_entropy_error(const HydroOptions& options, const PrimitiveAt& initial, double entropy,
                           double& energy_drift) {
  UniformBlocks box(options, {{16, 16, 16}, 8, 16});
  box.set(initial);
  const double before = total_energy(box);
  box.step(1e-6);
  for (int n = 0; n < 20; ++n) box.step(std::min(box.stable_dt(0.5), 0.005));
  energy_drift = std::abs(total_energy(box) - before) / before;
  double worst = 0;
  box.for_cells([&](int x, int y, int z) {
    worst = std::max(worst, std::abs(specific_entropy(box, x, y, z) / entropy - 1));
  });
  return worst;
}

TEST(DualEnergy, keeps_the_entropy_of_a_cold_fast_flow_and_conserves_energy) {
  double drift = 0;
  const auto error = [&](DualEnergy mode) {
    HydroOptions options;
    options.dual_energy = mode;
    return worst_entropy_error(options, cold_flow, 1e-11, drift);
  };
  EXPECT_GT(error(DualEnergy::off), 1e-3);
  EXPECT_LT(error(DualEnergy::on), 1e-10);
  EXPECT_LT(drift, 1e-13);
  EXPECT_LT(error(DualEnergy::overwrite), 1e-10);
}

TEST(DualEnergy, every_scheme_keeps_the_entropy_of_an_inflow_in_every_cell) {
  for (Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2, Integrator::rk3})
    for (const std::string reconstruction : {"plm", "ppm"}) {
      HydroOptions options;
      options.integrator = integrator;
      options.reconstruction = reconstruction;
      options.dual_energy = DualEnergy::overwrite;
      double drift = 0;
      EXPECT_LT(worst_entropy_error(options, cold_inflow, 1e-10, drift), 1e-10)
          << static_cast<int>(integrator) << " " << reconstruction;
    }
}

TEST(DualEnergy, entropy_follows_total_energy_where_the_gas_is_warm) {
  for (DualEnergy mode : {DualEnergy::on, DualEnergy::overwrite}) {
    HydroOptions options;
    options.dual_energy = mode;
    UniformBlocks box(options, {{16, 16, 16}, 8, 8});
    box.set(stirred);
    box.at(k_entropy, 3, 4, 5) = 77;
    const double energy = box.at(k_energy, 3, 4, 5);
    box.step(1e-12);
    const auto w = stirred(3.5 / 16, 4.5 / 16, 5.5 / 16);
    EXPECT_NEAR(box.at(k_entropy, 3, 4, 5), w[0] * w[4] / std::pow(w[0], 1.4), 1e-9);
    EXPECT_NEAR(box.at(k_energy, 3, 4, 5), energy, 1e-9);
  }
}

// Cold gas falls in from both sides, 0.25 faster from cell to cell: in the middle, where it hardly
// moves, much of its little energy may be truncation error, up to 0.03 of 0.25^2 per mass.
TEST(DualEnergy, gas_that_stands_still_in_an_inflow_keeps_its_entropy) {
  for (const double error : {1e-4, 1.5e-3, 4e-3}) {
    HydroOptions options;
    options.dual_energy = DualEnergy::overwrite;
    UniformBlocks box(options, {{16, 16, 16}, 8, 8});
    box.set([](double x, double, double) {
      return std::array<double, 5>{1.0, -4.0 * (x - 0.5), 0.0, 0.0, 1e-9};
    });
    const double right = box.at(k_energy, 8, 4, 4), entropy = box.at(k_entropy, 8, 4, 4);
    box.at(k_energy, 8, 4, 4) += error;
    box.step(1e-12);
    if (error < 0.03 * 0.25 * 0.25) {
      EXPECT_NEAR(box.at(k_energy, 8, 4, 4), right, 1e-10);
      EXPECT_NEAR(box.at(k_entropy, 8, 4, 4), entropy, 1e-15);
    } else {
      EXPECT_NEAR(box.at(k_energy, 8, 4, 4), right + error, 1e-10);
      EXPECT_NEAR(box.at(k_entropy, 8, 4, 4), 0.4 * (error + 1e-9 / 0.4), 1e-10);
    }
  }
}

// The same flow seen from a fast train: what is truncation error is the same.
TEST(DualEnergy, the_frame_of_reference_does_not_decide) {
  for (const double error : {1.5e-3, 4e-3}) {
    HydroOptions options;
    options.dual_energy = DualEnergy::overwrite;
    UniformBlocks box(options, {{16, 16, 16}, 8, 8});
    box.set([](double x, double, double) {
      return std::array<double, 5>{1.0, 100.0 - 4.0 * (x - 0.5), -70.0, 20.0, 1e-9};
    });
    const double entropy = box.at(k_entropy, 8, 4, 4);
    box.at(k_energy, 8, 4, 4) += error;
    box.step(1e-12);
    const double expected = error < 0.03 * 0.25 * 0.25 ? entropy : 0.4 * (error + 1e-9 / 0.4);
    EXPECT_NEAR(box.at(k_entropy, 8, 4, 4), expected, 1e-7);
  }
}

TEST(DualEnergy, only_changes_that_go_on_are_steady) {
  const auto steady = [](double q_2, double q_1, double q0, double q1, double q2) {
    Truncation<double> error;
    error.add(q_2, q_1, q0, q1, q2);
    EXPECT_GE(error.any(), error.steady());
    return error.steady();
  };
  EXPECT_DOUBLE_EQ(steady(-2, -1, 0, 1, 2), 0.03);              // an inflow
  EXPECT_DOUBLE_EQ(steady(-4, -1, 0, -1, -4), 0.03 + 0.5 * 4);  // a crest
  EXPECT_DOUBLE_EQ(steady(-1, 0, 0, -1, -3), 0.5);              // one between two cells
  EXPECT_DOUBLE_EQ(steady(1, 1, 1, 0, 0), 0.0);                 // the foot of a shock
  EXPECT_DOUBLE_EQ(steady(1, 1, 0.5, 0, 0), 0.03 * 0.25);       // its middle
}

}  // namespace
}  // namespace octant::hydro::test
