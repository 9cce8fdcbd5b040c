// Averages of ionising photons over the spectrum of their sources, by group.
#pragma once

#include <array>
#include <vector>

#include "subgrid/ionization/ionized_gas.hpp"

namespace octant::subgrid::ionization {

// Shape of a spectrum.
enum class SpectrumKind { black_body, power_law, monochromatic };
// Names of the shapes.
constexpr auto names_of(SpectrumKind) {
  return std::array{"black_body", "power_law", "monochromatic"};
}

// Spectrum of sources.
struct Spectrum {
  SpectrumKind kind = SpectrumKind::black_body;
  double temperature = 1e5;  // temperature of a black body in K
  double index = 2.0;        // exponent of a power law: luminosity per frequency ~ frequency^-index
};

// Groups with the averages and shares of one spectrum.
struct SourceSpectrum {
  std::vector<PhotoGroup> groups;
  std::vector<double> photon_share;  // photons of each group over those of all groups
  std::vector<double> energy_share;  // energy of each group over that of all groups
  // Photons of all groups per erg that the source radiates: at all frequencies for a black body, in
  // the groups for other spectra.
  double photons_per_erg = 0.0;
};

// Groups of the photons of recombinations to ground states in case A, which follow those of
// sources; their numbers count from the first group of sources.
struct GroundPhotons {
  std::vector<PhotoGroup> groups;
  int ground[3] = {-1, -1, -1}, warm[3] = {-1, -1, -1};  // as in Photochemistry
};

// Photoionisation cross section of HI (0), HeI (1) or HeII (2) in cm^2 for photons of this energy
// in eV: Verner et al. (1996, ApJ 465, 487, eq. 1 and table 1); 0 below the ionisation energy.
double photoionization_cross_section(int atom, double energy);

// Groups that begin at these energies in eV; each ends where the next one begins, the last one at
// infinity. Cross sections are weighted by the number of photons, the energy above the threshold by
// that of ionisations (Rosdahl et al. 2013, MNRAS 436, 2188, appendix B). Monochromatic photons
// have the lowest energy of their group, and all groups the same number of them.
// Throws InputError if energies do not increase, if there are none or more than k_groups, or if a
// black body has no temperature or a power law infinite energy.
SourceSpectrum make_groups(const std::vector<double>& edges, const Spectrum& spectrum);

// Photons from `low` to edges[0] in eV, for each photon of the groups that begin at `edges`, and
// their mean energy in erg.
struct OpticalPhotons {
  double per_ionizing_photon = 0.0, energy = 0.0;
};

// Returns the optical photons of sources with a spectrum. If it is monochromatic, they have the
// energy `low`, and their number is that of the photons of one ionising group. Throws InputError if
// `low` is not positive and below edges[0].
OpticalPhotons make_optical_photons(double low, const std::vector<double>& edges,
                                    const Spectrum& spectrum);

// Number of groups of the photons of recombinations to ground states: one for each kind of atom of
// the gas, with or without helium, whose ionisation energy is not below the lowest edge in eV.
// Other photons of recombinations escape.
int ground_photon_groups(const std::vector<double>& edges, bool has_helium);

// The groups of ground_photon_groups(). Photons have the ionisation energy of an atom. Those with
// the kinetic energy of electrons in addition belong to the group of `sources` that contains the
// ionisation energy, if its photons have more than that.
GroundPhotons make_ground_photons(const std::vector<double>& edges,
                                  const std::vector<PhotoGroup>& sources, bool has_helium);

}  // namespace octant::subgrid::ionization
