// Photoionisation and photoheating by the ultraviolet background, from files of Grackle.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/cooling/ionization.hpp"

namespace octant::subgrid::cooling {

// Rates of HI, HeI and HeII by redshift.
struct UvBackgroundTable {
  std::string path;
  std::vector<double> redshift;                   // ascending
  std::array<std::vector<double>, 3> ionization;  // s^-1
  std::array<std::vector<double>, 3> heating;     // erg s^-1 per particle

  // Rates at a redshift, linear between those of the file, and 0 beyond the last one.
  PhotoRates at(double z) const;
};

// Reads the group UVBRates of a file of Grackle (Smith et al. 2017, MNRAS 466, 2217), in which
// heating is in eV per s. Throws InputError, on all ranks, if the file or its rates are missing, or
// if numbers are negative or not finite. Collective.
UvBackgroundTable read_uv_background(const Communicator& communicator, const std::string& path);

}  // namespace octant::subgrid::cooling
