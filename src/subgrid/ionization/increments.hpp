// Changes of ions, thermal energy and photons in a time in which a given state of the gas lasts,
// with their derivatives. Photons are absorbed exponentially: with kappa = c' sum of sigma n,
//   dN/dt = -kappa N + emission.
#pragma once

#include "subgrid/ionization/ionization_rates.hpp"
#include "subgrid/ionization/metal_cooling.hpp"

namespace octant::subgrid::ionization {

// Numbers of the unknowns: HII, HeII and HeIII per cm^3, and thermal energy in erg/cm^3.
inline constexpr int k_unknowns = 4, k_energy = 3;
// Numbers of further changes: heat by photons, and photons absorbed and emitted by group.
inline constexpr int k_heated = 4, k_absorbed = 5, k_emitted = k_absorbed + k_photon_groups;
inline constexpr int k_changes = k_emitted + k_photon_groups;

// Photons per cm^3 that are as good as none. Products with them would be denormal, and slow.
inline constexpr double k_no_photons = 1e-200;

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
      // Taylor series in -a.
      constexpr double factorials[] = {1.0 / 2,   1.0 / 6,   1.0 / 24,
                                       1.0 / 120, 1.0 / 720, 1.0 / 5040};
      constexpr double slopes[] = {-1.0 / 6,   -1.0 / 12,   -1.0 / 40,
                                   -1.0 / 180, -1.0 / 1008, -1.0 / 6720};
      psi = powers::polynomial(factorials, -a);
      psi_slope = powers::polynomial(slopes, -a);
      phi = 1.0 - a * psi;
      phi_slope = -(psi + a * psi_slope);
    }
  }
};

// Nuclei and photons per cm^3 at the beginning of a substep.
struct Contents {
  double hydrogen, helium;
  double photons[k_photon_groups];
  double background;  // share of the ultraviolet background that reaches the cell
  CellMetals metals{};
};

// Unknowns and the neutral atoms. HI and HeI are not computed as differences from the nuclei,
// which would have few digits in ionised gas.
struct Densities {
  double y[k_unknowns];  // HII, HeII and HeIII per cm^3, thermal energy in erg/cm^3
  double HI, HeI;

  // Adds d to the unknowns, and moves densities into their limits. Returns true if they were there,
  // except for rounding errors.
  KOKKOS_FORCEINLINE_FUNCTION bool add(const double (&d)[k_unknowns], const Contents& cell) {
    for (int n = 0; n < k_unknowns; ++n) y[n] += d[n];
    HI -= d[0];
    HeI -= d[1] + d[2];
    // HeI is the only density that both helium ions change, which adds their rounding errors.
    constexpr double rounding = -1e-12;
    const double hydrogen = rounding * absolute(d[0]);
    const double helium = rounding * (absolute(d[1]) + absolute(d[2]));
    const bool is_inside = y[0] >= hydrogen && HI >= hydrogen && y[1] >= helium && y[2] >= helium &&
                           HeI >= helium - 1e-15 * cell.helium;
    limit(cell);
    return is_inside;
  }
  // Moves densities into their limits.
  KOKKOS_FORCEINLINE_FUNCTION void limit(const Contents& cell) {
    if (y[0] < 0.0) HI = cell.hydrogen;
    if (HI < 0.0) y[0] = cell.hydrogen;
    if (y[1] < 0.0 || y[2] < 0.0)
      HeI = min(cell.helium - max(y[1], 0.0) - max(y[2], 0.0), cell.helium);
    for (int n = 0; n < 3; ++n) y[n] = max(y[n], 0.0);
    HI = max(HI, 0.0);
    if (HeI < 0.0) {
      const double factor = cell.helium / (y[1] + y[2]);
      y[1] *= factor;
      y[2] *= factor;
      HeI = 0.0;
    }
  }
};

// State with what follows from it.
struct GasState {
  double y[k_unknowns];
  double absorbers[3];  // species that can be ionised: HI, HeI and HeII per cm^3
  double electrons, particles, temperature;

  KOKKOS_INLINE_FUNCTION GasState(const Photochemistry& chemistry, const Contents& cell,
                                  const Densities& of)
      : absorbers{of.HI, of.HeI, of.y[1]} {
    for (int n = 0; n < k_unknowns; ++n) y[n] = of.y[n];
    electrons = y[0] + (y[1] + 2.0 * y[2]);
    particles = cell.hydrogen + cell.helium + electrons;
    temperature = chemistry.temperature > 0.0 ? chemistry.temperature
                                              : (chemistry.gamma - 1.0) * y[k_energy] /
                                                    (constants::k_boltzmann * particles);
  }
};

// Electrons that HII (0), HeII (1) or HeIII (2) has lost.
KOKKOS_FORCEINLINE_FUNCTION constexpr double charge(int ion) { return ion == 2 ? 2.0 : 1.0; }

// Changes during `time`, and their derivatives by the unknowns.
class Increments {
 public:
  double value[k_changes];
  double slope[k_changes][k_unknowns];

  KOKKOS_INLINE_FUNCTION Increments(const Photochemistry& chemistry, const Contents& cell,
                                    const GasRates& rates, const GasState& gas, double time) {
    // Changes of absorbers into the next higher ion, with derivatives by ions and ln T.
    double flow[3], by[3][k_unknowns];
    react_with_electrons(rates, gas, time, flow, by);
    for (int r = k_heated; r < k_changes; ++r) {
      value[r] = 0.0;
      for (int n = 0; n < k_unknowns; ++n) slope[r][n] = 0.0;
    }
    if (!chemistry.on_the_spot) emit(chemistry, rates, gas, time);
    absorb(chemistry, cell, gas, time, flow, by);
    value[0] = flow[0];
    value[1] = flow[1] - flow[2];
    value[2] = flow[2];
    for (int n = 0; n < k_unknowns; ++n) {
      slope[0][n] = by[0][n];
      slope[1][n] = by[1][n] - by[2][n];
      slope[2][n] = by[2][n];
    }
    if (chemistry.temperature > 0.0) {
      value[k_energy] = 0.0;
      for (int n = 0; n < k_unknowns; ++n) slope[k_energy][n] = 0.0;
      for (int r = 0; r < k_changes; ++r) slope[r][k_energy] = 0.0;
      return;
    }
    lose_heat(chemistry, rates, gas, time);
    if (cell.metals.amount > 0.0) lose_heat_by_metals(chemistry, cell, gas, time);
    convert_slopes(gas);
    if (!chemistry.on_the_spot) convert_emission(gas);
  }

 private:
  // Kinetic energy of electrons that photons of recombinations to ground states carry, in
  // erg cm^3 s^-1.
  Rate carried_[3] = {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};

  // Adds derivatives by the absorbers, which are functions of the ions (HI and HeI decrease if
  // their ions increase; HeII is an ion itself), to the derivatives by the ions.
  KOKKOS_FORCEINLINE_FUNCTION static void add_absorber_derivatives(const double (&d_absorber)[3],
                                                                   double (&by)[k_unknowns]) {
    by[0] -= d_absorber[0];
    by[1] += d_absorber[2] - d_absorber[1];
    by[2] -= d_absorber[1];
  }

  // Collisional ionisation less recombination.
  KOKKOS_FORCEINLINE_FUNCTION static void react_with_electrons(const GasRates& rates,
                                                               const GasState& gas, double time,
                                                               double (&flow)[3],
                                                               double (&by)[3][k_unknowns]) {
    const double charge_time = time * gas.electrons;
    for (int s = 0; s < 3; ++s) {
      const Rate up = rates.ionization[s], down = rates.recombination[s];
      const double per_electron = time * (up.value * gas.absorbers[s] - down.value * gas.y[s]);
      flow[s] = gas.electrons * per_electron;
      for (int n = 0; n < 3; ++n) by[s][n] = charge(n) * per_electron;
      by[s][k_energy] = charge_time * (up.slope * gas.absorbers[s] - down.slope * gas.y[s]);
      by[s][s] -= charge_time * down.value;
      double d_absorber[3] = {0.0, 0.0, 0.0};
      d_absorber[s] = charge_time * up.value;
      add_absorber_derivatives(d_absorber, by[s]);
    }
  }

  // Emission of photons by recombinations to ground states. The numbers of photons with the
  // ionisation energy and with more are such that the sum of their energies is that of the
  // recombinations.
  KOKKOS_FORCEINLINE_FUNCTION void emit(const Photochemistry& chemistry, const GasRates& rates,
                                        const GasState& gas, double time) {
    for (int s = 0; s < 3; ++s) {
      const int ground = chemistry.ground[s], warm = chemistry.warm[s];
      if (ground < 0) {
        carried_[s] = rates.ground_loss[s];
        continue;
      }
      Rate cold = rates.to_ground[s];
      if (warm >= 0) {
        const double excess = chemistry.group[warm].excess[s];
        Rate hot = (1.0 / excess) * rates.ground_loss[s];
        if (hot.value > cold.value) hot = cold;
        cold = cold - hot;
        carried_[s] = excess * hot;
        emit_into(warm, s, time * hot, gas);
      }
      emit_into(ground, s, time * cold, gas);
    }
  }
  // Adds photons of recombinations to a ground state with this rate, times the time, to group g.
  KOKKOS_FORCEINLINE_FUNCTION void emit_into(int g, int s, const Rate& rate, const GasState& gas) {
    const int r = k_emitted + g;
    value[r] += rate.value * gas.electrons * gas.y[s];
    for (int n = 0; n < 3; ++n) slope[r][n] += charge(n) * rate.value * gas.y[s];
    slope[r][s] += rate.value * gas.electrons;
    slope[r][k_energy] += rate.slope * gas.electrons * gas.y[s];
  }

  // Absorption of photons, ionisation and heating by them.
  KOKKOS_FORCEINLINE_FUNCTION void absorb(const Photochemistry& chemistry, const Contents& cell,
                                          const GasState& gas, double time, double (&flow)[3],
                                          double (&by)[3][k_unknowns]) {
    static_assert(k_photon_groups <= 8);
    double passing[8] = {};
    const double length = chemistry.light_speed * time;
    for (int g = 0; g < chemistry.groups; ++g) {
      const double* sigma = chemistry.group[g].cross_section;
      passing[g] = -length * (sigma[0] * gas.absorbers[0] + sigma[1] * gas.absorbers[1] +
                              sigma[2] * gas.absorbers[2]);
    }
    double depth[k_photon_groups];
    for (int g = 0; g < k_photon_groups; ++g) depth[g] = -passing[g];
    const auto take_exponential = [](const auto& x) OCTANT_INLINE_LAMBDA { return exponential(x); };
    transform<4>(passing, take_exponential);
    if (chemistry.groups > 4) transform<4>(passing + 4, take_exponential);
    double d_absorber[3][3] = {}, heated_by[3] = {0.0, 0.0, 0.0};
    for (int g = 0; g < chemistry.groups; ++g) {
      const PhotoGroup& group = chemistry.group[g];
      const double emitted = value[k_emitted + g];
      if (!(cell.photons[g] + emitted > k_no_photons)) continue;
      const Attenuation of(depth[g], passing[g]);
      const double mean = cell.photons[g] * of.phi + emitted * of.psi;
      const double mean_slope = cell.photons[g] * of.phi_slope + emitted * of.psi_slope;
      double q[3], heat = 0.0, absorbed_by[3];
      for (int s = 0; s < 3; ++s) {
        q[s] = length * group.cross_section[s];
        heat += group.excess[s] * q[s] * gas.absorbers[s];
      }
      for (int s = 0; s < 3; ++s) {
        const double per_photon = q[s] * gas.absorbers[s];
        flow[s] += per_photon * mean;
        d_absorber[s][s] += q[s] * mean;
        for (int t = 0; t < 3; ++t) d_absorber[s][t] += per_photon * (mean_slope * q[t]);
        heated_by[s] += q[s] * (group.excess[s] * mean + heat * mean_slope);
        absorbed_by[s] = q[s] * (mean + depth[g] * mean_slope);
      }
      value[k_absorbed + g] = depth[g] * mean;
      value[k_heated] += heat * mean;
      add_absorber_derivatives(absorbed_by, slope[k_absorbed + g]);
      if (emitted > 0.0) absorb_emitted(g, q, heat, depth[g], of.psi, gas, by);
    }
    if (chemistry.has_background)
      expose(chemistry.background, cell.background * time, gas, flow, d_absorber, heated_by);
    for (int s = 0; s < 3; ++s) add_absorber_derivatives(d_absorber[s], by[s]);
    add_absorber_derivatives(heated_by, slope[k_heated]);
  }

  // Ionisation and heating by the ultraviolet background, which is not attenuated in the cell.
  KOKKOS_FORCEINLINE_FUNCTION void expose(const cooling::PhotoRates& rates, double time,
                                          const GasState& gas, double (&flow)[3],
                                          double (&d_absorber)[3][3], double (&heated_by)[3]) {
    for (int s = 0; s < 3; ++s) {
      flow[s] += time * rates.ionization[s] * gas.absorbers[s];
      d_absorber[s][s] += time * rates.ionization[s];
      value[k_heated] += time * rates.heating[s] * gas.absorbers[s];
      heated_by[s] += time * rates.heating[s];
    }
  }

  // Derivatives of absorption by photons that the gas emits.
  KOKKOS_FORCEINLINE_FUNCTION void absorb_emitted(int g, const double (&q)[3], double heat,
                                                  double depth, double psi, const GasState& gas,
                                                  double (&by)[3][k_unknowns]) {
    for (int n = 0; n < k_unknowns; ++n) {
      const double mean = psi * slope[k_emitted + g][n];
      for (int s = 0; s < 3; ++s) by[s][n] += q[s] * gas.absorbers[s] * mean;
      slope[k_absorbed + g][n] += depth * mean;
      slope[k_heated][n] += heat * mean;
    }
  }

  // Thermal energy: photoheating less losses.
  KOKKOS_FORCEINLINE_FUNCTION void lose_heat(const Photochemistry& chemistry, const GasRates& rates,
                                             const GasState& gas, double time) {
    Rate per_electron{0.0, 0.0};
    double by[k_unknowns] = {0.0, 0.0, 0.0, 0.0}, d_absorber[3];
    for (int s = 0; s < 3; ++s) {
      const Rate ion_loss = rates.ion_loss[s] + carried_[s];
      per_electron = per_electron + gas.absorbers[s] * rates.atom_loss[s] + gas.y[s] * ion_loss;
      by[s] = gas.electrons * ion_loss.value;
      d_absorber[s] = gas.electrons * rates.atom_loss[s].value;
    }
    add_absorber_derivatives(d_absorber, by);
    // The population of the metastable level of He I saturates at about 3110 electrons per cm^3
    // (Kingdon & Ferland 1995, ApJ 442, 714).
    constexpr double critical = 3110.0;
    const double cut = critical / (critical + gas.electrons), pairs = gas.electrons * cut;
    per_electron = per_electron + (pairs * gas.y[1]) * rates.metastable_loss;
    by[1] += gas.electrons * pairs * rates.metastable_loss.value;
    double by_electrons = per_electron.value + pairs * cut * gas.y[1] * rates.metastable_loss.value;
    if (chemistry.compton) {
      const double none = cooling::compton_per_electron(0.0, chemistry.redshift);
      const double all = cooling::compton_per_electron(gas.temperature, chemistry.redshift);
      per_electron = per_electron + Rate{all, all - none};
      by_electrons += all;
    }
    value[k_energy] = value[k_heated] - time * gas.electrons * per_electron.value;
    for (int n = 0; n < 3; ++n)
      slope[k_energy][n] = slope[k_heated][n] - time * (by[n] + charge(n) * by_electrons);
    slope[k_energy][k_energy] =
        slope[k_heated][k_energy] - time * gas.electrons * per_electron.slope;
  }

  // Adds the net cooling by metals, which depends on the temperature alone.
  KOKKOS_FORCEINLINE_FUNCTION void lose_heat_by_metals(const Photochemistry& chemistry,
                                                       const Contents& cell, const GasState& gas,
                                                       double time) {
    const Rate net =
        metal_cooling(chemistry.metals, cell.metals.row, cell.background, gas.temperature);
    value[k_energy] -= time * cell.metals.amount * net.value;
    slope[k_energy][k_energy] -= time * cell.metals.amount * net.slope;
  }

  // Converts derivatives by ln T of one change into those by the energy, with which T changes, and
  // by ions, with which it changes as well.
  KOKKOS_FORCEINLINE_FUNCTION void convert_slope(int r, double by_energy, double by_particles) {
    const double by_log_t = slope[r][k_energy];
    for (int n = 0; n < 3; ++n) slope[r][n] -= by_log_t * charge(n) * by_particles;
    slope[r][k_energy] = by_log_t * by_energy;
  }
  KOKKOS_FORCEINLINE_FUNCTION void convert_slopes(const GasState& gas) {
    const double by_energy = 1.0 / gas.y[k_energy], by_particles = 1.0 / gas.particles;
    for (int r = 0; r < k_unknowns; ++r) convert_slope(r, by_energy, by_particles);
  }
  // Photons and their heat depend on T by emission.
  KOKKOS_FORCEINLINE_FUNCTION void convert_emission(const GasState& gas) {
    const double by_energy = 1.0 / gas.y[k_energy], by_particles = 1.0 / gas.particles;
    for (int r = k_heated; r < k_changes; ++r) convert_slope(r, by_energy, by_particles);
  }
};

}  // namespace octant::subgrid::ionization
