// Cooling tables in the files of Grackle (Smith et al. 2017, MNRAS 466, 2217), computed with
// Cloudy: rates of gas in ionisation equilibrium by density, redshift and temperature.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/cooling/ionization.hpp"

namespace octant::subgrid::cooling {

// Rates over n_H^2 in erg cm^3 s^-1 as log10, [n_H][z][T]; those of zero are k_no_rate.
inline constexpr double k_no_rate = -99.0;

// What a file holds, on the host. An axis that the file does not have is one value long.
struct CoolingTable {
  std::string path;
  std::vector<double> log_density;      // log10 n_H / cm^-3, evenly spaced
  std::vector<double> redshift;         // ascending
  std::vector<double> log_temperature;  // log10 T / K, ascending
  std::vector<double> cooling, heating, metal_cooling, metal_heating;
  std::vector<double> molecular_weight;  // mean, in proton masses
  // Rate at which the background ionises HI, in s^-1; empty where the file does not tell.
  std::vector<double> background_redshift, hydrogen_ionization;
  bool has_metals = false;

  std::size_t place(std::size_t n, std::size_t z, std::size_t k) const {
    return (n * redshift.size() + z) * log_temperature.size() + k;
  }
};

// The value at z of what is given at ascending redshifts: linear, and none beyond the last one.
double at_redshift(const std::vector<double>& redshifts, const std::vector<double>& values,
                   double z);

// The metallicity that the files call solar.
inline constexpr double k_grackle_solar = 0.01295;

// The gas of the files: Cloudy has one helium nucleus, of 3.971 hydrogen masses, per ten hydrogen
// nuclei, and Grackle gives metals a mean molecular weight of 16.
inline constexpr Composition k_grackle_composition{1.0 / (1.0 + 0.1 * 3.971), 0.1};
inline constexpr double k_grackle_metal_weight = 16.0;

// Reads a file of rank 1 (T), 2 (n_H, T) or 3 (n_H, z, T), of either byte order. Where it lacks the
// mean molecular weight, that of the ionisation equilibrium of hydrogen and helium in the file's
// ultraviolet background takes its place. Throws InputError, on all ranks, for a file that is
// missing, of another layout, or holds a number that is not finite. Collective.
CoolingTable read_cooling_table(const Communicator& communicator, const std::string& path);

}  // namespace octant::subgrid::cooling
