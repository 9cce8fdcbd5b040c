// What a population of stars has given back at an age, as a table says: for models of stars that
// count winds and supernovae of all kinds.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::subgrid {

// All of it per mass with which the stars formed; supernovae per solar mass.
struct Returned {
  double mass = 0.0, metals = 0.0, supernovae = 0.0;
};

// Interpolated linearly in the logarithm of the age and in the stars' metallicity; beyond the ends
// of either axis the last values hold, but nothing is given back before the first age.
class PopulationTable {
 public:
  PopulationTable() = default;
  // An HDF5 file with the datasets `age` (Myr) and `metallicity` (mass share), ascending, and
  // `ejected_mass`, `ejected_metals`, `supernovae` of the shape [metallicity][age], which count
  // from the birth of the stars on. Throws InputError, on all ranks. Collective.
  PopulationTable(const Communicator& communicator, const std::string& path);

  Returned until(double megayears, double metallicity) const;

  // The first age at which so much of the mass had been given back, but for k_rounding.
  double age_of(double returned_mass, double metallicity) const;
  static constexpr double k_rounding = 1e-13;

 private:
  // Where a metallicity lies among the rows: that much of the row after `row`.
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
