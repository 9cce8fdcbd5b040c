// Parameters of ionising radiation.
#pragma once

#include <string>
#include <vector>

#include "core/units.hpp"
#include "subgrid/ionization/black_hole_photons.hpp"
#include "subgrid/ionization/photon_groups.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::mesh {
class Geometry;
}

namespace octant::subgrid::ionization {

// Parameters ionization.*.
struct IonizationOptions {
  bool enabled = false;
  std::vector<double> edges{13.6, 24.59, 54.42};  // lowest photon energies of the groups, eV
  SpectrumKind spectrum = SpectrumKind::black_body;
  double spectrum_temperature = 1e5;  // K
  double spectrum_index = 2.0;
  double hydrogen_fraction = 0.76;  // by mass
  bool on_the_spot = true;
  double temperature = 0.0;          // K; 0: follows from heating and cooling
  double temperature_floor = 0.0;    // K
  std::vector<double> initial_ions;  // initial fractions of HII, HeII, HeIII; empty: neutral
  bool radiation_pressure = true;
  std::vector<double> source_x, source_y, source_z;  // positions of point sources
  std::vector<double> source_rates;                  // photons per s of each
  double star_rate = 0.0;                            // photons per s and solar mass; 0: dark stars
  static constexpr double k_usual_lifetime = 5.0;    // Myr
  double star_lifetime = k_usual_lifetime;           // Myr
  std::string star_table;  // file of rates by age and metallicity, instead of star_rate
  HoleSpectrum black_holes;
  std::string uv_background;  // file of rates
  cooling::Shielding self_shielding = cooling::Shielding::none;
  double optical_edge = 0.0;         // lowest energy of optical photons in eV; 0: none
  double dust_opacity = 1000.0;      // cm^2 per g of gas for optical photons, at solar metallicity
  double dust_exponent = 1.0;        // exponent of the metallicity in the dust opacity
  std::string metal_table;           // file of cooling rates
  double initial_metallicity = 0.0;  // in solar units
  double redshift = 0.0;  // redshift of the background and of metal cooling without cosmology

  // Binds the parameters to this object, which must outlive all reads of the schema.
  void declare(ParameterSchema& schema);
  // Throws InputError if values are impossible or inconsistent.
  void check(const mesh::Geometry& geometry) const;

  // Throws InputError if parameters of stars are inconsistent.
  void check_stars() const;
  // Throws InputError if parameters of an ultraviolet background or of metals are inconsistent.
  void check_tables() const;

  // Number of groups of photons of sources.
  int groups() const { return static_cast<int>(edges.size()); }
  // Number of groups of photons, with those of recombinations to ground states in case A, and with
  // the optical one, which is the last.
  int photon_groups() const {
    return groups() + (on_the_spot ? 0 : ground_photon_groups(edges, has_helium())) +
           (has_optical() ? 1 : 0);
  }
  // True if the gas contains helium.
  bool has_helium() const { return hydrogen_fraction < 1.0; }
  // True if the gas contains metals.
  bool has_metals() const { return !metal_table.empty() || has_optical(); }
  // True if there are optical photons.
  bool has_optical() const { return optical_edge > 0.0; }
  // Number of groups of photons that stars emit.
  int source_groups() const { return groups() + (has_optical() ? 1 : 0); }
  // True if stars emit photons.
  bool has_stars() const { return star_rate > 0.0 || !star_table.empty(); }
  // True if particles emit photons.
  bool has_emission() const { return has_stars() || black_holes.fraction > 0.0; }
  // Spectrum of all sources.
  Spectrum source_spectrum() const { return {spectrum, spectrum_temperature, spectrum_index}; }
  // Initial fraction of an ion: HII, HeII, HeIII.
  double initial_ion(int n) const { return initial_ions.empty() ? 0.0 : initial_ions[n]; }
};

}  // namespace octant::subgrid::ionization
