// Changes of gas and photons, and their derivatives.
#include "subgrid/ionization/increments.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "ionized_states.hpp"

namespace octant::subgrid::ionization {
namespace {

TEST(Increments, attenuation_is_continuous_and_has_its_derivatives) {
  for (const double a : {1e-12, 1e-3, 0.0199999, 0.02, 0.0200001, 0.5, 3.0, 60.0, 1e9}) {
    const Attenuation of(a, std::exp(-a));
    const long double x = a, phi = -std::expm1(-x) / x;
    EXPECT_NEAR(of.phi, static_cast<double>(phi), 1e-14);
    // Long doubles have no cancellation where a > 1e-3.
    const long double psi = a > 1e-4 ? (1 - phi) / x : 0.5L - x / 6;
    EXPECT_NEAR(of.psi, static_cast<double>(psi), 1e-12);
    const double d = 1e-4 * a;
    const Attenuation low(a - d, std::exp(d - a)), high(a + d, std::exp(-d - a));
    if (a < 1e-4) continue;
    EXPECT_NEAR(of.phi_slope, (high.phi - low.phi) / (2.0 * d), 1e-7 * of.phi / std::min(a, 1.0));
    EXPECT_NEAR(of.psi_slope, (high.psi - low.psi) / (2.0 * d), 1e-7 * of.psi / std::min(a, 1.0));
  }
}

// Changes for these unknowns.
Increments changes_at(const Photochemistry& chemistry, const Contents& cell,
                      const double (&y)[k_unknowns], double time) {
  const Densities of{{y[0], y[1], y[2], y[3]}, cell.hydrogen - y[0], cell.helium - (y[1] + y[2])};
  const GasState gas(chemistry, cell, of);
  return Increments(chemistry, cell, GasRates(gas.temperature, chemistry.on_the_spot), gas, time);
}

TEST(Increments, slopes_are_derivatives) {
  LogUniform random(3);
  for (int n = 0; n < 400; ++n) {
    Photochemistry chemistry = three_groups();
    if (n % 2 == 1) chemistry = with_ground_photons(chemistry);
    chemistry.compton = n % 3 == 0;
    chemistry.redshift = 3.0;
    chemistry.temperature = n % 5 == 0 ? 3e4 : 0.0;
    chemistry.has_background = n % 4 < 2;
    chemistry.background = {{1e-12, 5e-13, 1e-14}, {5e-24, 4e-24, 3e-25}};
    const double hydrogen = random(1e-4, 1e4), helium = 0.08 * hydrogen;
    const Contents cell{
        hydrogen,
        helium,
        {hydrogen * random(1e-3, 1e3), hydrogen * random(1e-3, 1e3), hydrogen * random(1e-3, 1e3)},
        random.fraction()};
    const double once = random.fraction();
    const IonizedGas gas = gas_of(hydrogen, helium, random.fraction(), once,
                                  random.fraction() * (1.0 - once), random(100.0, 1e7));
    const double y[k_unknowns] = {hydrogen * gas.ionized[0], helium * gas.ionized[1],
                                  helium * gas.ionized[2], gas.energy};
    const double time = random(1e6, 1e14) / hydrogen;
    const Increments at = changes_at(chemistry, cell, y, time);
    for (int m = 0; m < k_unknowns; ++m) {
      double below[k_unknowns], above[k_unknowns];
      for (int l = 0; l < k_unknowns; ++l) below[l] = above[l] = y[l];
      const double d = 1e-6 * y[m];
      below[m] -= d;
      above[m] += d;
      const Increments low = changes_at(chemistry, cell, below, time);
      const Increments high = changes_at(chemistry, cell, above, time);
      for (int r = 0; r < k_changes; ++r) {
        const double found = (high.value[r] - low.value[r]) / (2.0 * d);
        double scale = std::abs(at.value[r]) / y[m] + std::abs(at.slope[r][m]);
        if (r == k_energy) scale += at.value[k_heated] / y[m];
        EXPECT_NEAR(at.slope[r][m], found, 3e-5 * scale) << "change " << r << " by " << m;
      }
    }
  }
}

TEST(Increments, photons_absorbed_are_ionisations) {
  // At low temperature, and without ions, nothing else happens.
  Photochemistry chemistry = three_groups();
  const Contents cell{1.0, 0.1, {2.0, 3.0, 4.0}, 0.0};
  const IonizedGas gas = gas_of(1.0, 0.1, 0.0, 0.0, 0.0, 10.0);
  const double y[k_unknowns] = {0.0, 0.0, 0.0, gas.energy};
  for (const double time : {1e3, 1e9, 1e15}) {
    const Increments at = changes_at(chemistry, cell, y, time);
    const double absorbed =
        at.value[k_absorbed] + at.value[k_absorbed + 1] + at.value[k_absorbed + 2];
    EXPECT_NEAR(at.value[0] + at.value[1], absorbed, 1e-14 * absorbed);
    EXPECT_EQ(at.value[2], 0.0);
    // Group 0 has photons for hydrogen alone.
    const double depth = 3e8 * time * 3.0e-18;
    EXPECT_NEAR(at.value[k_absorbed], -2.0 * std::expm1(-depth), 1e-13);
  }
}

}  // namespace
}  // namespace octant::subgrid::ionization
