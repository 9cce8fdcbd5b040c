#include "hydro/eos/equation_of_state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"
#include "core/units.hpp"
#include "hydro/eos/eos_table.hpp"
#include "hydro/hydro_options.hpp"
#include "hydro/reconstruction.hpp"
#include "mesh/geometry.hpp"

namespace octant::hydro {

namespace {

// Declares the parameters of the sound speed of locally isothermal gas.
void declare_profile(ParameterSchema& schema, EosOptions& eos) {
  schema.add(
      "hydro.sound_speed_exponent", eos.sound_speed_exponent,
      {.meaning = "Exponent d ln c / d ln R of the sound speed of locally isothermal gas far "
                  "from the axis; -q_T / 2 for a temperature proportional to R^-q_T",
       .min = -4,
       .max = 4});
  schema.add(
      "hydro.sound_speed_radius", eos.sound_speed_radius,
      {.unit = "length",
       .meaning = "Distance R_0 from the axis at which the sound speed of locally isothermal "
                  "gas without softening is hydro.sound_speed; required with an exponent other "
                  "than 0",
       .min = 0});
  schema.add("hydro.sound_speed_softening", eos.sound_speed_softening,
             {.unit = "length",
              .meaning = "Softening length s of the distance in the sound speed of locally "
                         "isothermal gas, sqrt(R^2 + s^2); required where the axis is in the "
                         "domain",
              .min = 0});
  schema.add("hydro.sound_speed_centre", eos.sound_speed_centre,
             {.unit = "length",
              .meaning = "Point on the axis of the sound speed of locally isothermal gas; empty: "
                         "centre of the domain"});
  schema.add("hydro.sound_speed_axis", eos.sound_speed_axis,
             {.meaning = "Direction of the axis of the sound speed of locally isothermal gas"});
}

}  // namespace

void EosOptions::declare(ParameterSchema& schema) {
  schema.add(
      "hydro.equation_of_state", kind,
      {.meaning = "Equation of state. ideal: p = (gamma - 1) times the internal energy "
                  "density; isothermal: p = rho hydro.sound_speed^2; locally_isothermal: p = rho "
                  "c^2 with a sound speed c that is a fixed function of the distance from "
                  "an axis, see hydro.sound_speed_exponent; barotropic: piecewise "
                  "polytropic, set by hydro.barotropic_densities and "
                  "hydro.barotropic_exponents; white_dwarf: degenerate electrons at zero "
                  "temperature and an ideal gas of ions; stiffened: p = (gamma - 1) times "
                  "the internal energy density - gamma hydro.stiffening_pressure; "
                  "gas_radiation: ideal gas and radiation in equilibrium; table: the file "
                  "hydro.eos_table. With isothermal and barotropic the pressure of the "
                  "initial conditions and of "
                  "inflow is replaced"});
  schema.add("hydro.sound_speed", sound_speed,
             {.unit = "length / time",
              .meaning = "Isothermal sound speed, sqrt(p / rho); of the barotropic equation of "
                         "state at the first of hydro.barotropic_densities, and of locally "
                         "isothermal gas at the distance hydro.sound_speed_radius from the axis",
              .min = 0});
  declare_profile(schema, *this);
  schema.add("hydro.barotropic_densities", densities,
             {.unit = "density",
              .meaning = "Increasing densities at which the exponent of the barotropic equation of "
                         "state changes; at most 7",
              .above = 0.0});
  schema.add("hydro.barotropic_exponents", exponents,
             {.meaning = "Exponents d ln p / d ln rho of the barotropic equation of state below, "
                         "between and above hydro.barotropic_densities; one more than densities, "
                         "and at most hydro.gamma",
              .above = 0.0});
  schema.add("hydro.electron_weight", electron_weight,
             {.meaning = "Nucleons per electron of the white_dwarf equation of state, mu_e",
              .above = 0.0});
  schema.add("hydro.degeneracy_pressure", given_degeneracy_pressure,
             {.unit = "pressure",
              .meaning = "Constant A of the white_dwarf equation of state; 0: 6.0023e22 erg/cm^3, "
                         "which requires [units]",
              .min = 0});
  schema.add("hydro.degeneracy_density", given_degeneracy_density,
             {.unit = "density",
              .meaning = "Constant B of the white_dwarf equation of state, the density at which "
                         "the Fermi momentum of the electrons is m_e c; 0: 9.81011e5 g/cm^3 times "
                         "hydro.electron_weight, which requires [units]",
              .min = 0});
  schema.add("hydro.stiffening_pressure", stiffening_pressure,
             {.unit = "pressure",
              .meaning = "Pressure p_inf of the stiffened equation of state; the gas may expand to "
                         "pressures of -p_inf, but initial pressures must be positive",
              .min = 0});
  schema.add("hydro.molecular_weight", molecular_weight,
             {.meaning = "Mean molecular weight of the gas with the gas_radiation equation of "
                         "state, in proton masses",
              .above = 0.0});
  schema.add("hydro.radiation_constant", given_radiation_constant,
             {.meaning = "Constant of the gas_radiation equation of state: radiation energy "
                         "density, in code units, at a ratio 1 of gas pressure and density; 0: "
                         "4 sigma / c (hydro.molecular_weight m_p / k)^4, which requires [units]",
              .min = 0});
  schema.add("hydro.eos_table", table_path,
             {.meaning = "HDF5 file with the equation of state \"table\": pressure, internal "
                         "energy and sound speed as functions of density and temperature; relative "
                         "paths start at the working directory; requires [units]",
              .is_data_file = true});
  schema.add(
      "hydro.eos_table_tolerance", table_tolerance,
      {.meaning = "Largest relative violation of thermodynamic identities by the derivatives "
                  "of hydro.eos_table",
       .above = 0.0});
}

namespace {

// Throws InputError unless the pieces of a barotropic equation of state are complete and in order.
void check_pieces(const EosOptions& eos, double gamma) {
  const std::vector<double>&densities = eos.densities, &exponents = eos.exponents;
  if (densities.empty() || std::ssize(densities) >= Barotrope::k_max_pieces)
    throw InputError("hydro.barotropic_densities: expected 1 to {} densities, found {}",
                     Barotrope::k_max_pieces - 1, densities.size());
  if (!std::ranges::is_sorted(densities, std::less_equal<>{}))
    throw InputError("hydro.barotropic_densities = [{}]: expected increasing densities",
                     fmt::join(densities, ", "));
  if (exponents.size() != densities.size() + 1)
    throw InputError(
        "hydro.barotropic_exponents: expected {} exponents, one more than "
        "hydro.barotropic_densities, found {}",
        densities.size() + 1, exponents.size());
  const double largest = *std::ranges::max_element(exponents);
  if (largest > gamma)
    throw InputError(
        "hydro.barotropic_exponents: {} exceeds hydro.gamma = {}; set hydro.gamma at least to the "
        "largest exponent",
        largest, gamma);
}

// Throws InputError if parameters of other equations of state are set.
void check_unused(const EosOptions& eos) {
  const auto forbid = [&](bool is_set, const char* name, const char* instead) {
    if (is_set)
      throw InputError("{} requires hydro.equation_of_state = {}; it is \"{}\"", name, instead,
                       name_of(eos.kind));
  };
  const char* const white_dwarf = "\"white_dwarf\"";
  if (eos.kind != EquationOfState::white_dwarf) {
    forbid(eos.electron_weight != EosOptions{}.electron_weight, "hydro.electron_weight",
           white_dwarf);
    forbid(eos.given_degeneracy_pressure > 0.0, "hydro.degeneracy_pressure", white_dwarf);
    forbid(eos.given_degeneracy_density > 0.0, "hydro.degeneracy_density", white_dwarf);
  }
  if (eos.kind != EquationOfState::gas_radiation) {
    const char* const gas_radiation = "\"gas_radiation\"";
    forbid(eos.molecular_weight != EosOptions{}.molecular_weight, "hydro.molecular_weight",
           gas_radiation);
    forbid(eos.given_radiation_constant > 0.0, "hydro.radiation_constant", gas_radiation);
  }
  if (eos.kind != EquationOfState::table) {
    forbid(!eos.table_path.empty(), "hydro.eos_table", "\"table\"");
    forbid(eos.table_tolerance != EosOptions{}.table_tolerance, "hydro.eos_table_tolerance",
           "\"table\"");
  }
  forbid(eos.kind != EquationOfState::stiffened && eos.stiffening_pressure > 0.0,
         "hydro.stiffening_pressure", "\"stiffened\"");
  if (eos.kind != EquationOfState::locally_isothermal) {
    const EosOptions unset;
    const char* const local = "\"locally_isothermal\"";
    forbid(eos.sound_speed_exponent != unset.sound_speed_exponent, "hydro.sound_speed_exponent",
           local);
    forbid(eos.sound_speed_radius > 0.0, "hydro.sound_speed_radius", local);
    forbid(eos.sound_speed_softening > 0.0, "hydro.sound_speed_softening", local);
    forbid(!eos.sound_speed_centre.empty(), "hydro.sound_speed_centre", local);
    forbid(eos.sound_speed_axis != unset.sound_speed_axis, "hydro.sound_speed_axis", local);
  }
  if (eos.kind == EquationOfState::barotropic) return;
  const char* const barotropic = "\"barotropic\"";
  forbid(!eos.densities.empty(), "hydro.barotropic_densities", barotropic);
  forbid(!eos.exponents.empty(), "hydro.barotropic_exponents", barotropic);
  forbid(!eos.is_barotropic() && eos.sound_speed > 0.0, "hydro.sound_speed",
         "\"isothermal\", \"locally_isothermal\" or \"barotropic\"");
}

}  // namespace

void EosOptions::check(const HydroOptions& options) const {
  check_unused(*this);
  if (kind == EquationOfState::ideal) return;
  if (is_barotropic() && sound_speed == 0.0)
    throw InputError("hydro.equation_of_state = \"{}\" requires hydro.sound_speed > 0",
                     name_of(kind));
  if (kind == EquationOfState::barotropic) check_pieces(*this, options.gamma);
  if (kind == EquationOfState::stiffened && stiffening_pressure == 0.0)
    throw InputError(
        "hydro.equation_of_state = \"stiffened\" requires "
        "hydro.stiffening_pressure > 0");
  if (kind == EquationOfState::table && table_path.empty())
    throw InputError("hydro.equation_of_state = \"table\" requires hydro.eos_table");
  const auto refuse = [&](bool is_set, const std::string& value, const char* expected) {
    if (is_set)
      throw InputError("{} is not supported with hydro.equation_of_state = \"{}\"; expected {}",
                       value, name_of(kind), expected);
  };
  const auto text = [](const char* name, std::string_view value) {
    return fmt::format("{} = \"{}\"", name, value);
  };
  const std::string& solver = options.riemann;
  if (has_cold_curve() || is_real())
    refuse(solver == "exact", text("hydro.riemann", solver),
           "\"llf\", \"hll\", \"hllc\", \"hllc_hybrid\" or \"hllc_low_mach\"");
  else
    refuse(solver != "hll" && solver != "hllc" && solver != "hllc_hybrid",
           text("hydro.riemann", solver), "\"hll\", \"hllc\" or \"hllc_hybrid\"");
  const auto profiles = Reconstructions::names();
  refuse(std::ranges::find(profiles, options.reconstruction) == profiles.end(),
         text("hydro.reconstruction", options.reconstruction), "\"plm\" or \"ppm\"");
  refuse(options.contact_steepening, "hydro.contact_steepening = true", "false");
  refuse(options.is_balanced(), text("hydro.well_balanced", name_of(options.well_balanced)),
         "\"off\"");
  if (has_cold_curve()) return;
  if (is_real()) {
    refuse(options.has_dual_energy(), text("hydro.dual_energy", name_of(options.dual_energy)),
           "\"off\", because the entropy of dual energy is that of an ideal gas");
    return;
  }
  refuse(options.has_dual_energy(), text("hydro.dual_energy", name_of(options.dual_energy)),
         "\"off\", because the pressure follows from the density");
  refuse(options.given_pressure_floor > 0.0,
         fmt::format("hydro.pressure_floor = {}", options.given_pressure_floor),
         "0; hydro.density_floor limits the pressure, too");
}

void EosOptions::set_profile(const mesh::Geometry& geometry, int dimensions) {
  profile = {};
  if (kind != EquationOfState::locally_isothermal || sound_speed_exponent == 0.0) return;
  if (!sound_speed_centre.empty() && sound_speed_centre.size() != 3)
    throw InputError("hydro.sound_speed_centre has {} numbers; expected three, x, y and z",
                     sound_speed_centre.size());
  if (sound_speed_radius == 0.0)
    throw InputError(
        "hydro.sound_speed_exponent = {} requires hydro.sound_speed_radius > 0, the distance from "
        "the axis at which the sound speed is hydro.sound_speed",
        sound_speed_exponent);
  profile.exponent = sound_speed_exponent;
  profile.inverse_square_radius = 1.0 / (sound_speed_radius * sound_speed_radius);
  profile.square_softening = sound_speed_softening * sound_speed_softening;
  bool varies = false;
  double square_distance = 0.0;  // squared distance of the axis from the domain
  for (int axis = 0; axis < 3; ++axis) {
    const double lower = geometry.lower()[axis], upper = geometry.upper()[axis];
    profile.centre[axis] =
        sound_speed_centre.empty() ? 0.5 * (lower + upper) : sound_speed_centre[axis];
    if (axis >= dimensions || axis == static_cast<int>(sound_speed_axis)) continue;
    varies = true;
    profile.weight[axis] = 1.0;
    const double outside =
        std::max({lower - profile.centre[axis], profile.centre[axis] - upper, 0.0});
    square_distance += outside * outside;
    if (geometry.periodic(axis))
      throw InputError(
          "hydro.equation_of_state = \"locally_isothermal\" is not supported with "
          "mesh.boundary_{} = \"periodic\", where the sound speed would jump; expected "
          "\"outflow\", \"reflecting\" or \"inflow\", or hydro.sound_speed_axis = \"{}\"",
          names_of(ProfileAxis{})[axis], names_of(ProfileAxis{})[axis]);
  }
  if (!varies)
    throw InputError(
        "hydro.sound_speed_axis = \"{}\": with hydro.dimensions = {} the distance from this axis "
        "does not vary; expected another axis",
        name_of(sound_speed_axis), dimensions);
  // Sweeps also evaluate the profile in the ghost cells next to the domain.
  if (sound_speed_softening == 0.0 && std::sqrt(square_distance) < 2.0 * geometry.cell_size(0))
    throw InputError(
        "hydro.sound_speed_softening = 0 requires an axis outside the domain, by two cells of the "
        "base grid or more; the sound speed would be {} at the axis. Set a softening length",
        sound_speed_exponent > 0.0 ? "zero" : "infinite");
}

double EosOptions::barotropic_pressure(double density,
                                       const std::array<double, 3>& position) const {
  if (profile.varies())
    return sound_speed_profile().at(position[0], position[1], position[2]) * density;
  return barotrope().at(density).pressure;
}

Barotrope EosOptions::barotrope() const {
  Barotrope eos;
  const double ratio = sound_speed * sound_speed;  // p / rho
  if (is_isothermal()) eos.add_piece(1.0, ratio, 1.0);
  if (kind != EquationOfState::barotropic) return eos;
  double density = densities.front(), pressure = ratio * density;
  eos.add_piece(density, pressure, exponents.front());
  for (std::size_t n = 0; n < densities.size(); ++n) {
    if (n > 0) pressure *= std::pow(densities[n] / density, exponents[n]);
    density = densities[n];
    eos.add_piece(density, pressure, exponents[n + 1]);
  }
  return eos;
}

double EosOptions::smallest_exponent(double gamma) const {
  switch (kind) {
    case EquationOfState::isothermal:
    case EquationOfState::locally_isothermal: return 1.0;
    case EquationOfState::barotropic: return *std::ranges::min_element(exponents);
    case EquationOfState::white_dwarf:
    case EquationOfState::gas_radiation: return std::min(gamma, 4.0 / 3.0);
    case EquationOfState::table: return table->grid().smallest_exponent;
    default: return gamma;
  }
}

namespace {

// Constants of degenerate electrons (Chandrasekhar 1935, MNRAS 95, 207): A = pi m_e^4 c^5 / (3 h^3)
// and B = 8 pi m_p mu_e (m_e c / h)^3 / 3.
void set_degeneracy(EosOptions& eos, const CodeUnits* units) {
  constexpr double k_pressure_cgs = 6.0023e22, k_density_cgs = 9.81011e5;  // erg cm^-3, g cm^-3
  eos.degeneracy_pressure = eos.given_degeneracy_pressure;
  eos.degeneracy_density = eos.given_degeneracy_density;
  if (eos.degeneracy_density > 0.0 && eos.electron_weight != EosOptions{}.electron_weight)
    throw InputError(
        "hydro.electron_weight = {} is incompatible with hydro.degeneracy_density, which it "
        "determines; set one of them",
        eos.electron_weight);
  if (eos.degeneracy_pressure > 0.0 && eos.degeneracy_density > 0.0) return;
  if (!units)
    throw InputError(
        "hydro.equation_of_state = \"white_dwarf\" requires a unit system (units.length, "
        "units.density and units.time), or both hydro.degeneracy_pressure and "
        "hydro.degeneracy_density in code units");
  if (eos.degeneracy_pressure == 0.0)
    eos.degeneracy_pressure = k_pressure_cgs / units->energy_density();
  if (eos.degeneracy_density == 0.0)
    eos.degeneracy_density = k_density_cgs * eos.electron_weight / units->density();
}

// Energy density a T^4 of radiation at the temperature mu m_p / k p / rho, at p / rho = 1.
void set_radiation(EosOptions& eos, const CodeUnits* units) {
  eos.radiation_constant = eos.given_radiation_constant;
  if (eos.radiation_constant > 0.0) {
    if (eos.molecular_weight != EosOptions{}.molecular_weight)
      throw InputError(
          "hydro.molecular_weight = {} is incompatible with hydro.radiation_constant, which it "
          "determines; set one of them",
          eos.molecular_weight);
    return;
  }
  if (!units)
    throw InputError(
        "hydro.equation_of_state = \"gas_radiation\" requires a unit system (units.length, "
        "units.density and units.time), or hydro.radiation_constant in code units");
  const double kelvin = eos.molecular_weight * units->temperature();
  eos.radiation_constant = constants::k_radiation * std::pow(kelvin, 4) / units->energy_density();
}

}  // namespace

void EosOptions::set_constants(const CodeUnits* units, double /*gamma*/) {
  if (kind == EquationOfState::white_dwarf) set_degeneracy(*this, units);
  if (kind == EquationOfState::gas_radiation) set_radiation(*this, units);
  if (kind == EquationOfState::table && !units)
    throw InputError(
        "hydro.equation_of_state = \"table\" requires a unit system (units.length, units.density "
        "and units.time)");
}

RealGas EosOptions::real_gas(double gamma) const {
  RealGas gas;
  if (kind == EquationOfState::gas_radiation) {
    gas.kind = RealGas::radiation;
    gas.with_radiation = {radiation_constant, gamma};
    gas.smallest_ratio = gas.with_radiation.smallest_ratio();
    gas.largest_exponent = gas.with_radiation.largest_exponent();
  } else if (table) {
    gas.kind = RealGas::table;
    gas.grid = table->grid();
    gas.smallest_ratio = gas.grid.smallest_ratio;
    gas.largest_exponent = gas.grid.largest_exponent;
  }
  return gas;
}

ColdCurve EosOptions::cold_curve() const {
  if (kind == EquationOfState::stiffened) return {ColdCurve::stiffened, stiffening_pressure, 0.0};
  if (kind == EquationOfState::white_dwarf)
    return {ColdCurve::degenerate, degeneracy_pressure, 1.0 / degeneracy_density};
  return {};
}

}  // namespace octant::hydro
