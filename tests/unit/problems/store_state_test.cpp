// What a cell stores of a problem's gas.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "hydro/gas_cell.hpp"
#include "problems/problem.hpp"

namespace octant::problems {
namespace {

hydro::HydroOptions gas_with_metals() {
  hydro::HydroOptions options;
  options.dual_energy = hydro::DualEnergy::on;
  options.scalars = hydro::passive_scalars(1);
  options.scalars.push_back({.name = "metals", .initial = 0.02});
  return options;
}

std::vector<double> stored(const GasState& state, const hydro::HydroOptions& options) {
  std::vector<double> values(2 * options.variable_count(), -1.0);
  store_state(state, options, Position{}, values.data(), 2);
  for (std::size_t n = 1; n < values.size(); n += 2) EXPECT_EQ(values[n], -1.0);
  return values;
}

TEST(StoreState, a_gas_cell_finds_the_state_again) {
  const hydro::HydroOptions options = gas_with_metals();
  auto values = stored({.density = 2.0, .velocity = {1.0, -2.0, 3.0}, .pressure = 0.7}, options);
  const hydro::Gas gas = options.gas();
  const hydro::GasCell cell(values.data(), 2, gas);
  EXPECT_EQ(cell.density(), 2.0);
  EXPECT_EQ(cell.velocity(1), -2.0);
  EXPECT_NEAR(cell.pressure(), 0.7, 1e-14);
  EXPECT_NEAR(cell[hydro::k_entropy], 0.7 / std::pow(2.0, gas.gamma - 1.0), 1e-15);
}

TEST(StoreState, scalars_begin_as_the_problem_says_or_else_as_declared) {
  const hydro::HydroOptions options = gas_with_metals();
  const int passive = 2 * options.variable_index("scalar_0").value();
  const int metals = 2 * options.variable_index("metals").value();
  const auto silent = stored({.density = 2.0}, options);
  EXPECT_EQ(silent[passive], 0.0);
  EXPECT_EQ(silent[metals], 2.0 * 0.02);
  const auto generous = stored({.density = 2.0, .scalars = {0.5, 0.7}}, options);
  EXPECT_EQ(generous[passive], 1.0);
  EXPECT_EQ(generous[metals], 2.0 * 0.02) << "a surplus must be dropped";
  const auto named = stored({.density = 2.0, .others = {{metals / 2, 0.3}}}, options);
  EXPECT_EQ(named[metals], 0.6);
}

}  // namespace
}  // namespace octant::problems
