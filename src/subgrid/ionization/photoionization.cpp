// Ionising photons: ionisation, heating and cooling of hydrogen and helium. RadiationStep
// transports the photons; after each of its substeps, react() lets the gas absorb and emit them.
//
// Numbers and fluxes of photons are those of the reduced speed of light c' (Rosdahl et al. 2013):
// the rate of ionisations is c' sigma n N, and every photon counts.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameters.hpp"
#include "io/input_files.hpp"
#include "subgrid/cooling/uv_background.hpp"
#include "subgrid/ionization/black_hole_photons.hpp"
#include "subgrid/ionization/ionization_options.hpp"
#include "subgrid/ionization/photochemistry.hpp"
#include "subgrid/ionization/point_sources.hpp"
#include "subgrid/ionization/stellar_photons.hpp"
#include "subgrid/ionization/stellar_table.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

namespace ionization {

// Accounts of the ledger: photons that sources emit, that gas absorbs, that recombinations emit,
// and that are added where refluxing took more than there were; heating by photons, radiative
// losses, and work of the radiation pressure; cells whose equations were not solved, in all
// substeps; energy that the temperature floor adds; photons that dust absorbs, and their energy.
struct Account {
  enum { injected, absorbed, recombined, restored, heated, radiated, work, unsolved, usual };
  enum { floored = usual, dusty, infrared, count };
};
// Names of the accounts that all runs have.
constexpr std::array<const char*, Account::usual> k_usual_accounts = {
    "injected", "absorbed", "recombined", "restored", "heated", "radiated", "work", "unsolved"};

// Maximum number of photon groups, with the optical one.
constexpr int k_all_groups = k_photon_groups + 1;

// Momentum and energy per volume that a cell gains.
struct Gains {
  double push[3] = {0.0, 0.0, 0.0}, heat = 0.0;
};

// Gas and photons of a cell as kernels see them, and how both change.
struct CellLaw {
  Photochemistry chemistry;
  int species[3];                 // variables of HII, HeII, HeIII
  int first_photons;              // variable of the density of group 0
  int first_emission;             // variable of the emission of group 0; -1: none
  int metals;                     // variable of the metal mass; -1: none
  double hydrogen, helium;        // nuclei per cm^3 over the density in code units
  double energy_unit;             // erg cm^-3
  double per_volume;              // cm^-3 over the number density in code units
  double share[k_all_groups];     // photons over the ionising photons of a source
  double momentum[k_all_groups];  // momentum of a photon over c', or 0 without radiation pressure
  int optical;                    // number of the optical group; -1: none
  double optical_energy;          // energy of an optical photon, in code units
  double dust, dust_exponent;     // absorption by dust over density and metallicity^exponent
  double seconds, dt;
  double least_temperature;  // K

  // Index of a moment of a group: density (0) or component of the flux (1 to 3).
  KOKKOS_FORCEINLINE_FUNCTION int moment(int group, int n) const {
    return first_photons + 4 * group + n;
  }

  // Lets a cell react over the substep, with `emitted` photons per volume from sources. `photons`
  // has the variables of the cell after the transport. Adds to the terms of the accounts.
  KOKKOS_INLINE_FUNCTION void react_in(const hydro::GasCell& cell, const double* photons,
                                       std::int64_t stride, double emitted, double* terms) const {
    IonizedGas state = read(cell);
    for (int g = 0; g < chemistry.groups; ++g)
      state.photons[g] = photons_in(cell, photons, stride, emitted, g, terms) * per_volume;
    Gains gains;
    gains.heat += raise(state);
    const Reaction reaction = react(state, chemistry, seconds);
    gains.heat += raise(state);
    terms[Account::floored] += gains.heat;
    if (optical >= 0)
      absorb_by_dust(cell, photons, stride,
                     photons_in(cell, photons, stride, emitted, optical, terms), state.metallicity,
                     gains, terms);
    write(cell, photons, stride, state, reaction, gains, terms);
    for (int g = 0; g < chemistry.groups; ++g) {
      terms[Account::absorbed] += reaction.absorbed[g] / per_volume;
      terms[Account::recombined] += reaction.emitted[g] / per_volume;
    }
    terms[Account::heated] += reaction.heated / energy_unit;
    terms[Account::radiated] += reaction.radiated / energy_unit;
    terms[Account::unsolved] += reaction.is_solved ? 0.0 : 1.0;
  }

  // Photons of a group per volume after the transport, with those of sources. Adds to the terms.
  KOKKOS_INLINE_FUNCTION double photons_in(const hydro::GasCell& cell, const double* photons,
                                           std::int64_t stride, double emitted, int g,
                                           double* terms) const {
    const double there = photons[moment(g, 0) * stride];
    const double injected =
        emitted * share[g] + (first_emission < 0 ? 0.0 : cell[first_emission + g] * dt);
    terms[Account::restored] += max(-there, 0.0);
    terms[Account::injected] += injected;
    return max(there, 0.0) + injected;
  }

  // Lets dust absorb optical photons, of which there are `number` per volume, and their flux. Their
  // energy is lost as infrared radiation.
  KOKKOS_INLINE_FUNCTION void absorb_by_dust(const hydro::GasCell& cell, const double* photons,
                                             std::int64_t stride, double number, double metallicity,
                                             Gains& gains, double* terms) const {
    const double ratio =
        dust_exponent == 1.0 ? metallicity : Kokkos::pow(metallicity, dust_exponent);
    const double kept = Kokkos::exp(-dust * cell.density() * ratio);
    const double absorbed = number - kept * number;
    cell[moment(optical, 0)] = kept * number;
    terms[Account::dusty] += absorbed;
    terms[Account::infrared] += absorbed * optical_energy;
    keep_flux(cell, photons, stride, optical, kept, gains);
  }

  // Stores the part `kept` of the flux of a group; the gas gains the momentum of the rest.
  KOKKOS_INLINE_FUNCTION void keep_flux(const hydro::GasCell& cell, const double* photons,
                                        std::int64_t stride, int g, double kept,
                                        Gains& gains) const {
    for (int d = 0; d < 3; ++d) {
      const double flux = photons[moment(g, 1 + d) * stride], left = kept * flux;
      gains.push[d] += (flux - left) * momentum[g];
      cell[moment(g, 1 + d)] = left;
    }
  }

  // Gas of a cell in cgs. Fractions that rounding errors of advection made impossible are limited.
  KOKKOS_INLINE_FUNCTION IonizedGas read(const hydro::GasCell& cell) const {
    const double density = cell.density();
    IonizedGas state{};
    state.hydrogen = hydrogen * density;
    state.helium = helium * density;
    for (int n = 0; n < 3; ++n) state.ionized[n] = min(max(cell[species[n]] / density, 0.0), 1.0);
    const double helium_ions = state.ionized[1] + state.ionized[2];
    if (helium_ions > 1.0)
      for (int n = 1; n < 3; ++n) state.ionized[n] /= helium_ions;
    state.energy = density * cell.internal_energy() * energy_unit;
    if (metals >= 0)
      state.metallicity =
          min(max(cell[metals] / density, 0.0), 1.0) * (1.0 / cooling::k_grackle_solar);
    return state;
  }

  // Raises gas to the least temperature. Returns the energy per volume that it gains in code units.
  KOKKOS_INLINE_FUNCTION double raise(IonizedGas& state) const {
    if (!(state.temperature(chemistry.gamma) < least_temperature)) return 0.0;
    const double before = state.energy;
    state.set_temperature(least_temperature, chemistry.gamma);
    return (state.energy - before) / energy_unit;
  }

  // Stores the state after the reaction and the gains, to which the momentum of the absorbed flux
  // is added.
  KOKKOS_INLINE_FUNCTION void write(const hydro::GasCell& cell, const double* photons,
                                    std::int64_t stride, const IonizedGas& state,
                                    const Reaction& reaction, Gains& gains, double* terms) const {
    const double density = cell.density();
    for (int n = 0; n < 3; ++n) cell[species[n]] = density * state.ionized[n];
    for (int g = 0; g < chemistry.groups; ++g) {
      cell[moment(g, 0)] = state.photons[g] / per_volume;
      keep_flux(cell, photons, stride, g, reaction.kept[g], gains);
    }
    const double* const push = gains.push;
    double work = 0.0;
    for (int d = 0; d < 3; ++d)
      work += push[d] * (cell[hydro::k_momentum_x + d] + 0.5 * push[d]) / density;
    terms[Account::work] += work;
    const double heat = (reaction.heated - reaction.radiated) / energy_unit + gains.heat;
    terms[Account::heated] += cell.add(0.0, gains.push, heat + work);
  }
};

// Kernel over the cells of a level.
struct ReactInCells {
  static constexpr int count = Account::count, sums = Account::count, parts = 1;
  GasLevel level;
  CellLaw law;
  const double* photons;  // variables after the transport, as those of `level`
  mesh::DeviceArray<const PointSource> sources;
  Periods periods;

  KOKKOS_INLINE_FUNCTION void operator()(const mesh::Cell& cell, double* terms) const {
    for (int n = 0; n < Account::count; ++n) terms[n] = 0.0;
    const double rate =
        photons_into_cell(sources, periods, level.cells.centre(cell), level.cells.cell_size);
    law.react_in(level.at(cell), photons + level.layout.offset(cell), level.layout.stride_variable,
                 rate * law.seconds / level.cell_volume, terms);
  }
};

// Cooling rates of metals, prepared for the most recent redshift.
class MetalTable {
 public:
  // Throws InputError if the table has no rates of metals.
  MetalTable(cooling::CoolingTable table, const cooling::TableOptions& options)
      : table_(std::move(table)), options_(options) {
    if (!table_.has_metals)
      throw InputError(
          "ionization.metal_table = \"{}\": the file has no rates of metals, "
          "/CoolingRates/Metals/Cooling; expected a Grackle file with metals",
          table_.path);
  }
  // Returns the rates at a redshift.
  const cooling::TableSlice& at(double redshift) {
    if (redshift_ != redshift) slice_ = cooling::slice_at(table_, options_, redshift);
    redshift_ = redshift;
    return slice_;
  }

 private:
  cooling::CoolingTable table_;
  cooling::TableOptions options_;
  std::optional<double> redshift_;
  cooling::TableSlice slice_;
};

}  // namespace ionization

class Ionization final : public Process {
 public:
  const char* name() const override { return "ionization"; }
  void declare(ParameterSchema& schema) override { options_.declare(schema); }
  bool is_wanted() const override { return options_.enabled; }
  int photon_groups() const override { return options_.photon_groups(); }
  bool has_photon_sources() const override { return options_.has_emission(); }

  std::vector<GasVariable> variables() const override {
    std::vector<GasVariable> variables{
        {.name = "ionized_hydrogen",
         .initial = options_.initial_ion(0),
         .description = "fraction of hydrogen nuclei that are ionised"},
        {.name = "ionized_helium",
         .initial = options_.initial_ion(1),
         .description = "fraction of helium nuclei that are singly ionised"},
        {.name = "doubly_ionized_helium",
         .initial = options_.initial_ion(2),
         .description = "fraction of helium nuclei that are doubly ionised"}};
    if (options_.has_metals())
      variables.push_back(metals(options_.initial_metallicity * cooling::k_grackle_solar));
    return variables;
  }
  std::vector<std::string> accounts() const override {
    std::vector<std::string> names(ionization::k_usual_accounts.begin(),
                                   ionization::k_usual_accounts.end());
    if (options_.temperature_floor > 0.0) names.push_back("floored");
    if (options_.has_optical()) names.insert(names.end(), {"absorbed_by_dust", "infrared"});
    return names;
  }
  double added_energy(const Ledger& ledger) const override {
    const double floored = options_.temperature_floor > 0.0 ? ledger.total("floored") : 0.0;
    return ledger.total("heated") - ledger.total("radiated") + ledger.total("work") + floored;
  }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_units)
      throw InputError(
          "[ionization] requires physical units: set units.length, units.density and units.time in "
          "cgs, or set cosmology.enabled = true");
    options_.check(setup.geometry);
    if (options_.has_stars() && !setup.has_stars)
      throw InputError(
          "ionization.{} requires stars, and this run has none: set stars.enabled = true, or "
          "choose "
          "a problem with stars",
          options_.star_table.empty() ? "star_rate" : "star_table");
    if (options_.black_holes.fraction > 0.0 && !setup.has_black_holes)
      throw InputError("ionization.black_hole_fraction = {} requires black_holes.enabled = true",
                       options_.black_holes.fraction);
    if (setup.expands && options_.redshift > 0.0)
      throw InputError("ionization.redshift is not supported with cosmology.enabled = true");
    if (options_.temperature == 0.0 && std::abs(setup.gas.gamma - 5.0 / 3.0) > 1e-6)
      log::warn(
          "ionization: hydro.gamma = {}, but atoms, ions and electrons have 5/3; temperatures and "
          "cooling follow hydro.gamma",
          setup.gas.gamma);
    light_speed_ = setup.light_speed;
    speed_ratio_ = setup.speed_ratio;
    expands_ = setup.expands;
    limits_accretion_ = setup.limits_accretion;
    first_photons_ = setup.first_photons;
    const char* const names[] = {"ionized_hydrogen", "ionized_helium", "doubly_ionized_helium"};
    for (int n = 0; n < 3; ++n) species_[n] = setup.variable(names[n]);
    metals_ = options_.has_metals() ? setup.variable("metals") : -1;
    set_groups();
    gamma_ = setup.gas.gamma;
    periods_.emplace(setup.geometry);
    pushes_ = options_.radiation_pressure && setup.gas_moves;
  }

  void begin(const Communicator& communicator) override {
    if (!options_.uv_background.empty())
      background_ = cooling::read_uv_background(communicator, options_.uv_background);
    if (!options_.metal_table.empty())
      metal_table_ = std::make_unique<ionization::MetalTable>(
          cooling::read_cooling_table(communicator, options_.metal_table),
          cooling::TableOptions{.gamma = gamma_, .temperature_refinement = 1});
    std::vector<ionization::PointSource> sources;
    for (std::size_t n = 0; n < options_.source_rates.size(); ++n)
      sources.push_back({{options_.source_x[n], options_.source_y[n], options_.source_z[n]},
                         options_.source_rates[n]});
    sources_ = mesh::to_device("sources of photons", sources);
    if (!options_.star_table.empty())
      table_ = ionization::StellarTable(options_.star_table, options_.source_groups(),
                                        reader_on_root(communicator));
    else if (options_.star_rate > 0.0) table_ = constant_emission();
  }

  void react(const GasLevel& level, double dt, const double* photons,
             Ledger& ledger) const override {
    std::array<double, ionization::Account::count> units;
    units.fill(level.cell_volume);
    units[ionization::Account::unsolved] = 1.0;
    std::array<ReproducibleSum, ionization::Account::count> sums;
    mesh::add_totals(
        "ionization", level.cells,
        ionization::ReactInCells{level, law(level.step_time, dt), photons, sources_, *periods_},
        units, sums);
    using ionization::Account;
    for (int n = 0; n < Account::usual; ++n) ledger[ionization::k_usual_accounts[n]] += sums[n];
    if (options_.temperature_floor > 0.0) ledger["floored"] += sums[Account::floored];
    if (!options_.has_optical()) return;
    ledger["absorbed_by_dust"] += sums[Account::dusty];
    ledger["infrared"] += sums[Account::infrared];
  }

  void begin_step(SyncPoint& sync, double dt) const override {
    const ionization::CellLaw of_cells = law(sync.levels.front().step_time, 0.0);
    std::vector<int> groups;
    for (int g = 0; g < options_.groups(); ++g) groups.push_back(of_cells.first_emission + g);
    if (options_.has_optical()) groups.push_back(of_cells.first_emission + of_cells.optical);
    if (options_.has_stars()) ionization::emit_from_stars(sync, dt, table_, groups);
    if (options_.black_holes.fraction > 0.0)
      ionization::emit_from_black_holes(
          sync, dt, limits_accretion_,
          ionization::photons_per_energy(options_.black_holes, options_.edges), groups);
  }

 private:
  // Sets the photon groups of sources and of recombinations.
  void set_groups() {
    spectrum_ = ionization::make_groups(options_.edges, options_.source_spectrum());
    for (int g = 0; g < options_.groups(); ++g) {
      const double* sections = spectrum_.groups[g].cross_section;
      if (sections[0] > 0.0 || sections[1] > 0.0 || sections[2] > 0.0) continue;
      throw InputError(
          "ionization.edges[{}] = {} eV: no atom absorbs the photons of this group; expected "
          "energies from {} eV",
          g, options_.edges[g], ionization::ionization_energy(0));
    }
    if (options_.has_optical())
      optical_ = ionization::make_optical_photons(options_.optical_edge, options_.edges,
                                                  options_.source_spectrum());
    if (options_.on_the_spot) return;
    ground_ =
        ionization::make_ground_photons(options_.edges, spectrum_.groups, options_.has_helium());
  }

  // Sets the ultraviolet background at the redshift of the gas.
  void set_background(ionization::Photochemistry& chemistry) const {
    chemistry.has_background = true;
    chemistry.background = background_->at(expands_ ? chemistry.redshift : options_.redshift);
    chemistry.shielding = options_.self_shielding;
    chemistry.shielding_density = cooling::shielding_density(chemistry.background.ionization[0]);
  }

  ionization::StellarTable constant_emission() const {
    ionization::StellarRates rates{};
    for (int g = 0; g < options_.groups(); ++g)
      rates[g] = options_.star_rate / constants::k_solar_mass * spectrum_.photon_share[g];
    if (options_.has_optical())
      rates[options_.groups()] =
          options_.star_rate / constants::k_solar_mass * optical_.per_ionizing_photon;
    return {rates, options_.star_lifetime * 1e6 * constants::k_year};
  }

  // Properties of gas and photons at a time with these units, for a substep `dt`.
  ionization::CellLaw law(const StepTime& time, double dt) const {
    const CodeUnits& units = time.units;
    ionization::CellLaw law{};
    const int chemical = options_.photon_groups() - (options_.has_optical() ? 1 : 0);
    law.chemistry = {.groups = chemical,
                     .group = {},
                     .light_speed = speed_ratio_ * light_speed_,
                     .gamma = gamma_,
                     .on_the_spot = options_.on_the_spot,
                     .temperature = options_.temperature,
                     .compton = expands_,
                     .redshift = 1.0 / time.scale_factor - 1.0};
    if (background_) set_background(law.chemistry);
    if (metal_table_) {
      law.chemistry.has_metals = true;
      law.chemistry.metals =
          metal_table_->at(expands_ ? time.background_redshift : options_.redshift);
    }
    law.metals = metals_;
    std::copy(std::begin(species_), std::end(species_), law.species);
    law.first_photons = first_photons_;
    law.first_emission =
        options_.has_emission() ? first_photons_ + 4 * options_.photon_groups() : -1;
    law.hydrogen = options_.hydrogen_fraction / constants::k_proton_mass * units.density();
    law.helium =
        0.25 * (1.0 - options_.hydrogen_fraction) / constants::k_proton_mass * units.density();
    law.energy_unit = units.energy_density();
    law.per_volume = 1.0 / (units.length * units.length * units.length);
    law.seconds = dt * units.time;
    law.dt = dt;
    law.least_temperature = options_.temperature_floor;
    for (int g = 0; g < chemical; ++g) {
      const bool is_of_sources = g < options_.groups();
      law.chemistry.group[g] =
          is_of_sources ? spectrum_.groups[g] : ground_.groups[g - options_.groups()];
      law.momentum[g] = momentum_of(law.chemistry.group[g].energy / units.energy(), units);
      law.share[g] = is_of_sources ? spectrum_.photon_share[g] : 0.0;
    }
    law.optical = -1;
    if (options_.has_optical()) set_dust(law, units, chemical);
    std::copy(std::begin(ground_.ground), std::end(ground_.ground), law.chemistry.ground);
    std::copy(std::begin(ground_.warm), std::end(ground_.warm), law.chemistry.warm);
    return law;
  }

  // Momentum of a photon of this energy over c', in code units.
  double momentum_of(double energy, const CodeUnits& units) const {
    const double c = light_speed_, reduced = speed_ratio_ * c, velocity = units.velocity();
    return pushes_ ? energy * (velocity / c) * (velocity / reduced) : 0.0;
  }

  // Sets the properties of dust and of optical photons, which are group `optical`.
  void set_dust(ionization::CellLaw& law, const CodeUnits& units, int optical) const {
    law.optical = optical;
    law.optical_energy = optical_.energy / units.energy();
    law.share[optical] = optical_.per_ionizing_photon;
    law.momentum[optical] = momentum_of(law.optical_energy, units);
    law.dust = options_.dust_opacity * units.density() * speed_ratio_ * light_speed_ * law.seconds;
    law.dust_exponent = options_.dust_exponent;
  }

  ionization::IonizationOptions options_;
  ionization::SourceSpectrum spectrum_;
  ionization::GroundPhotons ground_;
  ionization::OpticalPhotons optical_;
  ionization::StellarTable table_;
  std::optional<cooling::UvBackgroundTable> background_;
  std::unique_ptr<ionization::MetalTable> metal_table_;
  mesh::DeviceArray<const ionization::PointSource> sources_;
  std::optional<Periods> periods_;
  bool pushes_ = false;  // true if absorbed photons push the gas
  int species_[3] = {-1, -1, -1}, metals_ = -1, first_photons_ = -1;
  double light_speed_ = 0.0, speed_ratio_ = 1.0, gamma_ = 0.0;  // light_speed_ in cm/s
  bool expands_ = false, limits_accretion_ = true;
};

template <>
std::unique_ptr<Process> make_process<Ionization>() {
  return std::make_unique<Ionization>();
}

}  // namespace octant::subgrid
