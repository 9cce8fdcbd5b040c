// Radiative cooling and heating of the gas: rates from a table (table.hpp) solved exactly
// (solvers.hpp), or the rates and solver of RAMSES (original.hpp). Only internal energy above the
// pressure floor cools or is heated.
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.hpp"
#include "core/log.hpp"
#include "core/parameters.hpp"
#include "subgrid/cooling/cooling_options.hpp"
#include "subgrid/cooling/solvers.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

namespace cooling {

// Maximum mass fraction of the scalar `delayed` in gas that cools (Teyssier et al. 2013).
constexpr double k_delayed_fraction = 1e-3;
constexpr double k_megayear = 1e6 * constants::k_year;

// Cooling rates prepared for the most recent redshift, from a table or by the original method.
class PreparedRates {
 public:
  PreparedRates(const CoolingOptions& options, double gamma, std::optional<CoolingTable> table,
                const Communicator& communicator)
      : options_(options),
        gamma_(gamma),
        table_(std::move(table)),
        communicator_(communicator),
        gas_(table_ ? table_gas(options.table_options(gamma)) : k_original_gas) {}

  // Computes the rates at a redshift. Collective.
  void prepare(double redshift) {
    if (redshift_ == redshift) return;
    redshift_ = redshift;
    if (table_) prepare_table(redshift);
    else nodes_ = original_nodes(options_.original_options(gamma_), redshift, communicator_);
  }
  const TableSlice& slice() const { return slice_; }
  const Nodes& nodes() const { return nodes_; }
  const RateGas& gas() const { return gas_; }

 private:
  void prepare_table(double redshift) {
    const auto& redshifts = table_->redshift;
    if (!warned_ && redshifts.size() > 1 && redshift > redshifts.back()) {
      log::warn(
          "cooling: z = {:.4g} is beyond the redshift range of {}; the rates at its last redshift, "
          "{:.4g}, are used",
          redshift, table_->path, redshifts.back());
      warned_ = true;
    }
    slice_ = slice_at(*table_, options_.table_options(gamma_), redshift);
    if (options_.table_refinement > 1) nodes_ = refined_nodes(slice_);
  }

  CoolingOptions options_;
  double gamma_;
  std::optional<CoolingTable> table_;
  Communicator communicator_;
  RateGas gas_;
  std::optional<double> redshift_;
  TableSlice slice_;
  Nodes nodes_;
  bool warned_ = false;
};

// Source of rates from precomputed rows of nodes.
struct NodeSource {
  Nodes nodes;
  KOKKOS_INLINE_FUNCTION TablePosition position(double n_H) const { return nodes.position(n_H); }
  KOKKOS_INLINE_FUNCTION CellRates at(const CellGas& cell, const TablePosition& position) const {
    return nodes.rates(cell, position);
  }
  // Returns true if the internal energy u may exceed the range of the rates of a cell.
  KOKKOS_INLINE_FUNCTION bool may_exceed(double u, const CellGas& cell) const {
    return u > nodes.safe_energy * (1.0 - cell.metals);
  }
};
// Source of rates by direct interpolation of the table in every cell.
struct TableSource {
  TableSlice slice;
  KOKKOS_INLINE_FUNCTION TablePosition position(double n_H) const {
    return slice.rows.position(log_of_ten(n_H));
  }
  KOKKOS_INLINE_FUNCTION DirectRates at(const CellGas& cell, const TablePosition& position) const {
    return {slice, cell, position};
  }
  KOKKOS_INLINE_FUNCTION bool may_exceed(double, const CellGas&) const { return true; }
};

// Constants of all cells of a level.
struct Gas {
  GasUnits units;
  PressureFloor floor;
  double hydrogen;               // density -> n_H in cm^-3, in gas without metals
  double metals_count;           // RateGas::metals_count
  double per_solar, per_energy;  // 1 / (metal fraction of solar gas), 1 / units.energy
  int metals, delayed;           // variable indices; -1: none

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V metal_fraction(const hydro::GasCells<V>& cells) const {
    const V share = cells.load(metals) / cells.density();
    const V at_most_1 = select(share < V(1.0), share, V(1.0));
    return select(share > V(0.0), at_most_1, V(0.0));
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION auto may_cool(const hydro::GasCells<V>& cells) const {
    using Mask = typename SimdTraits<V>::Mask;
    if (delayed < 0) return Mask(true);
    return !(cells.load(delayed) > V(k_delayed_fraction) * cells.density());
  }
};

// Energy changes of a cell in a step, per volume in code units, and two flags: density outside the
// table, and too few substeps.
enum Account {
  k_cooled,
  k_uv_heated,
  k_floor_energy,
  k_capped,
  k_outside,
  k_ended_exactly,
  k_accounts
};

// Thermal state of the cells of one SIMD vector in a step. Rates are interpolated for each cell.
template <class V>
struct Thermal {
  static constexpr int width = SimdTraits<V>::width;
  double n_H[width], metallicity[width], metals[width];  // members of CellGas
  double cools[width];                                   // 1 if the cell may cool, else 0
  double energy[width];  // energy per mass above the pressure floor, in code units
  // Results: energy per mass removed above the maximum temperature, and the two flags.
  double excess[width] = {}, outside[width] = {}, ended_exactly[width] = {};
};

template <class Source>
struct Step {
  static constexpr int count = k_accounts, sums = k_accounts, parts = 1;
  GasLevel level;
  Gas gas;
  Source source;
  double seconds, decay;
  Method method;
  ImplicitControl control;

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const mesh::Cell& first, V* term) const {
    for (int n = 0; n < k_accounts; ++n) term[n] = V(0.0);
    const hydro::GasCells<V> cells = level.template from<V>(first);
    const auto may_cool = gas.may_cool(cells);
    if (gas.delayed >= 0) cells.store(gas.delayed, cells.load(gas.delayed) * V(decay));

    const V density = cells.density(), pressure = cells.thermal_pressure();
    const V u = cells.internal_energy(pressure), floor_energy_per_mass = gas.floor.energy(density);
    const auto is_free = u > floor_energy_per_mass;
    term[k_floor_energy] = select(is_free, V(0.0), density * (floor_energy_per_mass - u));
    const auto changes = may_cool || !is_free;
    if (!any(changes)) return;

    using Lanes = SimdTraits<V>;
    Thermal<V> thermal;
    const V metals = gas.metal_fraction(cells), counted = V(gas.metals_count) * metals;
    Lanes::store(thermal.n_H, V(gas.hydrogen) * density * (V(1.0) - counted));
    Lanes::store(thermal.metallicity, metals * V(gas.per_solar));
    Lanes::store(thermal.metals, counted);
    Lanes::store(thermal.cools, select(may_cool, V(1.0), V(0.0)));
    Lanes::store(thermal.energy, select(is_free, u - floor_energy_per_mass, V(0.0)));
    for (int n = 0; n < Lanes::width; ++n)
      if (thermal.cools[n] != 0.0) cool(thermal, n);
    term[k_capped] = density * Lanes::load(thermal.excess);
    term[k_outside] = Lanes::load(thermal.outside);
    term[k_ended_exactly] = Lanes::load(thermal.ended_exactly);

    const V added = cells.set_internal_energy(Lanes::load(thermal.energy) + floor_energy_per_mass,
                                              pressure, changes);
    const V radiated = added - term[k_floor_energy] + term[k_capped];
    term[k_cooled] = max(V(0.0), -radiated);
    term[k_uv_heated] = max(V(0.0), radiated);
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void cool(Thermal<V>& thermal, int n) const {
    const CellGas cell{thermal.n_H[n], thermal.metallicity[n], thermal.metals[n]};
    double& energy = thermal.energy[n];
    const TablePosition position = source.position(cell.n_H);
    const auto rates = source.at(cell, position);
    if (source.may_exceed(gas.units.energy * energy, cell)) {
      const double most = rates.energy(rates.count() - 1) * gas.per_energy;
      thermal.excess[n] = max(energy - most, 0.0);
      energy = min(energy, most);
    }
    energy = solve(rates, gas.units.energy * energy, thermal.ended_exactly[n]) * gas.per_energy;
    thermal.outside[n] = position.inside ? 0.0 : 1.0;
  }

  template <class Rates>
  KOKKOS_FORCEINLINE_FUNCTION double solve(const Rates& rates, double u,
                                           double& ended_exactly) const {
    if (method == Method::exact) return advance_exactly(rates, u, seconds);
    bool ended = false;
    const double after = method == Method::original
                             ? advance_linearised(rates, u, seconds, ended)
                             : advance_implicitly(rates, u, seconds, control, ended);
    ended_exactly = ended ? 1.0 : 0.0;
    return after;
  }
};

// Rate |du/dt| / u of a cell in code units.
template <class Source>
struct CoolingRate {
  Gas gas;
  Source source;

  KOKKOS_INLINE_FUNCTION double operator()(const hydro::GasCell& cell) const {
    const double density = cell.density(), whole = cell.internal_energy();
    const double u = gas.units.energy * (whole - gas.floor.energy(density));
    if (!(u > 0.0) || !gas.may_cool(cell)) return 0.0;
    const double metals = gas.metal_fraction(cell), counted = gas.metals_count * metals;
    const double n_H = gas.hydrogen * density * (1.0 - counted);
    const auto rates =
        source.at(CellGas{n_H, metals * gas.per_solar, counted}, source.position(n_H));
    return gas.units.time * absolute(rate_at(rates, u)) * gas.per_energy / whole;
  }
};

}  // namespace cooling

class Cooling final : public Process {
 private:
  // Calls the function with the source of rates at the time of the level.
  template <class Function>
  auto with_source(const GasLevel& level, const Function& function) const {
    rates_->prepare(expands_ ? level.step_time.background_redshift : options_.redshift);
    if (options_.table_refinement == 1 && !options_.is_original())
      return function(cooling::TableSource{rates_->slice()});
    return function(cooling::NodeSource{rates_->nodes()});
  }

  cooling::CoolingTable read_table(const Communicator& communicator) const {
    auto table = cooling::read_cooling_table(communicator, options_.table);
    if (options_.self_shielding == cooling::Shielding::rahmati && table.hydrogen_ionization.empty())
      throw InputError(
          "cooling.self_shielding = \"rahmati\" requires a table with /UVBRates/Chemistry/k24; {} "
          "has none",
          table.path);
    if (!table.has_metals)
      log::warn("cooling: {} has no metal rates: metallicity is ignored", table.path);
    return table;
  }

  cooling::Gas gas_of(const GasLevel& level) const {
    const GasUnits units(level.step_time.units);
    const cooling::RateGas& gas = rates_->gas();
    return {.units = units,
            .floor = floor(level),
            .hydrogen = gas.hydrogen_per_gram * units.density,
            .metals_count = gas.metals_count,
            .per_solar = 1.0 / options_.solar(),
            .per_energy = 1.0 / units.energy,
            .metals = metals_,
            .delayed = delayed_};
  }

 public:
  const char* name() const override { return "cooling"; }
  void declare(ParameterSchema& schema) override { options_.declare(schema); }
  bool is_wanted() const override { return options_.enabled; }

  std::vector<GasVariable> variables() const override {
    std::vector<GasVariable> variables{metals(options_.initial_metallicity * options_.solar())};
    if (options_.delayed)
      variables.push_back({.name = "delayed", .description = "gas that does not cool yet"});
    return variables;
  }
  std::vector<std::string> accounts() const override {
    return {"cooled", "uv_heated", "floor_energy", "capped", "outside", "ended_exactly"};
  }
  double added_energy(const Ledger& ledger) const override {
    return ledger.total("uv_heated") - ledger.total("cooled") + ledger.total("floor_energy") -
           ledger.total("capped");
  }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[cooling] requires hydro.enabled = true");
    if (!setup.has_units)
      throw InputError(
          "[cooling] requires physical units: set units.length, units.density and units.time in "
          "cgs, or set cosmology.enabled = true");
    options_.check();
    if (setup.expands && options_.redshift > 0.0)
      throw InputError("cooling.redshift is not supported with cosmology.enabled = true");
    const double metals = options_.initial_metallicity * options_.solar();
    if (metals > 1.0)
      throw InputError(
          "cooling.initial_metallicity = {}: the metal mass fraction would be {}; expected at most "
          "1",
          options_.initial_metallicity, metals);
    if (setup.expands && !setup.gas.dual_energy)
      log::warn(
          "cooling in an expanding box with hydro.dual_energy = \"off\": temperatures of cold, "
          "supersonic gas are dominated by truncation error; set hydro.dual_energy = "
          "\"overwrite\"");
    expands_ = setup.expands;
    gamma_ = setup.gas.gamma;
    metals_ = setup.variable("metals");
    delayed_ = options_.delayed ? setup.variable("delayed") : -1;
  }

  cooling::PressureFloor floor(const GasLevel& level) const override {
    if (options_.floor == cooling::FloorKind::jeans)
      return cooling::jeans_floor(level.step_time.newton_constant,
                                  options_.jeans_cells * level.step_time.finest_cell, gamma_);
    if (options_.floor == cooling::FloorKind::none) return {};
    const GasUnits units(level.step_time.units);
    return cooling::polytropic_floor(options_.floor_temperature / units.temperature,
                                     options_.floor_density / units.hydrogen, options_.floor_index,
                                     gamma_);
  }

  void begin(const Communicator& communicator) override {
    std::optional<cooling::CoolingTable> table;
    if (!options_.is_original()) table = read_table(communicator);
    rates_ =
        std::make_unique<cooling::PreparedRates>(options_, gamma_, std::move(table), communicator);
  }

  double longest_step(const GasLevel& level) const override {
    if (options_.largest_change == 0.0) return std::numeric_limits<double>::infinity();
    const double fastest = with_source(level, [&](const auto& source) {
      return largest_of_leaf_cells(
          level, cooling::CoolingRate<std::decay_t<decltype(source)>>{gas_of(level), source});
    });
    return fastest > 0.0 ? options_.largest_change / fastest
                         : std::numeric_limits<double>::infinity();
  }

  void advance(const GasLevel& level, double dt, Ledger& ledger) const override {
    const cooling::Gas gas = gas_of(level);
    const double seconds = dt * gas.units.time;
    const double decay = std::exp(-seconds / (options_.delay_time * cooling::k_megayear));
    std::array<double, cooling::k_accounts> units;
    for (int n = 0; n < cooling::k_accounts; ++n)
      units[n] = n >= cooling::k_outside ? 1.0 : level.cell_volume;
    std::array<ReproducibleSum, cooling::k_accounts> sums;
    with_source(level, [&](const auto& source) {
      using Source = std::decay_t<decltype(source)>;
      const cooling::Step<Source> step{
          level, gas, source, seconds, decay, options_.method, {.tolerance = options_.tolerance}};
      return mesh::add_totals("cooling", level.cells, step, units, sums);
    });
    const std::vector<std::string> names = accounts();
    for (int n = 0; n < cooling::k_accounts; ++n) ledger[names[n]] += sums[n];
  }

 private:
  cooling::CoolingOptions options_;
  bool expands_ = false;
  double gamma_ = 0.0;
  int metals_ = -1, delayed_ = -1;
  std::unique_ptr<cooling::PreparedRates> rates_;
};

template <>
std::unique_ptr<Process> make_process<Cooling>() {
  return std::make_unique<Cooling>();
}

}  // namespace octant::subgrid
