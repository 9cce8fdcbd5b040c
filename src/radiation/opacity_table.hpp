// Opacities of the gas in a text file.
#pragma once

#include <string>
#include <vector>

#include "core/number_file.hpp"
#include "core/units.hpp"
#include "mesh/device.hpp"
#include "radiation/opacity_grid.hpp"

namespace octant::radiation {

// Table of Planck and Rosseland mean opacities at nodes of density and temperature. Kernels refer
// to its numbers, so that it cannot be copied.
class OpacityTable {
 public:
  // Reads the file of radiation.opacity_table: lines with density, temperature, and the Planck and
  // Rosseland mean opacities, in g/cm^3, K and cm^2/g, or in code units if `units` is null. Lines
  // are ordered by density, then by temperature, and all densities have the same temperatures.
  // Throws InputError with file and line if the order is another one, or if numbers are not
  // positive.
  OpacityTable(const std::string& path, const CodeUnits* units, const TextReader& read_text);
  OpacityTable(const OpacityTable&) = delete;
  OpacityTable& operator=(const OpacityTable&) = delete;
  ~OpacityTable() = default;

  // Table for kernels in code units, valid during the life of this object.
  const OpacityGrid& grid() const { return grid_; }
  // Text with the ranges of density and temperature, in the units of the file.
  std::string ranges() const;

 private:
  void read(const std::string& path, const TextReader& read_text);
  void add_line(const std::string& location, const std::vector<double>& numbers);
  void set_grid();

  double density_unit_ = 1.0, opacity_unit_ = 1.0;  // those of the file over those of the code
  const char* density_unit_name_ = "";
  const char* temperature_unit_name_ = "";
  std::vector<double> densities_, temperatures_;         // in the units of the file
  std::vector<double> opacities_[OpacityGrid::k_means];  // [density][temperature]
  std::vector<double> numbers_;                          // of the grid
  mesh::DeviceArray<const double> on_device_;  // empty where host and device share their memory
  OpacityGrid grid_;
};

}  // namespace octant::radiation
