// Ionising photons of stellar populations by age and metallicity.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/number_file.hpp"
#include "core/units.hpp"
#include "subgrid/ionization/ionized_gas.hpp"

namespace octant::subgrid::ionization {

// Photons per s and gram of stellar mass at formation, by group.
using StellarRates = std::array<double, k_source_groups>;

// Rates of a stellar population, either constant until an age, or from a table.
class StellarTable {
 public:
  StellarTable() = default;
  // Constant rates until `lifetime` in s.
  StellarTable(const StellarRates& rates, double lifetime);
  // Reads a text file of ionization.star_table: lines with metallicity, age in Myr, and photons per
  // s and solar mass in each of `groups` groups. Lines are ordered by metallicity, then by age, and
  // all metallicities have the same ages. Throws InputError.
  StellarTable(const std::string& path, int groups, const TextReader& read_text);

  // True if no star emits photons.
  bool is_dark() const { return ages_.empty(); }
  // Photons per gram in each group between two ages in s, at this metallicity. Rates are
  // interpolated linearly in age and metallicity. They are constant below the first age, and 0
  // above the last one; metallicities outside the table have the values of its limits.
  StellarRates photons(double begin, double end, double metallicity) const;

 private:
  StellarRates until(double age, double metallicity) const;
  void integrate();

  std::vector<double> ages_, metallicities_;      // ages in s
  std::vector<std::vector<StellarRates>> rates_;  // [metallicity][age]
  std::vector<std::vector<StellarRates>> sums_;   // integrals of the rates until each age
};

}  // namespace octant::subgrid::ionization
