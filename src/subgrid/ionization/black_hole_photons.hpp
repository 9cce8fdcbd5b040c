// Photons of accreting black holes.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "subgrid/ionization/ionized_gas.hpp"

namespace octant::subgrid {
struct Hole;
struct SyncPoint;
}  // namespace octant::subgrid

namespace octant::subgrid::ionization {

// Ionising spectrum of black holes: a power law from 13.6 eV on. Lusso et al. (2015, MNRAS 449,
// 4204) find the index 1.70 for the mean of quasars. With their index of 0.61 at longer wavelengths
// and the bolometric correction of 4.2 at 1450 Angstrom (Runnoe, Brotherton & Shang 2012, MNRAS
// 422, 478), the fraction below 1 keV is 0.39.
struct HoleSpectrum {
  double fraction = 0.0;  // fraction of the luminosity from 13.6 eV to `most`
  double index = 1.7;     // luminosity per frequency ~ frequency^-index
  double most = 1e3;      // highest photon energy in eV
};

// Photons in each group, which begin at these energies in eV, per erg of the luminosity. Photons
// below the first group are lost.
std::array<double, k_groups> photons_per_energy(const HoleSpectrum& spectrum,
                                                const std::vector<double>& edges);

// Luminosity in code mass per time, times c^2: the radiative efficiency of the disc times the
// accretion rate of the last step: the Bondi rate, or the Eddington rate if that is smaller and
// `is_limited` (black_holes.eddington). Discs with less than 0.01 of the Eddington rate radiate in
// proportion to the square of the rate (Dubois et al. 2021, A&A 651, A109, section 2.6). 0 for
// black holes that have not accreted yet.
double luminosity(const Hole& hole, bool is_limited);

// Adds the photons per volume and time that black holes emit over the step `dt` after `sync` to the
// cells that contain them, in the order of their ids, for these photons per erg of the luminosity.
// `is_limited` is that of luminosity(); `variables` are those of the emission of each group. Local.
void emit_from_black_holes(const SyncPoint& sync, double dt, bool is_limited,
                           const std::array<double, k_groups>& photons_per_erg,
                           std::span<const int> variables);

}  // namespace octant::subgrid::ionization
