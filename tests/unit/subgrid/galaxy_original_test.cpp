// The original method against what RAMSES itself gives: OCTANT_DATA/galaxy/original_*.csv.
#include <algorithm>

#include <gtest/gtest.h>

#include "reference_table.hpp"
#include "subgrid/cooling/exact.hpp"
#include "subgrid/cooling/original.hpp"

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
    const OriginalRates rates =
        original_rates(n_H, T, z, courty_background(z, k_ramses_reionization));
    const double metals = original_metal_cooling(n_H, T, z);
    // What is a thousandth of the rest does not matter.
    const double cool = row.number("cool"), heat = row.number("heat");
    const double metal = row.number("metal_solar");
    const double slight = 1e-3 * std::max({cool, heat, metal});
    const auto agrees = [&](const char* column, double found, double least) {
      const double expected = row.number(column);
      EXPECT_NEAR(found, expected, 0.005 * std::max(expected, least))
          << column << " at z = " << z << ", n_H = " << n_H << ", T = " << T;
    };
    agrees("mu", rates.molecular_weight, 0.0);
    agrees("cool", rates.cool, slight);
    agrees("heat", rates.heat, slight);
    agrees("metal_solar", metals, slight);
    agrees("compton_cool", rates.compton_cool, std::max(1e-3 * n_H * std::max(cool, heat), 2e-28));
    agrees("compton_heat", rates.compton_heat, std::max(1e-3 * n_H * std::max(cool, heat), 2e-28));
  }
}

// RAMSES's own steps: linearised, and as long as T changes by a quarter at most. The last one is
// cut by linear interpolation.
double in_steps_of_ramses(const CellRates& rates, double u, double t) {
  double elapsed = 0.0, before = u, time_before = 0.0;
  while (elapsed < t) {
    const auto [above, a, b] = segment_around(rates, u);
    const double slope = (b.rate - a.rate) / (b.energy - a.energy);
    const double rate = a.rate + slope * (u - a.energy);
    const double w = std::max({4.0 * std::abs(rate) / u, -4.0 * slope, 1.0 / t});
    before = u;
    time_before = elapsed;
    u *= (1.0 + slope / w - rate / (u * w)) / (1.0 + slope / w);
    elapsed += 1.0 / w;
  }
  return before + (u - before) * (t - time_before) / (elapsed - time_before);
}

TEST(GalaxyOriginal, gas_in_a_pack_has_the_equilibrium_that_it_has_alone) {
  using Lanes = PackTraits<Pack>;
  // Some need more steps than others.
  const double densities[] = {1e-9, 3e-4, 0.5, 1e5};
  const PhotoRates background = courty_background(2.0, k_ramses_reionization);
  for (const double T : {20.0, 1e4, 3e4, 1e7}) {
    const IonizationRates rates(T);
    const Species<Pack> together = equilibrium(rates, background, Lanes::load(densities));
    for (int lane = 0; lane < Lanes::width; ++lane) {
      const Species<double> alone = equilibrium(rates, background, densities[lane]);
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
  std::vector<double> exact, alike;  // differences of log u
  for (const ReferenceRow& row : *rows) {
    const double z = row.number("z");
    const bool shielded = row.number("boost") < 1.0;
    if (!nodes.contains({z, shielded}))
      nodes[{z, shielded}] =
          original_nodes({.shielding = shielded ? Shielding::exponential : Shielding::none}, z,
                         Communicator::world());
    const Nodes& of = nodes[{z, shielded}];
    const double n_H = row.number("n_H");
    const CellRates rates =
        of.rates(n_H, of.rows.place(log_of_ten(n_H)), row.number("Z_over_0.02"));
    const double u_0 = per_kelvin * row.number("T_over_mu_0");
    const double t = 1e6 * constants::k_year * row.number("t_Myr");
    const double expected = per_kelvin * row.number("T_over_mu");
    alike.push_back(std::abs(std::log(in_steps_of_ramses(rates, u_0, t) / expected)));
    exact.push_back(std::abs(std::log(advance_exactly(rates, u_0, t) / expected)));
  }
  std::sort(exact.begin(), exact.end());
  std::sort(alike.begin(), alike.end());
  const auto share = [&](const std::vector<double>& sorted, double part) {
    return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
  };
  // With its steps what is left is that RAMSES interpolates rates between temperatures whose ratio
  // is 1.3, which matters below 2e4 K, where they are steep. Its steps have errors of some per cent
  // while T changes fast.
  EXPECT_LT(share(alike, 0.5), 0.001);
  EXPECT_LT(share(alike, 0.89), 0.02);
  EXPECT_LT(share(alike, 1.0), 0.12);
  EXPECT_LT(share(exact, 0.5), 0.02);
}

}  // namespace
}  // namespace octant::subgrid::cooling
