#include "subgrid/presets.hpp"

namespace octant::subgrid {

namespace {

// Dubois et al. (2014, MNRAS 444, 1453). Black holes as in Dubois et al. (2012, MNRAS 420, 2662)
// and Volonteri et al. (2016, MNRAS 460, 2979): without spins, with Booth & Schaye's (2009) boost.
const std::vector<std::string> k_horizon_agn{"cooling.enabled = true",
                                             "cooling.method = \"original\"",
                                             "cooling.reionization = 10.0",
                                             "floor.kind = \"polytrope\"",
                                             "floor.temperature = 1e4",
                                             "floor.density = 0.1",
                                             "floor.index = 1.3333333333333333",
                                             "stars.enabled = true",
                                             "stars.model = \"schmidt\"",
                                             "stars.efficiency = 0.02",
                                             "stars.density = 0.1",
                                             "supernovae.mode = \"kinetic\"",
                                             "supernovae.population = \"single\"",
                                             "supernovae.fraction = 0.1",
                                             "supernovae.yield = 0.1",
                                             "supernovae.delay = 10.0",
                                             "black_holes.enabled = true",
                                             "black_holes.seed_mass = 1e5",
                                             "black_holes.gas_density = 0.1",
                                             "black_holes.star_density = 0.1",
                                             "black_holes.exclusion = 50.0",
                                             "black_holes.boost = 2.0",
                                             "black_holes.boost_density = 0.1",
                                             "black_holes.eddington = true",
                                             "black_holes.drag = true",
                                             "black_holes.merge_length = 4.0",
                                             "black_holes.merge_bound = true",
                                             "black_holes.spin = false",
                                             "agn.enabled = true",
                                             "agn.radio_threshold = 0.01",
                                             "agn.thermal_efficiency = 0.15",
                                             "agn.jet_efficiency = 1.0",
                                             "agn.mad = false",
                                             "agn.radius = 1.0",
                                             "agn.mass_loading = 100.0"};

// Kim et al. (2016, ApJ 833, 202): every 91 solar masses of stars eject 10^51 erg and 14.8 solar
// masses of gas, 2.6 of which are metals, after 5 Myr. There are no black holes. The user must set
// cooling.table to the Grackle table HM2012.
const std::vector<std::string> k_agora{"cooling.enabled = true",
                                       "cooling.method = \"exact\"",
                                       "floor.kind = \"jeans\"",
                                       "floor.jeans_cells = 4.0",
                                       "stars.enabled = true",
                                       "stars.model = \"schmidt\"",
                                       "stars.efficiency = 0.01",
                                       "stars.density = 10.0",
                                       "supernovae.mode = \"thermal\"",
                                       "supernovae.population = \"single\"",
                                       "supernovae.fraction = 0.16263736263736264",
                                       "supernovae.mass = 14.8",
                                       "supernovae.energy = 1e51",
                                       "supernovae.yield = 0.17567567567567569",
                                       "supernovae.delay = 5.0"};

// Schaye et al. (2015, MNRAS 446, 521). The pressure floor is 8000 K at n_H = 0.1 cm^-3 for a mean
// molecular weight of 1.22; 1.736e-2 supernovae per solar mass of stars explode after 30 Myr. Black
// holes of 1e5 / h solar masses accrete at the Bondi rate without boost, up to the Eddington rate.
// Their feedback is purely thermal, with 0.15 of the luminosity, and heats gas by 10^8.5 K for a
// mean molecular weight of 0.59. EAGLE repositions light black holes at the potential minimum; this
// preset neither repositions them nor applies dynamical friction.
const std::vector<std::string> k_eagle_like{"cooling.enabled = true",
                                            "cooling.method = \"original\"",
                                            "cooling.reionization = 11.5",
                                            "floor.kind = \"polytrope\"",
                                            "floor.temperature = 6557.0",
                                            "floor.density = 0.1",
                                            "floor.index = 1.3333333333333333",
                                            "stars.enabled = true",
                                            "stars.model = \"pressure_law\"",
                                            "stars.overdensity = 57.7",
                                            "supernovae.mode = \"stochastic\"",
                                            "supernovae.population = \"single\"",
                                            "supernovae.fraction = 0.1736",
                                            "supernovae.mass = 10.0",
                                            "supernovae.energy = 1e51",
                                            "supernovae.heating = 3.1622776601683794e7",
                                            "supernovae.delay = 30.0",
                                            "black_holes.enabled = true",
                                            "black_holes.seed_mass = 1.475e5",
                                            "black_holes.boost = 0.0",
                                            "black_holes.eddington = true",
                                            "black_holes.drag = false",
                                            "black_holes.merge_bound = true",
                                            "black_holes.spin = false",
                                            "agn.enabled = true",
                                            "agn.radio_threshold = 0.0",
                                            "agn.thermal_efficiency = 0.15",
                                            "agn.mad = false",
                                            "agn.heating_trigger = 5.36e8"};

}  // namespace

std::vector<std::string> assignments_of(Preset preset) {
  switch (preset) {
    case Preset::horizon_agn: return k_horizon_agn;
    case Preset::agora: return k_agora;
    case Preset::eagle_like: return k_eagle_like;
    case Preset::none: break;
  }
  return {};
}

}  // namespace octant::subgrid
