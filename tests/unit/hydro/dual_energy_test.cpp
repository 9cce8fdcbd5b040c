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

double worst_entropy_error(DualEnergy mode, double& energy_drift) {
  HydroOptions options;
  options.dual_energy = mode;
  UniformBlocks box(options, {{16, 16, 16}, 8, 16});
  box.set(cold_flow);
  const auto energy = [&] {
    double sum = 0;
    box.for_cells([&](int x, int y, int z) { sum += box.at(k_energy, x, y, z); });
    return sum;
  };
  const double before = energy();
  box.step(1e-6);
  for (int n = 0; n < 20; ++n) {
    box.step(box.stable_dt(0.8));
    synchronise_dual_energy(options, box.tiles(), box.state().data());
  }
  energy_drift = std::abs(energy() - before) / before;
  double worst = 0;
  box.for_cells([&](int x, int y, int z) {
    const double rho = box.at(0, x, y, z);
    double specific_entropy = 0;
    if (options.has_dual_energy()) {
      specific_entropy = box.at(k_entropy, x, y, z) / rho;
    } else {
      double m2 = 0;
      for (int n = 1; n < 4; ++n) m2 += box.at(n, x, y, z) * box.at(n, x, y, z);
      specific_entropy = 0.4 * (box.at(k_energy, x, y, z) - 0.5 * m2 / rho) / std::pow(rho, 1.4);
    }
    worst = std::max(worst, std::abs(specific_entropy / 1e-11 - 1));
  });
  return worst;
}

TEST(DualEnergy, keeps_the_entropy_of_a_cold_fast_flow_and_conserves_energy) {
  double drift = 0;
  EXPECT_GT(worst_entropy_error(DualEnergy::off, drift), 1e-3);
  EXPECT_LT(worst_entropy_error(DualEnergy::on, drift), 1e-10);
  EXPECT_LT(drift, 1e-13);
  EXPECT_LT(worst_entropy_error(DualEnergy::overwrite, drift), 1e-10);
}

TEST(DualEnergy, entropy_follows_total_energy_where_the_gas_is_warm) {
  HydroOptions options;
  options.dual_energy = DualEnergy::on;
  UniformBlocks box(options, {{16, 16, 16}, 8, 8});
  box.set(stirred);
  box.at(k_entropy, 3, 4, 5) = 77;
  const double energy = box.at(k_energy, 3, 4, 5);
  synchronise_dual_energy(options, box.tiles(), box.state().data());
  const auto w = stirred(3.5 / 16, 4.5 / 16, 5.5 / 16);
  EXPECT_NEAR(box.at(k_entropy, 3, 4, 5), w[0] * w[4] / std::pow(w[0], 1.4), 1e-13);
  EXPECT_EQ(box.at(k_energy, 3, 4, 5), energy);
}

// Cold gas falls in from both sides, 0.25 faster from cell to cell: in the middle, where it hardly
// moves, much of its little energy may be truncation error.
TEST(DualEnergy, gas_that_stands_still_in_an_inflow_keeps_its_entropy) {
  HydroOptions options;
  options.dual_energy = DualEnergy::overwrite;
  UniformBlocks box(options, {{16, 16, 16}, 8, 8});
  for (const double error : {0.001, 0.02}) {  // below and above a tenth of 0.25^2
    box.set([](double x, double, double) {
      return std::array<double, 5>{1.0, -4.0 * (x - 0.5), 0.0, 0.0, 1e-9};
    });
    double& energy = box.at(k_energy, 8, 4, 4);
    const double right = energy, entropy = box.at(k_entropy, 8, 4, 4);
    energy += error;
    synchronise_dual_energy(options, box.tiles(), box.state().data());
    if (error < 0.1 * 0.25 * 0.25) {
      EXPECT_NEAR(energy, right, 1e-15);
      EXPECT_EQ(box.at(k_entropy, 8, 4, 4), entropy);
    } else {
      EXPECT_EQ(energy, right + error);
      EXPECT_NEAR(box.at(k_entropy, 8, 4, 4), 0.4 * (error + 1e-9 / 0.4), 1e-14);
    }
  }
}

}  // namespace
}  // namespace octant::hydro::test
