// Supernovae and mass return of a stellar population as functions of age, per initial mass.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::subgrid {

// Time distribution of supernovae: all at one age (single), individual explosions at given rates
// (discrete), or from a PopulationTable (table).
enum class Population { single, discrete, table };
// Names of the distributions.
constexpr auto names_of(Population) { return std::array{"single", "discrete", "table"}; }

// Numbers of core-collapse and type Ia (white-dwarf) supernovae per solar mass of stars.
struct SupernovaCounts {
  double core_collapses, white_dwarfs;
};

// Returns the number of supernovae up to an age in Myr: core collapse at constant rates from 3.401
// to 10.37 and to 37.53 Myr, then type Ia (Hopkins et al. 2018, MNRAS 480, 800, appendix A).
inline SupernovaCounts supernovae_until(double megayears) {
  constexpr double k_first = 3.401, k_slower = 10.37, k_last = 37.53;
  const auto between = [&](double begin, double end) {
    return std::max(0.0, std::min(megayears, end) - begin);
  };
  SupernovaCounts counts{
      5.408e-4 * between(k_first, k_slower) + 2.516e-4 * between(k_slower, k_last), 0.0};
  if (megayears <= k_last) return counts;
  // Rate of type Ia supernovae: 5.3e-8 + 1.6e-5 exp(-((t - 50) / 10)^2 / 2) per Myr.
  const auto wave = [](double t) { return std::erf((t - 50.0) / (10.0 * std::numbers::sqrt2)); };
  counts.white_dwarfs = 5.3e-8 * (megayears - k_last) + 1.6e-4 * std::sqrt(0.5 * std::numbers::pi) *
                                                            (wave(megayears) - wave(k_last));
  return counts;
}

// Returned mass and metals per initial stellar mass, and number of supernovae per solar mass.
struct StellarYields {
  double mass = 0.0, metals = 0.0, supernovae = 0.0;
};

// Table of stellar yields, including winds and all types of supernovae. Interpolation is linear in
// the logarithm of the age and in the stellar metallicity. Yields are constant beyond the ends of
// either axis, and zero before the first age.
class PopulationTable {
 public:
  PopulationTable() = default;
  // Reads an HDF5 file with the ascending datasets `age` (Myr) and `metallicity` (mass fraction),
  // and `ejected_mass`, `ejected_metals`, `supernovae` of shape [metallicity][age], cumulative
  // since star formation. Throws InputError, on all ranks. Collective.
  PopulationTable(const Communicator& communicator, const std::string& path);

  // Returns the cumulative yields up to an age in Myr.
  StellarYields until(double megayears, double metallicity) const;

  // Returns the first age in Myr at which the returned mass is at least `returned_mass` -
  // k_rounding, or the last age of the table.
  double age_of(double returned_mass, double metallicity) const;
  static constexpr double k_rounding = 1e-13;

 private:
  // Interpolation between rows: weight 1 - share of `row`, and `share` of the next row.
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
