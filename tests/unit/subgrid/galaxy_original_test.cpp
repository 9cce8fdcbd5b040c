// The original method against what RAMSES itself gives: OCTANT_DATA/galaxy/original_*.csv.
#include <algorithm>

#include <gtest/gtest.h>

#include "reference_table.hpp"
#include "subgrid/cooling/original.hpp"
#include "subgrid/cooling/solvers.hpp"

namespace octant::subgrid::cooling {
namespace {

constexpr double k_ramses_reionization = 8.5;

TEST(GalaxyOriginal, rates_are_those_of_ramses) {
  const auto rows = reference_table("galaxy/original_rates.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/original_rates.csv";
  for (const ReferenceRow& row : *rows) {
    const double z = row.number("z"), n_H = row.number("n_H");
    const double over_mu = row.number("T_over_mu"), T = over_mu * row.number("mu");
    if (!(over_mu > 100.0)) continue;
    const PhotoRates background = courty_background(z, k_ramses_reionization);
    const Species<double> x =
        equilibrium(k_original_composition, IonizationRates(T), background, n_H);
    const ComptonRates compton = original_compton(x.electrons, T, z);
    // What is a thousandth of the rest does not matter.
    const double cool = row.number("cool"), heat = row.number("heat");
    const double metal = row.number("metal_solar");
    const double slight = 1e-3 * std::max({cool, heat, metal});
    const auto agrees = [&](const char* column, double found, double least) {
      const double expected = row.number(column);
      EXPECT_NEAR(found, expected, 0.005 * std::max(expected, least))
          << column << " at z = " << z << ", n_H = " << n_H << ", T = " << T;
    };
    agrees("mu", x.molecular_weight(k_original_composition), 0.0);
    agrees("cool", PrimordialCooling(T).rate(x), slight);
    agrees("heat", photo_heating(n_H, background, x), slight);
    agrees("metal_solar", std::pow(10.0, original_metals(n_H, T, z).log_rate), slight);
    agrees("compton_cool", compton.cool, std::max(1e-3 * n_H * std::max(cool, heat), 2e-28));
    agrees("compton_heat", compton.heat, std::max(1e-3 * n_H * std::max(cool, heat), 2e-28));
  }
}

// Of RAMSES's set_rates: before reionisation, and when it has hardly begun.
TEST(GalaxyOriginal, a_trace_of_the_background_is_always_there) {
  const PhotoRates early = courty_background(15.0, k_ramses_reionization);
  EXPECT_NEAR(early.ionization[0] / 2.125691e-21, 1.0, 1e-3);
  EXPECT_NEAR(early.heating[2] / 4.088750e-33, 1.0, 1e-3);
  const PhotoRates beginning = courty_background(8.4, k_ramses_reionization);
  EXPECT_NEAR(beginning.ionization[0] / 7.336955e-22, 1.0, 1e-3);
  EXPECT_NEAR(beginning.heating[1] / 1.595177e-32, 1.0, 1e-3);
}

TEST(GalaxyOriginal, gas_in_a_pack_has_the_equilibrium_that_it_has_alone) {
  using Lanes = SimdTraits<SimdDouble>;
  // Some need more steps than others.
  const double densities[] = {1e-9, 3e-4, 0.5, 1e5};
  const PhotoRates background = courty_background(2.0, k_ramses_reionization);
  for (const double T : {20.0, 1e4, 3e4, 1e7}) {
    const IonizationRates rates(T);
    const Species<SimdDouble> together =
        equilibrium(k_original_composition, rates, background, Lanes::load(densities));
    for (int lane = 0; lane < Lanes::width; ++lane) {
      const Species<double> alone =
          equilibrium(k_original_composition, rates, background, densities[lane]);
      EXPECT_EQ(Lanes::lane(together.electrons, lane), alone.electrons) << "T = " << T;
      EXPECT_EQ(Lanes::lane(together.HeI, lane), alone.HeI) << "T = " << T;
    }
  }
}

TEST(GalaxyOriginal, cells_cool_as_those_of_ramses) {
  const auto rows = reference_table("galaxy/original_cells.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/original_cells.csv";
  const double per_kelvin = internal_energy(1.0, 1.0, 5.0 / 3.0);
  std::map<std::pair<double, bool>, Nodes> nodes;
  std::vector<double> errors;  // of log u
  for (const ReferenceRow& row : *rows) {
    const double z = row.number("z");
    const bool shielded = row.number("boost") < 1.0;
    if (!nodes.contains({z, shielded}))
      nodes[{z, shielded}] =
          original_nodes({.shielding = shielded ? Shielding::exponential : Shielding::none}, z,
                         Communicator::world());
    const Nodes& of = nodes[{z, shielded}];
    const double n_H = row.number("n_H");
    const CellGas cell{n_H, row.number("Z_over_0.02"), 0.0};
    const CellRates rates = of.rates(cell, of.position(n_H));
    const double u_0 = per_kelvin * row.number("T_over_mu_0");
    const double t = 1e6 * constants::k_year * row.number("t_Myr");
    bool exactly_ended = false;
    const double u = advance_linearised(rates, u_0, t, exactly_ended);
    EXPECT_FALSE(exactly_ended);
    errors.push_back(std::abs(std::log(u / (per_kelvin * row.number("T_over_mu")))));
  }
  std::sort(errors.begin(), errors.end());
  const auto share = [&](double part) {
    return errors[static_cast<std::size_t>(part * static_cast<double>(errors.size() - 1))];
  };
  EXPECT_LT(share(0.5), 0.001);
  EXPECT_LT(share(0.98), 0.02);
}

}  // namespace
}  // namespace octant::subgrid::cooling
