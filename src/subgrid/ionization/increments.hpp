// Changes of ions, thermal energy and photons in a time in which a given state of the gas lasts,
// with their derivatives. Photons are absorbed exponentially: with kappa = c' sum of sigma n,
//   dN/dt = -kappa N + emission.
#pragma once

#include "subgrid/cooling/ionization.hpp"
#include "subgrid/ionization/ionization_rates.hpp"

namespace octant::subgrid::ionization {

// Numbers of the unknowns: HII, HeII and HeIII per cm^3, and thermal energy in erg/cm^3.
inline constexpr int k_unknowns = 4, k_energy = 3;
// Numbers of further changes: heat by photons, and photons absorbed and emitted by group.
inline constexpr int k_heated = 4, k_absorbed = 5, k_emitted = k_absorbed + k_groups;
inline constexpr int k_changes = k_emitted + k_groups;

// Averages of e^-s over absorption: phi = (1 - e^-a) / a, psi = (1 - phi) / a, and derivatives.
struct Attenuation {
  double phi, psi, phi_slope, psi_slope;

  // Attenuation by the optical depth a, with exponential = e^-a.
  KOKKOS_FORCEINLINE_FUNCTION Attenuation(double a, double exponential) {
    if (a > 0.02) {
      const double inverse = 1.0 / a;
      phi = (1.0 - exponential) * inverse;
      psi = (1.0 - phi) * inverse;
      phi_slope = (exponential - phi) * inverse;
      psi_slope = -(phi_slope + psi) * inverse;
    } else {
      // Taylor series: the coefficients of psi are (-a)^n / (n + 2)!.
      double factor = 0.5;
      phi = 1.0, psi = 0.0, phi_slope = 0.0, psi_slope = 0.0;
      double power = 1.0;
      for (int n = 0; n < 6; ++n) {
        const double next = factor / (n + 3);
        psi += power * factor;
        phi_slope -= (n + 1) * power * factor;
        psi_slope -= (n + 1) * power * next;
        factor = next;
        power *= -a;
      }
      phi = 1.0 - a * psi;
    }
  }
};

// Nuclei and photons per cm^3 at the beginning of a substep.
struct Contents {
  double hydrogen, helium;
  double photons[k_groups];
};

// Unknowns with what follows from them.
struct GasState {
  double y[k_unknowns];  // HII, HeII and HeIII per cm^3, thermal energy in erg/cm^3
  double atoms[3];       // HI, HeI and HeII per cm^3
  double electrons, particles, temperature;

  KOKKOS_INLINE_FUNCTION GasState(const Photochemistry& chemistry, const Contents& cell,
                                  const double (&unknowns)[k_unknowns]) {
    for (int n = 0; n < k_unknowns; ++n) y[n] = unknowns[n];
    atoms[0] = cell.hydrogen - y[0];
    atoms[1] = max(cell.helium - (y[1] + y[2]), 0.0);
    atoms[2] = y[1];
    electrons = y[0] + (y[1] + 2.0 * y[2]);
    particles = cell.hydrogen + cell.helium + electrons;
    temperature = chemistry.temperature > 0.0 ? chemistry.temperature
                                              : (chemistry.gamma - 1.0) * y[k_energy] /
                                                    (constants::k_boltzmann * particles);
  }
};

// Charges that an ion adds to the electrons.
inline constexpr double k_charge[3] = {1.0, 1.0, 2.0};

// Changes during `time`, and their derivatives by the unknowns. Slopes by the energy are those by
// ln T until finish() converts them.
class Increments {
 public:
  double value[k_changes];
  double slope[k_changes][k_unknowns];

  KOKKOS_INLINE_FUNCTION Increments(const Photochemistry& chemistry, const Contents& cell,
                                    const GasRates& rates, const GasState& gas, double time) {
    for (int r = 0; r < k_changes; ++r) {
      value[r] = 0.0;
      for (int n = 0; n < k_unknowns; ++n) slope[r][n] = 0.0;
    }
    for (int s = 0; s < 3; ++s) react_with_electrons(s, rates, gas, time);
    if (!chemistry.on_the_spot) emit(chemistry, rates, gas, time);
    absorb(chemistry, cell, gas, time);
    if (chemistry.temperature > 0.0) {
      for (int r = 0; r < k_changes; ++r) slope[r][k_energy] = 0.0;
      return;
    }
    lose_heat(chemistry, rates, gas, time);
    for (int n = 0; n < k_unknowns; ++n) slope[k_energy][n] += slope[k_heated][n];
    value[k_energy] += value[k_heated];
    convert_slopes(gas);
  }

  // Number of changes that are used.
  KOKKOS_FORCEINLINE_FUNCTION static int count(const Photochemistry& chemistry) {
    return chemistry.on_the_spot ? k_absorbed + chemistry.groups : k_emitted + chemistry.groups;
  }

 private:
  // Adds `amount` ionisations of species s, with derivatives.
  KOKKOS_FORCEINLINE_FUNCTION void ionize(int s, double amount, const double (&by)[k_unknowns]) {
    value[s] += amount;
    for (int n = 0; n < k_unknowns; ++n) slope[s][n] += by[n];
    if (s < 2) return;
    value[1] -= amount;
    for (int n = 0; n < k_unknowns; ++n) slope[1][n] -= by[n];
  }

  // Adds `factor` times the derivatives of the density of atom s by the ions.
  KOKKOS_FORCEINLINE_FUNCTION static void add_atom_slope(int s, double factor,
                                                         double (&by)[k_unknowns]) {
    if (s == 0) by[0] -= factor;
    if (s == 1) by[1] -= factor, by[2] -= factor;
    if (s == 2) by[1] += factor;
  }

  // Collisional ionisation less recombination.
  KOKKOS_FORCEINLINE_FUNCTION void react_with_electrons(int s, const GasRates& rates,
                                                        const GasState& gas, double time) {
    const Rate up = time * rates.ionization[s], down = time * rates.recombination[s];
    const double per_electron = up.value * gas.atoms[s] - down.value * gas.y[s];
    double by[k_unknowns];
    for (int n = 0; n < 3; ++n) by[n] = k_charge[n] * per_electron;
    by[k_energy] = gas.electrons * (up.slope * gas.atoms[s] - down.slope * gas.y[s]);
    by[s] -= gas.electrons * down.value;
    add_atom_slope(s, gas.electrons * up.value, by);
    ionize(s, gas.electrons * per_electron, by);
  }

  // Emission of photons by recombination to ground states.
  KOKKOS_FORCEINLINE_FUNCTION void emit(const Photochemistry& chemistry, const GasRates& rates,
                                        const GasState& gas, double time) {
    for (int s = 0; s < 3; ++s) {
      const double threshold = k_threshold_eV[s] * constants::k_electron_volt;
      int g = chemistry.groups - 1;
      while (g >= 0 && chemistry.group[g].lowest > threshold * (1.0 + 1e-6)) --g;
      if (g < 0) continue;
      const Rate rate = time * rates.to_ground[s];
      const int r = k_emitted + g;
      value[r] += rate.value * gas.electrons * gas.y[s];
      for (int n = 0; n < 3; ++n) slope[r][n] += k_charge[n] * rate.value * gas.y[s];
      slope[r][s] += rate.value * gas.electrons;
      slope[r][k_energy] += rate.slope * gas.electrons * gas.y[s];
    }
  }

  // Absorption of photons, ionisation and heating by them.
  KOKKOS_FORCEINLINE_FUNCTION void absorb(const Photochemistry& chemistry, const Contents& cell,
                                          const GasState& gas, double time) {
    double depth[4] = {0.0, 0.0, 0.0, 0.0}, passing[4];
    const double length = chemistry.light_speed * time;
    for (int g = 0; g < chemistry.groups; ++g) {
      const double* sigma = chemistry.group[g].cross_section;
      depth[g] =
          length * (sigma[0] * gas.atoms[0] + sigma[1] * gas.atoms[1] + sigma[2] * gas.atoms[2]);
    }
    for (int g = 0; g < 4; ++g) passing[g] = -depth[g];
    transform(passing, [](const auto& x) OCTANT_INLINE_LAMBDA { return exponential(x); });
    for (int g = 0; g < chemistry.groups; ++g) {
      const double photons = cell.photons[g], emitted = value[k_emitted + g];
      if (!(photons > 0.0) && !(emitted > 0.0)) continue;
      const Attenuation of(depth[g], passing[g]);
      const double mean = photons * of.phi + emitted * of.psi;
      const double mean_slope = photons * of.phi_slope + emitted * of.psi_slope;
      // Derivatives of the mean number of photons.
      double mean_by[k_unknowns];
      for (int n = 0; n < k_unknowns; ++n) mean_by[n] = of.psi * slope[k_emitted + g][n];
      for (int s = 0; s < 3; ++s)
        add_atom_slope(s, mean_slope * length * chemistry.group[g].cross_section[s], mean_by);
      for (int s = 0; s < 3; ++s) {
        const double q = length * chemistry.group[g].cross_section[s];
        if (q > 0.0) photoionize(g, s, q, mean, mean_by, chemistry.group[g].excess[s], gas);
      }
    }
  }

  // Ionisations of species s by group g.
  KOKKOS_FORCEINLINE_FUNCTION void photoionize(int g, int s, double q, double mean,
                                               const double (&mean_by)[k_unknowns], double excess,
                                               const GasState& gas) {
    const double amount = q * gas.atoms[s] * mean;
    double by[k_unknowns];
    for (int n = 0; n < k_unknowns; ++n) by[n] = q * gas.atoms[s] * mean_by[n];
    add_atom_slope(s, q * mean, by);
    ionize(s, amount, by);
    value[k_absorbed + g] += amount;
    value[k_heated] += excess * amount;
    for (int n = 0; n < k_unknowns; ++n) {
      slope[k_absorbed + g][n] += by[n];
      slope[k_heated][n] += excess * by[n];
    }
  }

  // Losses of thermal energy.
  KOKKOS_FORCEINLINE_FUNCTION void lose_heat(const Photochemistry& chemistry, const GasRates& rates,
                                             const GasState& gas, double time) {
    Rate per_electron{0.0, 0.0};
    double by[k_unknowns] = {0.0, 0.0, 0.0, 0.0};
    for (int s = 0; s < 3; ++s) {
      per_electron =
          per_electron + gas.atoms[s] * rates.atom_loss[s] + gas.y[s] * rates.ion_loss[s];
      by[s] += gas.electrons * rates.ion_loss[s].value;
      add_atom_slope(s, gas.electrons * rates.atom_loss[s].value, by);
    }
    // The population of the metastable level saturates at about 3110 electrons per cm^3 (Kingdon &
    // Ferland 1995, ApJ 442, 714).
    constexpr double critical = 3110.0;
    const double cut = 1.0 / (1.0 + gas.electrons * (1.0 / critical));
    const double pairs = gas.electrons * cut, pair_slope = cut * cut * gas.y[1];
    per_electron = per_electron + (pairs * gas.y[1]) * rates.metastable_loss;
    by[1] += gas.electrons * pairs * rates.metastable_loss.value;
    const double by_electrons =
        per_electron.value + gas.electrons * pair_slope * rates.metastable_loss.value;
    if (chemistry.compton) {
      const double none = cooling::compton_per_electron(0.0, chemistry.redshift);
      const double all = cooling::compton_per_electron(gas.temperature, chemistry.redshift);
      add_compton(all, all - none, gas, time);
    }
    value[k_energy] -= time * gas.electrons * per_electron.value;
    for (int n = 0; n < 3; ++n) slope[k_energy][n] -= time * (by[n] + k_charge[n] * by_electrons);
    slope[k_energy][k_energy] -= time * gas.electrons * per_electron.slope;
  }

  // Compton cooling: its rate per electron, and derivative by ln T.
  KOKKOS_FORCEINLINE_FUNCTION void add_compton(double rate, double by_log_T, const GasState& gas,
                                               double time) {
    value[k_energy] -= time * gas.electrons * rate;
    for (int n = 0; n < 3; ++n) slope[k_energy][n] -= time * k_charge[n] * rate;
    slope[k_energy][k_energy] -= time * gas.electrons * by_log_T;
  }

  // Converts derivatives by ln T into those by energy, at which ions change T as well.
  KOKKOS_FORCEINLINE_FUNCTION void convert_slopes(const GasState& gas) {
    const double by_energy = 1.0 / gas.y[k_energy], by_particles = 1.0 / gas.particles;
    for (int r = 0; r < k_changes; ++r) {
      const double by_log_T = slope[r][k_energy];
      for (int n = 0; n < 3; ++n) slope[r][n] -= by_log_T * k_charge[n] * by_particles;
      slope[r][k_energy] = by_log_T * by_energy;
    }
  }
};

}  // namespace octant::subgrid::ionization
