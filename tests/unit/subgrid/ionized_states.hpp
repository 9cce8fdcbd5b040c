// States of gas and photons, and an independent integration of their equations, for tests of
// react().
#pragma once

#include <cmath>
#include <random>

#include "subgrid/ionization/photochemistry.hpp"

namespace octant::subgrid::ionization {

// Groups of a black body of 1e5 K (Rosdahl et al. 2013), and a speed of light of 3000 km/s.
inline Photochemistry three_groups() {
  constexpr double eV = constants::k_electron_volt;
  constexpr double sections[3][3] = {
      {3.0e-18, 0.0, 0.0}, {5.7e-19, 4.5e-18, 0.0}, {7.9e-20, 1.2e-18, 1.1e-18}};
  constexpr double excess[3][3] = {{3.84, 0.0, 0.0}, {17.5, 7.77, 0.0}, {48.5, 38.1, 7.88}};
  constexpr double energies[3] = {18.85, 35.079, 65.666};
  Photochemistry chemistry;
  chemistry.groups = 3;
  for (int g = 0; g < 3; ++g) {
    for (int s = 0; s < 3; ++s) {
      chemistry.group[g].cross_section[s] = sections[g][s];
      chemistry.group[g].excess[s] = excess[g][s] * eV;
    }
    chemistry.group[g].energy = energies[g] * eV;
  }
  chemistry.light_speed = 3e8;
  return chemistry;
}

// Adds groups of recombinations to ground states, of case A, to three_groups().
inline Photochemistry with_ground_photons(Photochemistry chemistry) {
  constexpr double sections[3][3] = {
      {6.3e-18, 0.0, 0.0}, {1.24e-18, 7.4e-18, 0.0}, {1.2e-19, 1.8e-18, 1.6e-18}};
  chemistry.on_the_spot = false;
  chemistry.groups = 6;
  for (int g = 0; g < 3; ++g) {
    PhotoGroup& group = chemistry.group[3 + g];
    group.energy = ionization_energy(g) * constants::k_electron_volt;
    for (int s = 0; s <= g; ++s) {
      group.cross_section[s] = sections[g][s];
      group.excess[s] = group.energy - ionization_energy(s) * constants::k_electron_volt;
    }
    chemistry.ground[g] = 3 + g;
    chemistry.warm[g] = g;
  }
  return chemistry;
}

// One group for hydrogen, with 1 eV of heat per ionisation.
inline Photochemistry one_group() {
  Photochemistry chemistry;
  chemistry.groups = 1;
  chemistry.group[0].cross_section[0] = 6.3e-18;
  chemistry.group[0].excess[0] = 1.0 * constants::k_electron_volt;
  chemistry.group[0].energy = 14.6 * constants::k_electron_volt;
  chemistry.light_speed = 3e8;
  return chemistry;
}

// Gas with these fractions of HII, HeII and HeIII, without photons.
inline IonizedGas gas_of(double hydrogen, double helium, double ionized_hydrogen,
                         double singly_ionized, double doubly_ionized, double T) {
  IonizedGas gas{hydrogen, helium, {ionized_hydrogen, singly_ionized, doubly_ionized}, 0.0, {}};
  gas.set_temperature(T, 5.0 / 3.0);
  return gas;
}

// Random numbers between limits, uniform in their logarithm.
class LogUniform {
 public:
  explicit LogUniform(unsigned seed) : engine_(seed) {}
  double operator()(double low, double high) {
    return low * std::exp(fraction() * std::log(high / low));
  }
  double fraction() { return std::uniform_real_distribution<>(0.0, 1.0)(engine_); }

 private:
  std::mt19937_64 engine_;
};

// Equations of a cell: HII, HeII, HeIII and photons per cm^3, and thermal energy.
class CellEquations {
 public:
  static constexpr int count = 4 + k_photon_groups;
  struct State {
    double y[count];
  };

  CellEquations(const Photochemistry& chemistry, const IonizedGas& gas)
      : chemistry_(chemistry), hydrogen_(gas.hydrogen), helium_(gas.helium) {}

  State derivative(const State& state) const {
    const double* y = state.y;
    const double atoms[3] = {hydrogen_ - y[0], helium_ - y[1] - y[2], y[1]};
    const double ions[3] = {y[0], y[1], y[2]};
    const double n_e = y[0] + y[1] + 2.0 * y[2];
    const double k = constants::k_boltzmann;
    const double T = chemistry_.temperature > 0.0
                         ? chemistry_.temperature
                         : 2.0 / 3.0 * y[3] / (k * (hydrogen_ + helium_ + n_e));
    const GasRates rates(T, chemistry_.on_the_spot);
    double up[3], loss = 0.0, heat = 0.0;
    State change{};
    for (int s = 0; s < 3; ++s) {
      up[s] = n_e * (rates.ionization[s].value * atoms[s] - rates.recombination[s].value * ions[s]);
      loss += n_e * (rates.atom_loss[s].value * atoms[s] + rates.ion_loss[s].value * ions[s]);
      for (int g = 0; g < chemistry_.groups; ++g) {
        const double absorbed =
            chemistry_.light_speed * chemistry_.group[g].cross_section[s] * atoms[s] * y[4 + g];
        up[s] += absorbed;
        heat += absorbed * chemistry_.group[g].excess[s];
        change.y[4 + g] -= absorbed;
      }
      if (!chemistry_.on_the_spot) loss += emit(s, rates, n_e * ions[s], change);
    }
    loss += n_e * n_e / (1.0 + n_e / 3110.0) * y[1] * rates.metastable_loss.value;
    if (chemistry_.compton) {
      const double background = 2.73 * (1.0 + chemistry_.redshift);
      loss += n_e * 5.65e-36 * std::pow(1.0 + chemistry_.redshift, 4) * (T - background);
    }
    change.y[0] = up[0];
    change.y[1] = up[1] - up[2];
    change.y[2] = up[2];
    change.y[3] = chemistry_.temperature > 0.0 ? 0.0 : heat - loss;
    return change;
  }

 private:
  // Adds the photons of recombinations to a ground state, and returns the energy above the
  // ionisation energy that they carry.
  double emit(int s, const GasRates& rates, double pairs, State& change) const {
    const double all = rates.to_ground[s].value * pairs,
                 energy = rates.ground_loss[s].value * pairs;
    if (chemistry_.ground[s] < 0) return energy;
    double warm = 0.0, carried = 0.0;
    if (chemistry_.warm[s] >= 0) {
      const double excess = chemistry_.group[chemistry_.warm[s]].excess[s];
      warm = std::min(energy / excess, all);
      carried = excess * warm;
      change.y[4 + chemistry_.warm[s]] += warm;
    }
    change.y[4 + chemistry_.ground[s]] += all - warm;
    return carried;
  }

  Photochemistry chemistry_;
  double hydrogen_, helium_;
};

// Advances a cell by the method of Dormand & Prince (1980), with substeps of relative error 1e-9.
inline IonizedGas integrate_accurately(const IonizedGas& gas, const Photochemistry& chemistry,
                                       double seconds) {
  constexpr int count = CellEquations::count, stages = 7;
  constexpr double a[stages][6] = {
      {},
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
      {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
  constexpr double error[stages] = {71.0 / 57600,      0.0,        -71.0 / 16695, 71.0 / 1920,
                                    -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
  const CellEquations equations(chemistry, gas);
  CellEquations::State now{{gas.hydrogen * gas.ionized[0], gas.helium * gas.ionized[1],
                            gas.helium * gas.ionized[2], gas.energy}};
  double scale[count] = {gas.hydrogen, gas.helium, gas.helium, 0.0}, photons = 0.0;
  for (int g = 0; g < k_photon_groups; ++g) photons += now.y[4 + g] = gas.photons[g];
  for (int g = 0; g < k_photon_groups; ++g) scale[4 + g] = photons;
  double step = 1e-6 * seconds;
  for (double done = 0.0; done < seconds;) {
    step = std::min(step, seconds - done);
    CellEquations::State k[stages], next{};
    for (int s = 0; s < stages; ++s) {
      next = now;
      for (int r = 0; r < s; ++r)
        for (int n = 0; n < count; ++n) next.y[n] += step * a[s][r] * k[r].y[n];
      k[s] = equations.derivative(next);
    }
    double worst = 1e-6;
    for (int n = 0; n < count; ++n) {
      double wrong = 0.0;
      for (int s = 0; s < stages; ++s) wrong += step * error[s] * k[s].y[n];
      const double allowed = 1e-9 * (std::abs(now.y[n]) + 1e-2 * scale[n]) + 1e-300;
      worst = std::max(worst, std::abs(wrong) / allowed);
    }
    if (worst <= 1.0) {
      now = next;
      done = step == seconds - done ? seconds : done + step;
    }
    step *= std::min(5.0, 0.9 * std::pow(worst, -0.2));
  }
  IonizedGas end = gas;
  end.ionized[0] = now.y[0] / gas.hydrogen;
  for (int n = 1; n < 3; ++n) end.ionized[n] = gas.helium > 0.0 ? now.y[n] / gas.helium : 0.0;
  end.energy = now.y[3];
  for (int g = 0; g < k_photon_groups; ++g) end.photons[g] = now.y[4 + g];
  return end;
}

}  // namespace octant::subgrid::ionization
