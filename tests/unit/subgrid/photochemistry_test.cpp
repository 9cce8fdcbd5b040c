// Ionisation, heating and cooling of a cell: conservation, equilibria, closed forms, and accurate
// integrations of the same equations.
#include "subgrid/ionization/photochemistry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "ionized_states.hpp"

namespace octant::subgrid::ionization {
namespace {

constexpr double k_gamma = 5.0 / 3.0;

// Random state: from neutral to ionised, cold to hot, dark to flooded with photons.
IonizedGas random_state(LogUniform& random) {
  const double n = random(1e-6, 1e6), small = random(1e-8, 1.0), once = random(1e-8, 1.0);
  const bool is_ionized = random.fraction() < 0.5;
  IonizedGas gas =
      gas_of(n, random.fraction() < 0.3 ? 0.0 : 0.08 * n, is_ionized ? 1.0 - small : small, once,
             (1.0 - once) * random(1e-8, 1.0), random(10.0, 1e9));
  for (int g = 0; g < 3; ++g)
    gas.photons[g] = random.fraction() < 0.2 ? 0.0 : n * random(1e-8, 1e8);
  return gas;
}

// Duration in which c' n t is an optical depth between 1e-6 and 1e8 of neutral hydrogen.
double random_duration(LogUniform& random, const IonizedGas& gas, const Photochemistry& chemistry) {
  return random(1e-6, 1e8) / (chemistry.light_speed * gas.hydrogen * 3e-18);
}

TEST(Photochemistry, photons_and_energy_are_conserved_and_fractions_bounded) {
  LogUniform random(7);
  int unsolved = 0;
  for (int n = 0; n < 10000; ++n) {
    Photochemistry chemistry = three_groups();
    if (n % 2 == 1) chemistry = with_ground_photons(chemistry);
    chemistry.temperature = n % 7 == 0 ? 1e4 : 0.0;
    const IonizedGas before = random_state(random);
    IonizedGas after = before;
    const Reaction reaction = react(after, chemistry, random_duration(random, before, chemistry));
    unsolved += reaction.is_solved ? 0 : 1;
    double most_heat = 0.0;
    for (int g = 0; g < chemistry.groups; ++g) {
      const double total = before.photons[g] + reaction.emitted[g];
      EXPECT_NEAR(after.photons[g], total - reaction.absorbed[g], 1e-13 * total);
      EXPECT_GE(after.photons[g], 0.0);
      EXPECT_GE(reaction.absorbed[g], 0.0);
      EXPECT_GE(reaction.emitted[g], 0.0);
      EXPECT_GE(reaction.kept[g], 0.0);
      EXPECT_LE(reaction.kept[g], 1.0);
      if (reaction.substeps == 1) {
        EXPECT_NEAR(reaction.kept[g] * total, after.photons[g], 1e-12 * total);
      }
      most_heat += reaction.absorbed[g] * 48.5 * constants::k_electron_volt;
      if (!chemistry.on_the_spot) continue;
      EXPECT_EQ(reaction.emitted[g], 0.0);
      EXPECT_NEAR(reaction.kept[g] * before.photons[g], after.photons[g],
                  1e-12 * before.photons[g]);
    }
    EXPECT_GE(reaction.heated, 0.0);
    EXPECT_LE(reaction.heated, (1.0 + 1e-12) * most_heat);
    EXPECT_NEAR(after.energy, before.energy + reaction.heated - reaction.radiated,
                1e-13 * (before.energy + after.energy + reaction.heated));
    EXPECT_GT(after.energy, 0.0);
    for (const double fraction : after.ionized) {
      EXPECT_GE(fraction, 0.0);
      EXPECT_LE(fraction, 1.0);
    }
    EXPECT_LE(after.ionized[1] + after.ionized[2], 1.0 + 1e-15);
    if (chemistry.temperature > 0.0) {
      EXPECT_NEAR(after.temperature(k_gamma), 1e4, 1e-8);
    }
  }
  EXPECT_EQ(unsolved, 0);
}

TEST(Photochemistry, photons_absorbed_are_ionisations_at_any_optical_depth) {
  // Cold gas barely recombines within the step.
  for (const double depth : {1e-6, 1e-2, 1.0, 30.0, 1e4, 1e8})
    for (const double per_atom : {1e-8, 0.01, 0.5, 0.99, 1.0, 1.01, 2.0, 1e4}) {
      Photochemistry chemistry = one_group();
      chemistry.temperature = 10.0;
      const double n = 1e-9, seconds = 1e8;
      chemistry.light_speed = depth / (n * 6.3e-18 * seconds);
      IonizedGas gas = gas_of(n, 0.0, 0.0, 0.0, 0.0, 10.0);
      gas.photons[0] = per_atom * n;
      const Reaction reaction = react(gas, chemistry, seconds);
      EXPECT_TRUE(reaction.is_solved);
      EXPECT_NEAR(gas.ionized[0] * n, reaction.absorbed[0], 1e-11 * n);
      EXPECT_NEAR(reaction.heated, reaction.absorbed[0] * constants::k_electron_volt,
                  1e-11 * reaction.heated);
      // Thick cells absorb all photons, or have all their atoms ionised.
      if (depth >= 1e4 && std::abs(per_atom - 1.0) > 0.1) {
        EXPECT_NEAR(reaction.absorbed[0] / n, std::min(1.0, per_atom), 1e-3);
      }
    }
}

TEST(Photochemistry, depletion_follows_the_exact_solution) {
  // Without recombination u' = -q u N, N - u = constant D: u / N evolves by e^(q D t).
  for (const double per_atom : {0.3, 0.9, 3.0})
    for (const double depth : {0.1, 1.0, 5.0}) {
      Photochemistry chemistry = one_group();
      chemistry.temperature = 10.0;
      const double n = 1e-9, seconds = 1e8;
      chemistry.light_speed = depth / (n * 6.3e-18 * seconds);
      const double ratio = per_atom * std::exp((per_atom - 1.0) * depth);  // N / u
      const double neutral = (per_atom - 1.0) / (ratio - 1.0);
      for (const double tolerance : {0.1, 1e-2, 1e-3}) {
        chemistry.tolerance = tolerance;
        IonizedGas gas = gas_of(n, 0.0, 0.0, 0.0, 0.0, 10.0);
        gas.photons[0] = per_atom * n;
        react(gas, chemistry, seconds);
        EXPECT_NEAR(gas.ionized[0], 1.0 - neutral, tolerance)
            << per_atom << " photons per atom, depth " << depth;
      }
    }
}

TEST(Photochemistry, ionisation_fronts_have_the_right_speed) {
  // A beam enters cold hydrogen with N photons per cm^3. Its front moves with c' N / (n + N),
  // whatever the optical depth of a cell.
  for (const double depth : {3.0, 100.0, 1e4})
    for (const double per_atom : {0.05, 1.0}) {
      constexpr int cells = 60;
      constexpr double n = 1e-6, sigma = 6.3e-18, courant = 0.8;
      Photochemistry chemistry = one_group();
      chemistry.temperature = 1e4;
      chemistry.light_speed = 3e10 * depth;  // so that recombination is slow for any depth
      const double dx = depth / (n * sigma), dt = courant * dx / chemistry.light_speed;
      const int steps = static_cast<int>(0.5 * cells * (1.0 + per_atom) / (per_atom * courant));
      std::vector<IonizedGas> gas(cells, gas_of(n, 0.0, 0.0, 0.0, 0.0, 1e4));
      for (int step = 0; step < steps; ++step) {
        for (int m = cells - 1; m >= 0; --m) {
          const double inflow = m > 0 ? gas[m - 1].photons[0] : per_atom * n;
          gas[m].photons[0] += courant * (inflow - gas[m].photons[0]);
        }
        for (IonizedGas& cell : gas) EXPECT_TRUE(react(cell, chemistry, dt).is_solved);
      }
      double front = 0.0;
      for (const IonizedGas& cell : gas) front += cell.ionized[0];
      EXPECT_NEAR(front, steps * courant * per_atom / (1.0 + per_atom), 0.5)
          << "depth " << depth << ", photons per atom " << per_atom;
    }
}

TEST(Photochemistry, hydrogen_under_constant_light_has_the_equilibrium_of_the_closed_form) {
  // x^2 / (1 - x) = Gamma / (alpha n); at 3000 K there is no collisional ionisation.
  Photochemistry chemistry = one_group();
  chemistry.temperature = 3000.0;
  chemistry.light_speed = 1.0;  // so slow that few photons are absorbed
  const double n = 1.0, alpha = GasRates(3000.0, true).recombination[0].value;
  for (const double ratio : {1e-6, 1e-2, 1.0, 1e2, 1e6}) {
    IonizedGas gas = gas_of(n, 0.0, 0.5, 0.0, 0.0, 3000.0);
    const double photons = ratio * alpha * n / (6.3e-18 * chemistry.light_speed);
    for (int step = 0; step < 200; ++step) {
      gas.photons[0] = photons;
      EXPECT_TRUE(react(gas, chemistry, 1e15).is_solved);
    }
    const double x = 0.5 * (std::sqrt(ratio * ratio + 4.0 * ratio) - ratio);
    // Photons on the way are fewer by half the optical depth, at most 0.0063.
    EXPECT_NEAR(gas.ionized[0] / x, 1.0, 0.002) << "ratio " << ratio;
    EXPECT_NEAR((1.0 - gas.ionized[0]) / (1.0 - x), 1.0, 0.004) << "ratio " << ratio;
  }
}

TEST(Photochemistry, recombination_follows_the_closed_form) {
  Photochemistry chemistry;
  chemistry.temperature = 5000.0;
  const double alpha = GasRates(5000.0, true).recombination[0].value;
  for (const double x_0 : {1.0, 0.3, 1e-3})
    for (const double times : {1e-3, 0.1, 1.0, 10.0, 1e3}) {
      const double n = 20.0, seconds = times / (alpha * n);
      double errors[2] = {};
      for (const bool is_precise : {false, true}) {
        chemistry.tolerance = is_precise ? 1e-4 : 0.1;
        IonizedGas gas = gas_of(n, 0.0, x_0, 0.0, 0.0, 5000.0);
        EXPECT_TRUE(react(gas, chemistry, seconds).is_solved);
        errors[is_precise] = std::abs(gas.ionized[0] * (1.0 + x_0 * times) / x_0 - 1.0);
      }
      EXPECT_LT(errors[0], 0.15) << "from " << x_0 << " in " << times;
      EXPECT_LT(errors[1], 3e-4) << "from " << x_0 << " in " << times;
    }
}

TEST(Photochemistry, collisional_equilibrium_balances_the_rates) {
  for (const double T : {1.2e4, 2e4, 5e4, 1e5, 1e6}) {
    Photochemistry chemistry;
    chemistry.temperature = T;
    IonizedGas gas = gas_of(1.0, 0.1, 1e-3, 0.5, 0.3, T);
    for (int step = 0; step < 20; ++step) EXPECT_TRUE(react(gas, chemistry, 1e19).is_solved);
    const GasRates rates(T, true);
    const double up[3] = {rates.ionization[0].value / rates.recombination[0].value,
                          rates.ionization[1].value / rates.recombination[1].value,
                          rates.ionization[2].value / rates.recombination[2].value};
    EXPECT_NEAR(gas.ionized[0], up[0] / (1.0 + up[0]), 1e-9);
    const double sum = 1.0 + up[1] * (1.0 + up[2]);
    EXPECT_NEAR(gas.ionized[1], up[1] / sum, 1e-9);
    EXPECT_NEAR(gas.ionized[2], up[1] * up[2] / sum, 1e-9);
  }
}

TEST(Photochemistry, gas_under_a_background_has_the_equilibrium_of_cooling) {
  // Ratios of ions at fixed temperature with the rates of this module, by the bisection of
  // [cooling], and the reduction by self-shielding.
  constexpr cooling::Composition gas{0.76, 0.24 / (4.0 * 0.76)};
  for (const double T : {1e4, 3e4, 1e5})
    for (const double n : {1e-6, 1e-4, 1e-2, 1.0})
      for (const auto shielding : {cooling::Shielding::none, cooling::Shielding::rahmati}) {
        Photochemistry chemistry = three_groups();
        chemistry.temperature = T;
        chemistry.has_background = true;
        chemistry.background = {{8.2e-13, 4.7e-13, 3.6e-15}, {5.2e-24, 5.4e-24, 1.2e-25}};
        chemistry.shielding = shielding;
        chemistry.shielding_density =
            cooling::shielding_density(chemistry.background.ionization[0]);
        IonizedGas cell = gas_of(n, gas.helium_per_hydrogen * n, 0.0, 0.0, 0.0, T);
        Reaction last{};
        for (int step = 0; step < 100; ++step) last = react(cell, chemistry, 1e17);
        EXPECT_TRUE(last.is_solved);
        const GasRates rates(T, true);
        cooling::IonizationRates of_cooling(T);
        cooling::PhotoRates photo = chemistry.background;
        const double share = cooling::shielded_fraction(shielding, n, chemistry.shielding_density);
        for (int s = 0; s < 3; ++s) {
          of_cooling.ionization[s] = rates.ionization[s].value;
          of_cooling.recombination[s] = rates.recombination[s].value;
          photo.ionization[s] *= share;
        }
        const auto expected = cooling::equilibrium(gas, of_cooling, photo, n);
        const double helium = gas.helium_per_hydrogen;
        EXPECT_NEAR((1.0 - cell.ionized[0]) / expected.HI, 1.0, 1e-6) << T << " K, " << n;
        EXPECT_NEAR(cell.ionized[1] * helium / expected.HeII, 1.0, 1e-6) << T << " K, " << n;
        EXPECT_NEAR(cell.ionized[2] * helium / expected.HeIII, 1.0, 1e-6) << T << " K, " << n;
        const double atoms[3] = {expected.HI, expected.HeI, expected.HeII};
        double heat = 0.0;
        for (int s = 0; s < 3; ++s) heat += share * photo.heating[s] * atoms[s] * n * 1e17;
        EXPECT_NEAR(last.heated / heat, 1.0, 1e-6) << T << " K, " << n;
      }
}

TEST(Photochemistry, neutral_gas_under_a_background_does_not_stay_so) {
  Photochemistry chemistry = three_groups();
  chemistry.has_background = true;
  chemistry.background = {{1e-12, 0.0, 0.0}, {4e-24, 0.0, 0.0}};
  IonizedGas cell = gas_of(1e-4, 0.0, 0.0, 0.0, 0.0, 100.0);
  const double before = cell.energy;
  const Reaction reaction = react(cell, chemistry, 1e10);
  EXPECT_TRUE(reaction.is_solved);
  EXPECT_NEAR(cell.ionized[0], 1.0 - std::exp(-1e-2), 1e-4);
  EXPECT_NEAR(reaction.heated, 1e-4 * (1.0 - std::exp(-1e-2)) * 4e-12, 1e-20);
  EXPECT_NEAR(cell.energy, before + reaction.heated - reaction.radiated, 1e-12 * cell.energy);
}

// Largest differences of fractions, and relative ones of temperature and photons.
double difference(const IonizedGas& a, const IonizedGas& b, const IonizedGas& start) {
  double found = std::abs(a.temperature(k_gamma) / b.temperature(k_gamma) - 1.0);
  for (int n = 0; n < 3; ++n) found = std::max(found, std::abs(a.ionized[n] - b.ionized[n]));
  const double all = start.photons[0] + start.photons[1] + start.photons[2];
  for (int g = 0; g < k_photon_groups; ++g)
    found = std::max(found, std::abs(a.photons[g] - b.photons[g]) / (all + 1e-300));
  return found;
}

// A state, and the time for which it is advanced.
struct Case {
  const char* name;
  IonizedGas gas;
  double seconds;
  bool on_the_spot = true, compton = false;
  int steps = 500;  // with errors well above those of the accurate integration
};

std::vector<Case> evolving_cases() {
  const auto lit = [](IonizedGas gas, double a, double b, double c) {
    gas.photons[0] = a, gas.photons[1] = b, gas.photons[2] = c;
    return gas;
  };
  const IonizedGas cold = gas_of(1.0, 0.08, 1e-4, 1e-4, 0.0, 100.0);
  const IonizedGas warm = gas_of(1.0, 0.08, 0.99, 0.9, 0.01, 2e4);
  const IonizedGas thin = gas_of(1e-3, 8e-5, 0.5, 0.3, 0.3, 1e4);
  return {{"cold gas with few photons", lit(cold, 0.1, 0.02, 0.01), 3e9},
          {"cold gas with as many photons", lit(cold, 0.9, 0.2, 0.1), 3e9},
          {"cold gas with many photons", lit(cold, 10.0, 2.0, 1.0), 1e9},
          {"cooling of warm gas", warm, 3e12},
          {"cooling of hot gas", gas_of(1.0, 0.08, 1.0, 0.0, 1.0, 1e6), 2e13, true, false, 20},
          {"collisional ionisation", gas_of(1.0, 0.08, 0.01, 0.01, 0.0, 2e5), 1e10},
          {"warm gas with photons", lit(warm, 1e-3, 1e-3, 1e-3), 1e12},
          {"thin gas in case A", lit(thin, 1e-4, 1e-4, 1e-4), 1e13, false},
          {"dense helium", gas_of(1e5, 1e5, 0.99, 0.9, 0.1, 2e4), 1e8},
          {"Compton cooling", gas_of(1e-5, 8e-7, 1.0, 0.0, 1.0, 1e6), 3e15, true, true, 20}};
}

TEST(Photochemistry, gas_evolves_as_by_an_accurate_integration) {
  for (const Case& of : evolving_cases()) {
    Photochemistry chemistry = three_groups();
    if (!of.on_the_spot) chemistry = with_ground_photons(chemistry);
    chemistry.compton = of.compton;
    chemistry.redshift = 9.0;
    const IonizedGas expected = integrate_accurately(of.gas, chemistry, of.seconds);
    EXPECT_GT(difference(of.gas, expected, of.gas), 0.05) << of.name << " does not evolve";
    for (const double tolerance : {0.1, 1e-2, 1e-3}) {
      chemistry.tolerance = tolerance;
      chemistry.max_attempts = 100000;
      IonizedGas gas = of.gas;
      const Reaction reaction = react(gas, chemistry, of.seconds);
      EXPECT_TRUE(reaction.is_solved);
      EXPECT_LT(difference(gas, expected, of.gas), tolerance)
          << of.name << ", tolerance " << tolerance << ", substeps " << reaction.substeps;
    }
  }
}

TEST(Photochemistry, errors_decrease_with_the_square_of_the_step) {
  for (const Case& of : evolving_cases()) {
    Photochemistry chemistry = three_groups();
    if (!of.on_the_spot) chemistry = with_ground_photons(chemistry);
    chemistry.compton = of.compton;
    chemistry.redshift = 9.0;
    const double seconds = 0.1 * of.seconds;
    const IonizedGas expected = integrate_accurately(of.gas, chemistry, seconds);
    // Each step is one substep.
    const auto error = [&](int steps) {
      chemistry.tolerance = 1e-2;
      IonizedGas gas = of.gas;
      int substeps = 0;
      for (int n = 0; n < steps; ++n) substeps += react(gas, chemistry, seconds / steps).substeps;
      EXPECT_EQ(substeps, steps) << of.name;
      return difference(gas, expected, of.gas);
    };
    const double coarse = error(of.steps), fine = error(2 * of.steps);
    EXPECT_GT(std::log2(coarse / fine), 1.8) << of.name << ": " << coarse << ", " << fine;
  }
}

TEST(Photochemistry, emission_that_is_absorbed_at_once_is_case_B) {
  // An opaque cell in case A absorbs all photons of recombinations to the ground state.
  Photochemistry chemistry = one_group();
  chemistry.temperature = 1e4;
  chemistry.light_speed = 3e10;
  const double n = 1e3, alpha = GasRates(1e4, true).recombination[0].value;
  IonizedGas gas = gas_of(n, 0.0, 0.5, 0.0, 0.0, 1e4);
  chemistry.on_the_spot = false;
  chemistry.ground[0] = 0;
  chemistry.tolerance = 1e-3;
  const double times = 1.0;
  const Reaction reaction = react(gas, chemistry, times / (alpha * n));
  const double collisions = GasRates(1e4, true).ionization[0].value / alpha;
  EXPECT_LT(collisions, 0.01);
  EXPECT_NEAR(gas.ionized[0], 0.5 / (1.0 + 0.5 * times), 3e-3);
  EXPECT_GT(reaction.emitted[0], 0.1 * n);
  EXPECT_NEAR(reaction.absorbed[0], reaction.emitted[0], 1e-6 * n);
}

TEST(Photochemistry, photons_of_recombinations_enter_the_groups_at_their_thresholds) {
  Photochemistry chemistry = with_ground_photons(three_groups());
  chemistry.light_speed = 1e-3;  // so slow that no photon is absorbed
  const double seconds = 1e3;
  const GasRates rates(1e4, false);
  const double ions[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  for (int s = 0; s < 3; ++s) {
    IonizedGas gas = gas_of(1.0, 0.1, ions[s][0], ions[s][1], ions[s][2], 1e4);
    const double recombinations =
        seconds * rates.to_ground[s].value * gas.electrons() * (s == 0 ? 1.0 : 0.1);
    const Reaction reaction = react(gas, chemistry, seconds);
    double all = 0.0, energy = 0.0;
    for (int g = 0; g < 6; ++g) {
      all += reaction.emitted[g];
      energy += reaction.emitted[g] * chemistry.group[g].excess[s];
      if (g % 3 == s) continue;
      EXPECT_NEAR(reaction.emitted[g], 0.0, 1e-6 * recombinations);
    }
    EXPECT_NEAR(all, recombinations, 1e-6 * recombinations);
    // The photons carry the kinetic energy of the electrons, somewhat less than kT each.
    const double expected = rates.ground_loss[s].value / rates.to_ground[s].value;
    EXPECT_NEAR(energy / all, expected, 1e-5 * expected);
    EXPECT_NEAR(expected / (constants::k_boltzmann * 1e4), 0.97, 0.04);
  }
  // Without a group they escape.
  chemistry.ground[0] = -1;
  IonizedGas gas = gas_of(1.0, 0.0, 1.0, 0.0, 0.0, 1e4);
  EXPECT_EQ(react(gas, chemistry, seconds).emitted[0], 0.0);
}

// Temperature and fraction of ions of hydrogen in the dark, by small steps: recombination and
// cooling in case A, or in case B.
IonizedGas recombined(IonizedGas gas, double seconds, bool is_case_a) {
  constexpr int steps = 20000;
  for (int n = 0; n < steps; ++n) {
    const auto change = [&](const IonizedGas& at, double* ions, double* energy) {
      const GasRates A(at.temperature(k_gamma), false), B(at.temperature(k_gamma), true);
      const GasRates& rates = is_case_a ? A : B;
      const double electrons = at.hydrogen * at.ionized[0], atoms = at.hydrogen - electrons;
      *ions = (rates.ionization[0].value * atoms - rates.recombination[0].value * electrons) *
              at.ionized[0];
      double loss = rates.atom_loss[0].value * atoms + rates.ion_loss[0].value * electrons;
      if (is_case_a) loss += A.ground_loss[0].value * electrons;
      *energy = -electrons * loss;
    };
    const double step = seconds / steps;
    double ions, energy;
    change(gas, &ions, &energy);
    IonizedGas middle = gas;
    middle.ionized[0] += 0.5 * step * ions;
    middle.energy += 0.5 * step * energy;
    change(middle, &ions, &energy);
    gas.ionized[0] += step * ions;
    gas.energy += step * energy;
  }
  return gas;
}

TEST(Photochemistry, recombinations_in_the_dark_cool_transparent_gas_as_case_A_and_opaque_as_B) {
  for (const double T : {120.0, 1e4, 3e4})
    for (const bool is_opaque : {false, true}) {
      Photochemistry chemistry = with_ground_photons(three_groups());
      chemistry.light_speed = is_opaque ? 3e10 : 1e-3;
      chemistry.tolerance = 1e-3;
      const IonizedGas start = gas_of(1.0, 0.0, 0.9, 0.0, 0.0, T);
      const double seconds = 0.5 / GasRates(T, true).recombination[0].value;
      const IonizedGas expected = recombined(start, seconds, !is_opaque);
      IonizedGas gas = start;
      double carried = 0.0;
      Reaction all{};
      for (int n = 0; n < 10; ++n) {
        const Reaction reaction = react(gas, chemistry, 0.1 * seconds);
        EXPECT_TRUE(reaction.is_solved);
        for (int g = 0; g < chemistry.groups; ++g) {
          all.emitted[g] += reaction.emitted[g];
          all.absorbed[g] += reaction.absorbed[g];
          carried += (reaction.emitted[g] - reaction.absorbed[g]) * chemistry.group[g].excess[0];
        }
        all.heated += reaction.heated;
      }
      EXPECT_NEAR(gas.temperature(k_gamma) / expected.temperature(k_gamma), 1.0, 2e-3) << T;
      EXPECT_NEAR(gas.ionized[0] / expected.ionized[0], 1.0, 2e-3) << T;
      EXPECT_NEAR(all.absorbed[3], is_opaque ? all.emitted[3] : 0.0, 1e-3 * all.emitted[3]);
      // Absorption returns the energy that emission took.
      EXPECT_NEAR(all.heated, all.absorbed[0] * chemistry.group[0].excess[0], 1e-9 * all.heated);
      EXPECT_NEAR(is_opaque ? carried : 0.0, 0.0, 1e-3 * all.heated);
    }
}

TEST(Photochemistry, gas_without_electrons_and_photons_stays_as_it_is) {
  for (const double T : {10.0, 1e7}) {
    const IonizedGas before = gas_of(1.0, 0.1, 0.0, 0.0, 0.0, T);
    IonizedGas after = before;
    const Reaction reaction = react(after, three_groups(), 1e20);
    EXPECT_TRUE(reaction.is_solved);
    EXPECT_EQ(reaction.substeps, 0);
    EXPECT_EQ(after.energy, before.energy);
  }
}

TEST(Photochemistry, traces_of_atoms_are_no_obstacle) {
  // Hot gas in which collisions ionise hydrogen exponentially from nothing, and a strong source has
  // left no more than rounding errors of HeI.
  for (const double photons : {1e5, 1e7, 1e9, 1e11})
    for (const double T : {2e6, 2e7, 4e8}) {
      Photochemistry chemistry = three_groups();
      IonizedGas gas = gas_of(1.5, 0.065, 0.0, 5.8e-18, 1.0, T);
      gas.photons[1] = 5.4e6;
      gas.photons[2] = photons;
      const Reaction reaction = react(gas, chemistry, 1e13);
      EXPECT_TRUE(reaction.is_solved) << photons << " photons, T = " << T;
      EXPECT_LT(reaction.substeps, 200);
    }
}

TEST(Photochemistry, last_photons_are_absorbed) {
  IonizedGas gas = gas_of(1.0, 0.1, 0.5, 0.5, 0.1, 1e4);
  gas.photons[0] = 1e-210;
  gas.photons[1] = 1.0;
  const Reaction reaction = react(gas, three_groups(), 1e13);
  EXPECT_EQ(gas.photons[0], 0.0);
  EXPECT_EQ(reaction.absorbed[0], 1e-210);
  EXPECT_EQ(reaction.kept[0], 0.0);
  // The optical depth of 1e4 leaves none of the others.
  EXPECT_EQ(gas.photons[1], 0.0);
  EXPECT_DOUBLE_EQ(reaction.absorbed[1], 1.0);
}

TEST(Photochemistry, impossible_states_are_reported_and_kept) {
  const IonizedGas good = gas_of(1.0, 0.1, 0.5, 0.5, 0.1, 1e4);
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {static_cast<double>(NAN), infinite, -1.0}) {
    for (int n = 0; n < 6; ++n) {
      IonizedGas gas = good;
      double* const places[] = {&gas.hydrogen,   &gas.helium,     &gas.energy,
                                &gas.ionized[0], &gas.ionized[2], &gas.photons[1]};
      *places[n] = bad;
      const Reaction reaction = react(gas, three_groups(), 1e10);
      EXPECT_FALSE(reaction.is_solved) << "value " << n << " = " << bad;
      EXPECT_EQ(reaction.heated, 0.0);
      EXPECT_EQ(gas.ionized[1], good.ionized[1]);
    }
    IonizedGas gas = good;
    EXPECT_FALSE(react(gas, three_groups(), bad).is_solved);
  }
}

TEST(Photochemistry, one_cell_is_heated_and_cools_as_in_iliev) {
  // Test 0, part 3 of Iliev et al. (2006, MNRAS 371, 1057): hydrogen of 1 cm^-3 and 100 K under
  // 10^12 photons of a black body of 1e5 K per second and cm^2 for 0.5 Myr, then in the dark for
  // 5 Myr; here with one group, and its mean excess energy.
  Photochemistry chemistry = one_group();
  chemistry.group[0].cross_section[0] = 1.63e-18;
  chemistry.group[0].excess[0] = 16.0 * constants::k_electron_volt;
  chemistry.light_speed = constants::k_speed_of_light;
  const double mega_year = 1e6 * constants::k_year;
  const auto run = [&](int steps, double tolerance, double* neutral, double* hot) {
    chemistry.tolerance = tolerance;
    IonizedGas gas = gas_of(1.0, 0.0, 0.0, 0.0, 0.0, 100.0);
    for (int n = 0; n < steps; ++n) {
      gas.photons[0] = 1e12 / chemistry.light_speed;
      EXPECT_TRUE(react(gas, chemistry, 0.5 * mega_year / steps).is_solved);
    }
    *neutral = 1.0 - gas.ionized[0];
    *hot = gas.temperature(k_gamma);
    gas.photons[0] = 0.0;
    for (int n = 0; n < steps; ++n)
      EXPECT_TRUE(react(gas, chemistry, 5.0 * mega_year / steps).is_solved);
    return gas;
  };
  double neutral, hot, expected_neutral, expected_hot;
  const IonizedGas expected = run(1000, 1e-3, &expected_neutral, &expected_hot);
  // Equilibrium of photoionisation and recombination, in gas that photons have heated.
  EXPECT_GT(expected_hot, 2e4);
  EXPECT_LT(expected_hot, 1e5);
  const double alpha = GasRates(expected_hot, true).recombination[0].value;
  EXPECT_NEAR(expected_neutral * 1.63e-18 * 1e12 / alpha, 1.0, 0.01);
  // The gas cools faster than it recombines.
  EXPECT_NEAR(expected.ionized[0], 0.018, 0.003);
  EXPECT_NEAR(expected.temperature(k_gamma), 6800.0, 300.0);
  for (const int steps : {10, 100}) {
    const IonizedGas found = run(steps, 0.1, &neutral, &hot);
    EXPECT_NEAR(neutral / expected_neutral, 1.0, 0.05) << steps << " steps";
    EXPECT_NEAR(hot / expected_hot, 1.0, 0.05) << steps << " steps";
    EXPECT_NEAR(found.ionized[0] / expected.ionized[0], 1.0, 0.1) << steps << " steps";
    EXPECT_NEAR(found.temperature(k_gamma) / expected.temperature(k_gamma), 1.0, 0.02);
  }
}

}  // namespace
}  // namespace octant::subgrid::ionization
