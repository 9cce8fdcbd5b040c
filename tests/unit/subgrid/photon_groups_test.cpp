// Cross sections and averages of groups of ionising photons against published values.
#include "subgrid/ionization/photon_groups.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant::subgrid::ionization {
namespace {

constexpr double k_eV = constants::k_electron_volt;
const std::vector<double> k_edges{13.60, 24.59, 54.42};

TEST(PhotonGroups, cross_sections_at_thresholds_are_those_of_verner) {
  EXPECT_NEAR(photoionization_cross_section(0, 13.60), 6.346e-18, 1e-21);
  EXPECT_NEAR(photoionization_cross_section(1, 24.59), 7.435e-18, 1e-21);
  EXPECT_NEAR(photoionization_cross_section(2, 54.42), 1.587e-18, 1e-21);
  for (int atom = 0; atom < 3; ++atom)
    EXPECT_EQ(photoionization_cross_section(atom, 0.999 * ionization_energy(atom)), 0.0);
}

TEST(PhotonGroups, cross_sections_of_hydrogen_like_atoms_scale_with_the_charge) {
  for (const double energy : {13.7, 20.0, 100.0, 1000.0})
    EXPECT_NEAR(4.0 * photoionization_cross_section(2, 4.002 * energy) /
                    photoionization_cross_section(0, energy),
                1.0, 2e-3);
}

TEST(PhotonGroups, black_body_of_1e5_kelvin_has_the_groups_of_rosdahl) {
  // Energies in eV of Rosdahl et al. (2013, MNRAS 436, 2188), and cross sections in 1e-19 cm^2,
  // which RAMSES rounds to two digits.
  const double energies[3] = {18.85, 35.079, 65.666};
  const double sections[3][3] = {{30.0, 0.0, 0.0}, {5.7, 45.0, 0.0}, {0.79, 12.0, 11.0}};
  const double rounding[3][3] = {{0.5, 0.0, 0.0}, {0.05, 0.5, 0.0}, {0.005, 0.5, 0.5}};
  const SourceSpectrum found = make_groups(k_edges, {});
  ASSERT_EQ(found.groups.size(), 3u);
  for (int g = 0; g < 3; ++g) {
    EXPECT_NEAR(found.groups[g].energy / k_eV, energies[g], 2e-4 * energies[g]);
    for (int s = 0; s < 3; ++s)
      EXPECT_NEAR(1e19 * found.groups[g].cross_section[s], sections[g][s], rounding[g][s]);
  }
}

TEST(PhotonGroups, photons_of_a_black_body_are_those_of_planck) {
  // Ionising photons per erg: sum over n of e^(-n x) (x^2 / n + 2 x / n^2 + 2 / n^3), the integral
  // of x^2 / (e^x - 1) above x = E / kT, over pi^4 / 15 kT.
  for (const double T : {3e4, 1e5, 1e6}) {
    const double thermal = constants::k_boltzmann * T, x = 13.60 * k_eV / thermal;
    double sum = 0.0;
    for (int n = 1; n < 400; ++n)
      sum += std::exp(-n * x) * (x * x / n + 2.0 * x / (n * n) + 2.0 / std::pow(n, 3));
    const SourceSpectrum found = make_groups(k_edges, {.temperature = T});
    EXPECT_NEAR(found.photons_per_erg * thermal * std::pow(M_PI, 4) / (15.0 * sum), 1.0, 1e-9);
  }
}

// One group that holds three others has their photons, energy, ionisations and heat.
void expect_sums(const Spectrum& spectrum) {
  const SourceSpectrum parts = make_groups(k_edges, spectrum);
  const SourceSpectrum whole = make_groups({k_edges[0]}, spectrum);
  EXPECT_NEAR(parts.photons_per_erg, whole.photons_per_erg, 1e-9 * whole.photons_per_erg);
  double photons = 0.0, energies = 0.0, energy = 0.0;
  for (int g = 0; g < 3; ++g) {
    photons += parts.photon_share[g];
    energies += parts.energy_share[g];
    energy += parts.photon_share[g] * parts.groups[g].energy;
  }
  EXPECT_NEAR(photons, 1.0, 1e-14);
  EXPECT_NEAR(energies, 1.0, 1e-14);
  EXPECT_NEAR(energy / whole.groups[0].energy, 1.0, 1e-9);
  for (int s = 0; s < 3; ++s) {
    double ionizations = 0.0, heat = 0.0;
    for (int g = 0; g < 3; ++g) {
      const double count = parts.photon_share[g] * parts.groups[g].cross_section[s];
      ionizations += count;
      heat += count * parts.groups[g].excess[s];
    }
    EXPECT_NEAR(ionizations / whole.groups[0].cross_section[s], 1.0, 1e-9);
    EXPECT_NEAR(heat / (ionizations * whole.groups[0].excess[s]), 1.0, 1e-9);
  }
}

TEST(PhotonGroups, groups_sum_to_one_group) {
  expect_sums({.temperature = 1e5});
  expect_sums({.temperature = 4e4});
  expect_sums({.kind = SpectrumKind::power_law, .index = 1.5});
  expect_sums({.kind = SpectrumKind::power_law, .index = 4.0});
}

TEST(PhotonGroups, power_law_has_its_mean_energies) {
  // Photons ~ E^-(a + 1): the mean between E_0 and E_1 is a / (a - 1) times
  // (E_0^(1 - a) - E_1^(1 - a)) / (E_0^-a - E_1^-a).
  const double a = 1.8;
  const SourceSpectrum found = make_groups(k_edges, {.kind = SpectrumKind::power_law, .index = a});
  for (int g = 0; g < 3; ++g) {
    const auto above = [&](double exponent) {
      return std::pow(k_edges[g], -exponent) - (g < 2 ? std::pow(k_edges[g + 1], -exponent) : 0.0);
    };
    EXPECT_NEAR(found.groups[g].energy / k_eV, a / (a - 1.0) * above(a - 1.0) / above(a), 1e-9);
    EXPECT_NEAR(found.photon_share[g], above(a) * std::pow(k_edges[0], a), 1e-12);
  }
}

TEST(PhotonGroups, monochromatic_photons_have_the_lowest_energy) {
  const SourceSpectrum found = make_groups({29.62}, {.kind = SpectrumKind::monochromatic});
  const PhotoGroup& group = found.groups[0];
  EXPECT_NEAR(group.energy / k_eV, 29.62, 1e-12);
  EXPECT_NEAR(group.excess[0] / k_eV, 29.62 - 13.60, 1e-12);
  EXPECT_EQ(group.cross_section[0], photoionization_cross_section(0, 29.62));
  EXPECT_EQ(group.cross_section[2], 0.0);
  EXPECT_EQ(group.excess[2], 0.0);
  EXPECT_EQ(found.photon_share[0], 1.0);
}

TEST(PhotonGroups, cold_black_bodies_have_averages_near_the_lowest_energy) {
  const SourceSpectrum found = make_groups(k_edges, {.temperature = 100.0});
  for (int g = 0; g < 3; ++g) {
    EXPECT_NEAR(found.groups[g].energy / k_eV, k_edges[g] + 0.0087, 1e-3);
    EXPECT_NEAR(found.groups[g].cross_section[g], photoionization_cross_section(g, k_edges[g]),
                2e-20);
  }
}

TEST(PhotonGroups, impossible_groups_are_refused) {
  EXPECT_THROW(make_groups({}, {}), InputError);
  EXPECT_THROW(make_groups({1.0, 2.0, 3.0, 4.0}, {}), InputError);
  EXPECT_THROW(make_groups({20.0, 13.6}, {}), InputError);
  EXPECT_THROW(make_groups({NAN}, {}), InputError);
  EXPECT_THROW(make_groups(k_edges, {.temperature = 0.0}), InputError);
  EXPECT_THROW(make_groups(k_edges, {.kind = SpectrumKind::power_law, .index = 1.0}), InputError);
}

TEST(PhotonGroups, recombinations_have_groups_at_the_ionisation_energies) {
  const SourceSpectrum sources = make_groups(k_edges, {});
  EXPECT_EQ(ground_photon_groups(k_edges, true), 3);
  const GroundPhotons all = make_ground_photons(k_edges, sources.groups, true);
  ASSERT_EQ(all.groups.size(), 3U);
  for (int s = 0; s < 3; ++s) {
    EXPECT_EQ(all.ground[s], 3 + s);
    EXPECT_EQ(all.warm[s], s);
    EXPECT_DOUBLE_EQ(all.groups[s].energy, ionization_energy(s) * k_eV);
    EXPECT_EQ(all.groups[s].excess[s], 0.0);
    EXPECT_DOUBLE_EQ(all.groups[s].cross_section[s],
                     photoionization_cross_section(s, ionization_energy(s)));
  }
  EXPECT_NEAR(all.groups[1].excess[0], (24.59 - 13.6) * k_eV, 1e-12 * k_eV);
  // Pure hydrogen has one group; photons below the lowest edge escape.
  EXPECT_EQ(ground_photon_groups(k_edges, false), 1);
  EXPECT_EQ(ground_photon_groups({20.0}, false), 0);
  EXPECT_EQ(ground_photon_groups({20.0}, true), 2);
  const GroundPhotons few = make_ground_photons({20.0}, make_groups({20.0}, {}).groups, true);
  EXPECT_EQ(few.ground[0], -1);
  EXPECT_EQ(few.ground[1], 1);
  EXPECT_EQ(few.ground[2], 2);
  EXPECT_EQ(few.warm[1], 0);
  EXPECT_EQ(few.warm[2], 0);
  // Photons of 13.6 eV have no energy above the threshold.
  const SourceSpectrum one = make_groups({13.6}, {.kind = SpectrumKind::monochromatic});
  EXPECT_EQ(make_ground_photons({13.6}, one.groups, false).warm[0], -1);
}

}  // namespace
}  // namespace octant::subgrid::ionization
