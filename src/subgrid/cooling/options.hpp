// What a run chooses about cooling: sections [cooling] and [floor].
#pragma once

#include <string>

#include "subgrid/cooling/floor.hpp"
#include "subgrid/cooling/implicit.hpp"
#include "subgrid/cooling/original.hpp"
#include "subgrid/cooling/table_rates.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid::cooling {

struct CoolingOptions {
  bool enabled = false;
  std::string method = "exact";
  std::string table;
  std::string uv_background = "own";
  double reionization = 8.5;
  std::string self_shielding = "none";
  bool cmb_floor = true, compton = true;
  double redshift = 0.0;
  double initial_metallicity = 0.0;
  double solar_metallicity = 0.0;
  double maximum_temperature = 1e10;
  int table_refinement = 10;
  double tolerance = 0.1;
  double largest_change = 0.0;
  bool delayed = false;
  double delay_time = 20.0;

  std::string floor = "jeans";
  double jeans_cells = 4.0, floor_temperature = 0.0, floor_density = 0.1, floor_index = 1.6;

  void declare(ParameterSchema& schema);

  // Throws InputError for choices that exclude each other.
  void check() const;

  double solar() const;  // metals' mass share in gas of solar metallicity
  bool is_original() const { return method == "original"; }
  TableOptions table_options(double gamma) const;
  OriginalOptions original_options(double gamma) const;

 private:
  Shielding shielding() const;
};

}  // namespace octant::subgrid::cooling
