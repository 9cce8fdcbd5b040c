#include "hydro/eos/equation_of_state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"
#include "core/units.hpp"
#include "hydro/hydro_options.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

void EosOptions::declare(ParameterSchema& schema) {
  schema.add("hydro.equation_of_state", kind,
             {.meaning = "Equation of state. ideal: p = (gamma - 1) times the internal energy "
                         "density; isothermal: p = rho hydro.sound_speed^2; barotropic: piecewise "
                         "polytropic, set by hydro.barotropic_densities and "
                         "hydro.barotropic_exponents; white_dwarf: degenerate electrons at zero "
                         "temperature and an ideal gas of ions; stiffened: p = (gamma - 1) times "
                         "the internal energy density - gamma hydro.stiffening_pressure. With "
                         "isothermal and barotropic the pressure of the initial conditions and of "
                         "inflow is replaced"});
  schema.add("hydro.sound_speed", sound_speed,
             {.unit = "length / time",
              .meaning = "Isothermal sound speed, sqrt(p / rho); of the barotropic equation of "
                         "state at the first of hydro.barotropic_densities",
              .min = 0});
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
              .meaning = "Pressure p_inf of the stiffened equation of state; the lowest pressure "
                         "is -p_inf",
              .min = 0});
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
  forbid(eos.kind != EquationOfState::stiffened && eos.stiffening_pressure > 0.0,
         "hydro.stiffening_pressure", "\"stiffened\"");
  if (eos.kind == EquationOfState::barotropic) return;
  const char* const barotropic = "\"barotropic\"";
  forbid(!eos.densities.empty(), "hydro.barotropic_densities", barotropic);
  forbid(!eos.exponents.empty(), "hydro.barotropic_exponents", barotropic);
  forbid(!eos.is_barotropic() && eos.sound_speed > 0.0, "hydro.sound_speed",
         "\"isothermal\" or \"barotropic\"");
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
  const auto refuse = [&](bool is_set, const std::string& value, const char* expected) {
    if (is_set)
      throw InputError("{} is not supported with hydro.equation_of_state = \"{}\"; expected {}",
                       value, name_of(kind), expected);
  };
  const auto text = [](const char* name, std::string_view value) {
    return fmt::format("{} = \"{}\"", name, value);
  };
  const std::string& solver = options.riemann;
  if (has_cold_curve())
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
  refuse(options.has_dual_energy(), text("hydro.dual_energy", name_of(options.dual_energy)),
         "\"off\", because the pressure follows from the density");
  refuse(options.given_pressure_floor > 0.0,
         fmt::format("hydro.pressure_floor = {}", options.given_pressure_floor),
         "0; hydro.density_floor limits the pressure, too");
}

Barotrope EosOptions::barotrope() const {
  Barotrope eos;
  const double ratio = sound_speed * sound_speed;  // p / rho
  if (kind == EquationOfState::isothermal) eos.add_piece(1.0, ratio, 1.0);
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
    case EquationOfState::isothermal: return 1.0;
    case EquationOfState::barotropic: return *std::ranges::min_element(exponents);
    case EquationOfState::white_dwarf: return std::min(gamma, 4.0 / 3.0);
    default: return gamma;
  }
}

// Constants of degenerate electrons (Chandrasekhar 1935, MNRAS 95, 207): A = pi m_e^4 c^5 / (3 h^3)
// and B = 8 pi m_p mu_e (m_e c / h)^3 / 3.
void EosOptions::set_constants(const CodeUnits* units) {
  constexpr double k_pressure_cgs = 6.0023e22, k_density_cgs = 9.81011e5;  // erg cm^-3, g cm^-3
  if (kind != EquationOfState::white_dwarf) return;
  degeneracy_pressure = given_degeneracy_pressure;
  degeneracy_density = given_degeneracy_density;
  if (degeneracy_density > 0.0 && electron_weight != EosOptions{}.electron_weight)
    throw InputError(
        "hydro.electron_weight = {} is incompatible with hydro.degeneracy_density, which it "
        "determines; set one of them",
        electron_weight);
  if (degeneracy_pressure > 0.0 && degeneracy_density > 0.0) return;
  if (!units)
    throw InputError(
        "hydro.equation_of_state = \"white_dwarf\" requires a unit system (units.length, "
        "units.density and units.time), or both hydro.degeneracy_pressure and "
        "hydro.degeneracy_density in code units");
  if (degeneracy_pressure == 0.0) degeneracy_pressure = k_pressure_cgs / units->energy_density();
  if (degeneracy_density == 0.0)
    degeneracy_density = k_density_cgs * electron_weight / units->density();
}

ColdCurve EosOptions::cold_curve() const {
  if (kind == EquationOfState::stiffened) return {ColdCurve::stiffened, stiffening_pressure, 0.0};
  if (kind == EquationOfState::white_dwarf)
    return {ColdCurve::degenerate, degeneracy_pressure, 1.0 / degeneracy_density};
  return {};
}

}  // namespace octant::hydro
