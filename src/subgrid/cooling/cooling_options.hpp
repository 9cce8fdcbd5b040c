// Options of cooling: sections [cooling] and [floor].
#pragma once

#include <array>
#include <string>

#include "subgrid/cooling/original.hpp"
#include "subgrid/cooling/solvers.hpp"
#include "subgrid/cooling/table.hpp"
#include "subgrid/leaf_cells.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::subgrid::cooling {

// Cooling methods.
enum class Method { exact, implicit, original };
// Names of the methods in cooling.method.
constexpr auto names_of(Method) { return std::array{"exact", "implicit", "original"}; }

// Ultraviolet background; `own` is the default of the method.
enum class UvBackground { own, table, courty, none };
// Names of the backgrounds in cooling.uv_background.
constexpr auto names_of(UvBackground) { return std::array{"own", "table", "courty", "none"}; }

// Parameters of cooling.
struct CoolingOptions {
  bool enabled = false;
  Method method = Method::exact;
  std::string table;
  UvBackground uv_background = UvBackground::own;
  double reionization = 8.5;
  Shielding self_shielding = Shielding::none;
  bool cmb_floor = true, compton = true;
  double residual_electrons = 2e-4;
  double redshift = 0.0;
  double initial_metallicity = 0.0;
  double solar_metallicity = 0.0;
  double maximum_temperature = 1e10;
  int table_refinement = 10, temperature_refinement = 16;
  double tolerance = 0.05;
  double largest_change = 0.0;
  bool delayed = false;
  double delay_time = 20.0;

  FloorKind floor = FloorKind::jeans;
  double jeans_cells = 4.0, floor_temperature = 0.0, floor_density = 0.1, floor_index = 1.6;

  // Declares the parameters. This object must outlive all reads of the schema.
  void declare(ParameterSchema& schema);

  // Throws InputError for incompatible options.
  void check() const;

  double solar() const;  // metal mass fraction at solar metallicity
  // True for the method of RAMSES.
  bool is_original() const { return method == Method::original; }
  // Returns the options for rates from a table.
  TableOptions table_options(double gamma) const;
  // Returns the options for the method of RAMSES.
  OriginalOptions original_options(double gamma) const;
};

}  // namespace octant::subgrid::cooling
