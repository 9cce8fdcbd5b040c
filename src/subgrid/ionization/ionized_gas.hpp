// Hydrogen and helium in a cell with ionising photons: state, constants and results of react() in
// subgrid/ionization/photochemistry.hpp. All quantities are in cgs units, densities per volume.
#pragma once

#include <Kokkos_Macros.hpp>

#include "core/units.hpp"
#include "subgrid/cooling/table.hpp"

namespace octant::subgrid::ionization {

// Maximum number of photon groups of sources, and with those of recombinations.
inline constexpr int k_groups = 3, k_photon_groups = k_groups + 3;
// Maximum number of groups of photons that sources emit: those that ionise, and an optical one.
inline constexpr int k_source_groups = k_groups + 1;

// Ionisation energy of HI (0), HeI (1) or HeII (2) in eV: Verner et al. (1996, ApJ 465, 487,
// table 1).
KOKKOS_FORCEINLINE_FUNCTION constexpr double ionization_energy(int atom) {
  return atom == 0 ? 13.60 : atom == 1 ? 24.59 : 54.42;
}

// Photon group: averages over the spectrum within its limits.
struct PhotoGroup {
  double cross_section[3] = {0.0, 0.0, 0.0};  // HI, HeI, HeII in cm^2, weighted by photon number
  double excess[3] = {0.0, 0.0, 0.0};  // mean energy above the threshold per ionisation in erg
  double energy = 0.0;                 // mean energy per photon in erg
};

// Parameters of the reactions, copied by value into kernels.
struct Photochemistry {
  int groups = 0;
  PhotoGroup group[k_photon_groups];
  double light_speed = constants::k_speed_of_light;  // reduced speed of light c' in cm/s
  double gamma = 5.0 / 3.0;
  // True: case B. False: case A, and recombinations to ground states emit photons.
  bool on_the_spot = true;
  // Groups of the photons of recombinations to the ground states of HI, HeI and HeII, in case A;
  // -1: they escape. Photons of `ground` have the ionisation energy and heat nothing when they
  // ionise the same kind of atom; those of `warm` have the excess energy of their group, and carry
  // the kinetic energy of the electrons. Without a warm group, this energy stays in the gas.
  int ground[3] = {-1, -1, -1}, warm[3] = {-1, -1, -1};
  // Ultraviolet background, and its self-shielding by the hydrogen density.
  bool has_background = false;
  cooling::PhotoRates background{};
  cooling::Shielding shielding = cooling::Shielding::none;
  double shielding_density = 0.0;
  // Net cooling rates of metals, where has_metals.
  bool has_metals = false;
  cooling::TableSlice metals{};
  double temperature = 0.0;  // of isothermal gas in K; 0: it evolves
  bool compton = false;      // Compton cooling by the cosmic microwave background at `redshift`
  double redshift = 0.0;
  double tolerance = 0.1;   // relative error per substep, as react() estimates it
  int max_attempts = 1000;  // substeps, with those that are repeated
};

// State of a cell.
struct IonizedGas {
  double hydrogen, helium;  // nuclei per cm^3; helium may be 0
  double ionized[3];        // n_HII / n_H, n_HeII / n_He, n_HeIII / n_He
  double energy;            // thermal energy in erg/cm^3
  double photons[k_photon_groups];
  double metallicity = 0.0;  // in solar units, for the cooling by metals

  // Free electrons per cm^3.
  KOKKOS_INLINE_FUNCTION double electrons() const {
    return ionized[0] * hydrogen + (ionized[1] + 2.0 * ionized[2]) * helium;
  }
  // Nuclei and electrons per cm^3.
  KOKKOS_INLINE_FUNCTION double particles() const { return hydrogen + helium + electrons(); }
  // Mean mass per particle in units of the mass of hydrogen, where helium weighs four.
  KOKKOS_INLINE_FUNCTION double mean_molecular_weight() const {
    return (hydrogen + 4.0 * helium) / particles();
  }
  // Temperature in K.
  KOKKOS_INLINE_FUNCTION double temperature(double gamma) const {
    return (gamma - 1.0) * energy / (constants::k_boltzmann * particles());
  }
  // Sets the thermal energy to that of temperature T in K.
  KOKKOS_INLINE_FUNCTION void set_temperature(double T, double gamma) {
    energy = particles() * constants::k_boltzmann * T / (gamma - 1.0);
  }
};

// Changes of a cell during a step, per cm^3:
//   photons after = photons before - absorbed + emitted,
//   energy after = energy before + heated - radiated.
// In isothermal gas `radiated` is what keeps the temperature.
struct Reaction {
  double absorbed[k_photon_groups], emitted[k_photon_groups];
  // Factor of the photon flux, which is absorbed as photons are; 1 without photons.
  double kept[k_photon_groups];
  double heated, radiated;  // photoheating; losses in erg/cm^3
  int substeps;
  // False if the state is not finite, or if max_attempts did not suffice: the state is then that at
  // an earlier time, and conserves photons and energy as well.
  bool is_solved;
};

}  // namespace octant::subgrid::ionization
