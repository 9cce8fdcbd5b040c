#include "subgrid/ionization/ionization_options.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/named.hpp"
#include "core/parameters.hpp"
#include "mesh/geometry.hpp"

namespace octant::subgrid::ionization {

namespace {

void declare_sources(ParameterSchema& schema, IonizationOptions& o) {
  schema.add("ionization.source_x", o.source_x,
             {.unit = "length",
              .meaning = "Positions of point sources along x. The photons of a source on a face, "
                         "edge or corner of cells are shared equally by the cells; those of a "
                         "source on the boundary of the domain enter it in part"});
  schema.add("ionization.source_y", o.source_y,
             {.unit = "length", .meaning = "Positions of point sources along y"});
  schema.add("ionization.source_z", o.source_z,
             {.unit = "length", .meaning = "Positions of point sources along z"});
  schema.add("ionization.source_rates", o.source_rates,
             {.unit = "photons / s",
              .meaning = "Ionising photons per second of each point source, in all groups together",
              .min = 0.0});
  schema.add("ionization.star_rate", o.star_rate,
             {.unit = "photons / (s Msun)",
              .meaning = "Ionising photons per second and solar mass of stars younger than "
                         "ionization.star_lifetime, by their mass at formation; 0: stars are dark",
              .min = 0.0});
  schema.add("ionization.star_lifetime", o.star_lifetime,
             {.unit = "Myr",
              .meaning = "Age until which stars emit ionization.star_rate photons",
              .above = 0.0});
  schema.add("ionization.star_table", o.star_table,
             {.meaning = "Text file of the ionising photons of stars, instead of "
                         "ionization.star_rate: lines with metallicity, age in Myr, and photons "
                         "per second and solar mass in each group",
              .is_data_file = true});
}

void declare_black_holes(ParameterSchema& schema, HoleSpectrum& holes) {
  schema.add("ionization.black_hole_fraction", holes.fraction,
             {.meaning = "Fraction of the luminosity of accreting black holes that they emit as "
                         "photons from 13.6 eV to ionization.black_hole_energy, about 0.4 for "
                         "quasars; 0: black holes are dark",
              .min = 0.0,
              .max = 1.0});
  schema.add("ionization.black_hole_index", holes.index,
             {.meaning = "Exponent a of the spectrum of black holes, with luminosities per "
                         "frequency proportional to frequency^-a (1.7: Lusso et al. 2015)",
              .max = 20.0,
              .above = 0.0});
  schema.add(
      "ionization.black_hole_energy", holes.most,
      {.unit = "eV", .meaning = "Highest photon energy of black holes", .max = 1e6, .above = 13.6});
}

void declare_background(ParameterSchema& schema, IonizationOptions& o) {
  schema.add("ionization.uv_background", o.uv_background,
             {.meaning = "Grackle file with the photoionisation and photoheating rates of the "
                         "ultraviolet background by redshift; empty: none",
              .is_data_file = true});
  schema.add("ionization.self_shielding", o.self_shielding,
             {.meaning = "Self-shielding of dense gas from the ultraviolet background: exp(-n_H / "
                         "0.01), or the fit of Rahmati et al. (2013)"});
  schema.add("ionization.redshift", o.redshift,
             {.meaning = "Redshift of the ultraviolet background and of the cooling by metals in "
                         "runs without cosmology",
              .min = 0.0});
}

void declare_dust(ParameterSchema& schema, IonizationOptions& o) {
  schema.add(
      "ionization.optical_edge", o.optical_edge,
      {.unit = "eV",
       .meaning = "Lowest energy of a group of optical photons below those that ionise, which "
                  "dust absorbs: about 1; 0: no such group",
       .min = 0.0});
  schema.add("ionization.dust_opacity", o.dust_opacity,
             {.unit = "cm^2 / g",
              .meaning = "Absorption opacity of dust for optical photons, per mass of gas of solar "
                         "metallicity with the dust-to-gas ratio of the solar neighbourhood (1000: "
                         "Rosdahl et al. 2015)",
              .min = 0.0});
  schema.add("ionization.dust_exponent", o.dust_exponent,
             {.meaning = "Exponent a of the dust-to-gas ratio, which is proportional to "
                         "metallicity^a (Remy-Ruyer et al. 2014 find 1.62)",
              .max = 4.0,
              .above = 0.0});
}

void declare_metals(ParameterSchema& schema, IonizationOptions& o) {
  schema.add("ionization.metal_table", o.metal_table,
             {.meaning = "Grackle file with the cooling rates of metals, which are added to those "
                         "of hydrogen and helium; empty: no cooling by metals",
              .is_data_file = true});
  schema.add("ionization.initial_metallicity", o.initial_metallicity,
             {.unit = "solar",
              .meaning = "Initial metallicity of the gas; solar is the metal mass fraction 0.01295",
              .min = 0.0,
              .max = 50.0});
}

}  // namespace

void IonizationOptions::declare(ParameterSchema& schema) {
  schema.add("ionization.enabled", enabled,
             {.meaning = "Ionising photons, transported by the method of [radiation], and "
                         "non-equilibrium ionisation, heating and cooling of hydrogen and helium; "
                         "requires [units]"});
  schema.add(
      "ionization.edges", edges,
      {.unit = "eV",
       .meaning = "Lowest photon energy of each group, increasing: one to three groups. Each "
                  "ends where the next one begins",
       .above = 0.0});
  schema.add(
      "ionization.spectrum", spectrum,
      {.meaning = "Spectrum of all sources: a black body of ionization.spectrum_temperature, "
                  "a power law of ionization.spectrum_index, or photons of the lowest "
                  "energy of each group (monochromatic)"});
  schema.add("ionization.spectrum_temperature", spectrum_temperature,
             {.unit = "K",
              .meaning = "Temperature of ionization.spectrum = \"black_body\"",
              .min = 1e3,
              .max = 1e9});
  schema.add("ionization.spectrum_index", spectrum_index,
             {.meaning = "Exponent a of ionization.spectrum = \"power_law\", with luminosities per "
                         "frequency proportional to frequency^-a",
              .max = 20.0,
              .above = 1.0});
  schema.add("ionization.hydrogen_fraction", hydrogen_fraction,
             {.meaning = "Hydrogen mass fraction of the gas; the rest is helium",
              .max = 1.0,
              .above = 0.0});
  schema.add(
      "ionization.on_the_spot", on_the_spot,
      {.meaning = "On-the-spot approximation: photons of recombinations to ground states "
                  "are absorbed where they are emitted (case B); false: they are transported "
                  "in groups of their own, which follow those of ionization.edges "
                  "(case A)"});
  schema.add("ionization.temperature", temperature,
             {.unit = "K",
              .meaning = "Constant temperature of the gas; 0: it follows from heating by photons "
                         "and radiative cooling",
              .min = 0.0});
  schema.add("ionization.temperature_floor", temperature_floor,
             {.unit = "K",
              .meaning = "Least temperature of the gas. The energy that raises colder gas to it is "
                         "counted in the column ionization_floored of history.csv; 0: no floor",
              .min = 0.0});
  schema.add("ionization.initial_ions", initial_ions,
             {.meaning = "Initial fractions of ionised hydrogen, and of singly and doubly ionised "
                         "helium; empty: neutral gas",
              .min = 0.0,
              .max = 1.0});
  schema.add("ionization.radiation_pressure", radiation_pressure,
             {.meaning = "Momentum of absorbed photons pushes the gas"});
  declare_sources(schema, *this);
  declare_black_holes(schema, black_holes);
  declare_background(schema, *this);
  declare_metals(schema, *this);
  declare_dust(schema, *this);
}

void IonizationOptions::check_stars() const {
  if (star_rate > 0.0 && !star_table.empty())
    throw InputError("ionization.star_rate and ionization.star_table are both set; expected one");
  if (star_lifetime == k_usual_lifetime || star_rate > 0.0) return;
  if (star_table.empty())
    throw InputError("ionization.star_lifetime = {} requires ionization.star_rate", star_lifetime);
  throw InputError(
      "ionization.star_lifetime = {} has no effect with ionization.star_table = \"{}\", whose ages "
      "say how long stars emit; remove one of them",
      star_lifetime, star_table);
}

void IonizationOptions::check_tables() const {
  if (uv_background.empty() && self_shielding != cooling::Shielding::none)
    throw InputError(
        "ionization.self_shielding = \"{}\" requires ionization.uv_background, a Grackle file",
        name_of(self_shielding));
  if (uv_background.empty() && metal_table.empty() && redshift > 0.0)
    throw InputError(
        "ionization.redshift = {} requires ionization.uv_background or ionization.metal_table, a "
        "Grackle file",
        redshift);
  if (!metal_table.empty() && temperature > 0.0)
    throw InputError(
        "ionization.metal_table = \"{}\" has no effect with ionization.temperature = {}, which "
        "keeps the gas isothermal; remove one of them",
        metal_table, temperature);
  if (initial_metallicity > 0.0 && !has_metals())
    throw InputError(
        "ionization.initial_metallicity = {} has no effect without ionization.metal_table, a "
        "Grackle file, or ionization.optical_edge",
        initial_metallicity);
  if (has_optical()) return;
  const IonizationOptions usual;
  if (dust_opacity != usual.dust_opacity || dust_exponent != usual.dust_exponent)
    throw InputError(
        "ionization.dust_opacity = {} and ionization.dust_exponent = {} have no effect without "
        "ionization.optical_edge",
        dust_opacity, dust_exponent);
}

void IonizationOptions::check(const mesh::Geometry& geometry) const {
  if (edges.empty() || groups() > k_groups)
    throw InputError("ionization.edges has {} values; expected one to {}", edges.size(), k_groups);
  if (!std::is_sorted(edges.begin(), edges.end(), std::less_equal<>()))
    throw InputError("ionization.edges: the groups overlap; expected increasing energies");
  if (!initial_ions.empty() && initial_ions.size() != 3)
    throw InputError("ionization.initial_ions has {} values; expected 3", initial_ions.size());
  if (!initial_ions.empty() && initial_ions[1] + initial_ions[2] > 1.0)
    throw InputError(
        "ionization.initial_ions: the fractions of singly and doubly ionised helium have the sum "
        "{}; expected at most 1",
        initial_ions[1] + initial_ions[2]);
  if (temperature > 0.0 && temperature_floor > 0.0)
    throw InputError(
        "ionization.temperature_floor = {} has no effect with ionization.temperature = {}, which "
        "keeps the gas isothermal; remove one of them",
        temperature_floor, temperature);
  check_stars();
  check_tables();
  if (has_optical()) make_optical_photons(optical_edge, edges, source_spectrum());
  const std::size_t count = source_rates.size();
  if (source_x.size() != count || source_y.size() != count || source_z.size() != count)
    throw InputError(
        "ionization.source_x, source_y, source_z and source_rates have {}, {}, {} and {} values; "
        "expected equally many",
        source_x.size(), source_y.size(), source_z.size(), count);
  for (std::size_t n = 0; n < count; ++n) {
    const double place[] = {source_x[n], source_y[n], source_z[n]};
    for (int d = 0; d < 3; ++d)
      if (!(place[d] >= geometry.lower()[d] && place[d] <= geometry.upper()[d]))
        throw InputError("ionization.source_{}[{}] = {} is outside the domain; expected {} to {}",
                         static_cast<char>('x' + d), n, place[d], geometry.lower()[d],
                         geometry.upper()[d]);
  }
}

}  // namespace octant::subgrid::ionization
