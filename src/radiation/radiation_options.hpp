// Parameters of the radiation, and the fields that it stores beside the gas.
#pragma once

#include <memory>
#include <string>

#include "core/units.hpp"
#include "hydro/hydro_options.hpp"
#include "radiation/closure.hpp"
#include "radiation/opacity_table.hpp"
#include "radiation/radiating_gas.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::radiation {

// Parameters radiation.*, in code units: grey radiation with the M1 closure, and the transport of
// all radiation. Groups of photons belong to processes, which absorb and emit them.
struct RadiationOptions {
  bool enabled = false;       // grey radiation
  int photon_groups = 0;      // number of groups of photons; set by AmrOptions
  bool has_emission = false;  // a field of emission per group of photons; set by AmrOptions
  double light_speed = 0.0;   // 0: from [units]
  double speed_ratio = 1.0;   // reduced speed of light over the speed of light
  double constant = 0.0;      // radiation constant; 0: from [units]
  double molecular_weight = 1.0;
  double cubic_heat_capacity = 0.0;  // of Material::cubic
  double initial_temperature = 0.0;
  double cfl = 0.4;
  int max_substeps = 100;
  double planck_opacity = 0.0, rosseland_opacity = 0.0, scattering_opacity = 0.0;
  double opacity_density_exponent = 0.0, opacity_temperature_exponent = 0.0;
  double opacity_density = 1.0, opacity_temperature = 1.0;  // where the opacities are as given
  double least_opacity = 0.0, largest_opacity = 1e300;
  std::string opacity_table_path;                     // radiation.opacity_table
  std::shared_ptr<const OpacityTable> opacity_table;  // null: no table; set by finish()
  Opacity opacity;                                    // of these parameters; set by finish()

  // Binds the parameters to this object, which must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // Sets derived options. `units` is null if the run has no physical units; `is_refined`: the mesh
  // has several levels; `read_text` reads the table of opacities. Throws InputError for parameters
  // that are missing or incompatible.
  void finish(const hydro::HydroOptions& gas, const CodeUnits* units, bool is_refined,
              const TextReader& read_text);

  // True if the run has radiation of any kind.
  bool is_active() const { return enabled || photon_groups > 0; }
  // Number of sets of four moments: grey radiation, if enabled, then the groups of photons.
  int sets() const { return (enabled ? 1 : 0) + photon_groups; }
  // Index of the density of the first group of photons among the fields of radiation.
  int first_of_photons() const { return enabled ? k_moments : 0; }
  // Speed of light, its reduced value, and the radiation constant.
  Light light() const { return {light_speed, speed_ratio * light_speed, constant}; }
  // Properties of gas and light for kernels. Photons cross the gas of their transport unhindered:
  // their process absorbs them.
  RadiatingGas matter(const hydro::Gas& gas, bool is_grey) const {
    return {gas, light(), material_, opacity, is_grey && interacts(), barotrope_, kelvin_};
  }
  // True if the gas absorbs or scatters grey radiation.
  bool interacts() const {
    if (!enabled) return false;
    return opacity_table || planck_opacity > 0.0 || rosseland_opacity > 0.0 ||
           scattering_opacity > 0.0;
  }
  // Fields of the mesh: energy density and flux of all sets, then the emission of the groups of
  // photons, if any. Empty without radiation.
  hydro::GasVariables fields() const;
  // Longest stable substep for cells of this size.
  double longest_substep(double dx) const;
  // Longest step of a level with cells of this size.
  double longest_step(double dx) const { return most_substeps_ * longest_substep(dx); }

 private:
  void declare_opacities(ParameterSchema& schema);
  void find_constants(const CodeUnits* units);
  void check_gas(const hydro::HydroOptions& gas) const;
  void set_material(const hydro::HydroOptions& gas, const CodeUnits* units);
  void set_opacity(const CodeUnits* units, const TextReader& read_text);

  Material material_{};
  hydro::Barotrope barotrope_{};
  double kelvin_ = 1.0;
  int most_substeps_ = 1;
};

}  // namespace octant::radiation
