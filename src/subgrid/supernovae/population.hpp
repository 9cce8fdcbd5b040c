// Number of supernovae of a stellar population at a given age, per initial mass.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::subgrid {

// Time distribution of supernovae: all at once, one after the other, or from a table
// (PopulationTable).
enum class Population { single, discrete, table };
// Names of the distributions.
constexpr auto names_of(Population) { return std::array{"single", "discrete", "table"}; }

// Core collapses at constant rates from 3.401 to 10.37 and to 37.53 Myr, followed by white dwarfs
// (Hopkins et al. 2018, MNRAS 480, 800, appendix A): numbers per solar mass.
struct SupernovaCounts {
  double core_collapses, white_dwarfs;
};

// Supernovae per solar mass of stars up to an age in Myr.
inline SupernovaCounts supernovae_until(double megayears) {
  constexpr double k_first = 3.401, k_slower = 10.37, k_last = 37.53;
  const auto between = [&](double begin, double end) {
    return std::max(0.0, std::min(megayears, end) - begin);
  };
  SupernovaCounts counts{
      5.408e-4 * between(k_first, k_slower) + 2.516e-4 * between(k_slower, k_last), 0.0};
  if (megayears <= k_last) return counts;
  // Rate of white dwarfs: 5.3e-8 + 1.6e-5 exp(-((t - 50) / 10)^2 / 2) per Myr.
  const auto wave = [](double t) { return std::erf((t - 50.0) / (10.0 * std::numbers::sqrt2)); };
  counts.white_dwarfs = 5.3e-8 * (megayears - k_last) + 1.6e-4 * std::sqrt(0.5 * std::numbers::pi) *
                                                            (wave(megayears) - wave(k_last));
  return counts;
}

// Tabulated feedback of a stellar population up to an age, for models that include winds and all
// kinds of supernovae.

// Mass and metals returned to the gas per unit initial stellar mass, and number of supernovae per
// solar mass.
struct StellarYields {
  double mass = 0.0, metals = 0.0, supernovae = 0.0;
};

// Linear interpolation in the logarithm of the age and in the stellar metallicity, constant beyond
// the ends of either axis, but zero before the first age.
class PopulationTable {
 public:
  PopulationTable() = default;
  // Reads an HDF5 file with the ascending datasets `age` (Myr) and `metallicity` (mass fraction),
  // and `ejected_mass`, `ejected_metals`, `supernovae` of shape [metallicity][age], cumulative
  // since the birth of the stars. Throws InputError, on all ranks. Collective.
  PopulationTable(const Communicator& communicator, const std::string& path);

  // Returned quantities at an age in Myr, cumulative since birth.
  StellarYields until(double megayears, double metallicity) const;

  // First age at which `returned_mass` had been returned, within k_rounding.
  double age_of(double returned_mass, double metallicity) const;
  static constexpr double k_rounding = 1e-13;

 private:
  // Position of a metallicity among the rows: weight `share` of the row after `row`.
  struct Place {
    std::size_t row;
    double share;
  };
  Place place(double metallicity) const;
  double at(const std::vector<double>& field, const Place& z, std::size_t age) const;
  void require(const std::string& path, const char* name, const std::vector<double>& field) const;

  std::vector<double> age_, log_age_, metallicity_;
  std::vector<double> mass_, metals_, supernovae_;
};

}  // namespace octant::subgrid
