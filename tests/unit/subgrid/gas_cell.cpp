#include "hydro/gas_cell.hpp"

#include <gtest/gtest.h>

namespace octant::hydro {
namespace {

constexpr Gas k_gas{.gamma = 1.4, .dual_energy = true};

// Density 2, velocity (3, 0, -1), pressure 0.8, and the entropy that goes with it.
struct WarmGas {
  double state[6] = {2.0, 6.0, 0.0, -2.0, 0.8 / 0.4 + 10.0, 0.8 / std::pow(2.0, 0.4)};
  GasCell cell{state, 1, k_gas};
};

TEST(GasCell, tells_what_the_gas_is_like) {
  WarmGas gas;
  EXPECT_EQ(gas.cell.density(), 2.0);
  EXPECT_EQ(gas.cell.velocity(2), -1.0);
  EXPECT_NEAR(gas.cell.pressure(), 0.8, 1e-15);
  EXPECT_NEAR(gas.cell.internal_energy(), 1.0, 1e-15);
}

TEST(GasCell, heat_changes_total_energy_and_entropy_alone) {
  WarmGas gas;
  EXPECT_NEAR(gas.cell.set_internal_energy(1.5), 1.0, 1e-14);
  EXPECT_EQ(gas.state[0], 2.0);
  EXPECT_EQ(gas.state[1], 6.0);
  EXPECT_NEAR(gas.state[k_energy], 13.0, 1e-14);
  EXPECT_NEAR(gas.state[k_entropy], 1.2 / std::pow(2.0, 0.4), 1e-15);
}

TEST(GasCell, where_entropy_rules_the_total_energy_changes_by_as_much) {
  WarmGas gas;
  gas.state[k_energy] = 10.0 + 1e-7;  // far from the 12 that the entropy stands for
  EXPECT_NEAR(gas.cell.internal_energy(), 1.0, 1e-15);
  EXPECT_NEAR(gas.cell.set_internal_energy(1.25), 0.5, 1e-14);
  EXPECT_NEAR(gas.state[k_energy], 10.5 + 1e-7, 1e-14);
}

TEST(GasCell, what_the_total_energy_lacks_is_not_radiated) {
  WarmGas gas;
  gas.state[k_energy] = 10.0 + 0.005;  // of the 12 that the entropy stands for
  EXPECT_NEAR(gas.cell.set_internal_energy(0.001), -0.003, 1e-14);
  EXPECT_NEAR(gas.state[k_energy], 10.0 + 0.002, 1e-14);
  EXPECT_NEAR(gas.cell.pressure(), 0.4 * 0.002, 1e-15);

  WarmGas lacking;
  lacking.state[k_energy] = 9.5;
  EXPECT_EQ(lacking.cell.set_internal_energy(0.5), 0.0);
  EXPECT_EQ(lacking.state[k_energy], 9.5);
  EXPECT_NEAR(lacking.cell.pressure(), 0.4, 1e-15);
}

TEST(GasCell, cooling_ends_at_the_pressure_floor) {
  WarmGas gas;
  gas.cell.set_internal_energy(-1.0);
  EXPECT_NEAR(gas.cell.pressure(), k_gas.pressure_floor, 1e-15);
  EXPECT_GT(gas.state[k_entropy], 0.0);
}

// Four cells that differ in all that decides what becomes of them, the last of which is not meant.
TEST(GasCells, a_pack_does_what_its_cells_do) {
  constexpr int width = SimdTraits<SimdDouble>::width, variables = 6;
  const WarmGas warm;
  double together[variables][width], alone[width][variables], energy[width], meant[width];
  for (int n = 0; n < width; ++n) {
    for (int v = 0; v < variables; ++v) alone[n][v] = warm.state[v];
    if (n % 4 == 1) alone[n][k_energy] = 10.0 + 1e-7;  // entropy rules
    if (n % 4 == 2) alone[n][k_energy] = 10.0 + 0.005;
    energy[n] = n % 4 == 2 ? 0.001 : 1.0 + 0.3 * n;
    meant[n] = n % 4 == 3 ? 0.0 : 1.0;
    for (int v = 0; v < variables; ++v) together[v][n] = alone[n][v];
  }

  const GasCells<SimdDouble> cells(together[0], width, k_gas);
  double pressure[width], added[width];
  SimdTraits<SimdDouble>::store(pressure, cells.pressure());
  SimdTraits<SimdDouble>::store(
      added, cells.set_internal_energy(SimdTraits<SimdDouble>::load(energy), cells.pressure(),
                                       SimdTraits<SimdDouble>::load(meant) > SimdDouble(0.0)));
  for (int n = 0; n < width; ++n) {
    const GasCell cell(alone[n], 1, k_gas);
    EXPECT_EQ(pressure[n], cell.pressure());
    EXPECT_EQ(added[n], meant[n] > 0.0 ? cell.set_internal_energy(energy[n]) : 0.0);
    for (int v = 0; v < variables; ++v) EXPECT_EQ(together[v][n], alone[n][v]);
  }
}

}  // namespace
}  // namespace octant::hydro
