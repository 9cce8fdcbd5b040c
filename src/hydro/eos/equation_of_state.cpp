#include "hydro/eos/equation_of_state.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"
#include "hydro/hydro_options.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

void EosOptions::declare(ParameterSchema& schema) {
  schema.add("hydro.equation_of_state", kind,
             {.meaning = "Equation of state. ideal: p = (gamma - 1) times the internal energy "
                         "density; isothermal: p = rho hydro.sound_speed^2; barotropic: piecewise "
                         "polytropic, set by hydro.barotropic_densities and "
                         "hydro.barotropic_exponents. The last two replace the pressure of the "
                         "initial conditions and of inflow"});
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
  if (!is_barotropic()) return;
  if (sound_speed == 0.0)
    throw InputError("hydro.equation_of_state = \"{}\" requires hydro.sound_speed > 0",
                     name_of(kind));
  if (kind == EquationOfState::barotropic) check_pieces(*this, options.gamma);
  const auto refuse = [&](bool is_set, const std::string& value, const char* expected) {
    if (is_set)
      throw InputError("{} is not supported with hydro.equation_of_state = \"{}\"; expected {}",
                       value, name_of(kind), expected);
  };
  const auto text = [](const char* name, std::string_view value) {
    return fmt::format("{} = \"{}\"", name, value);
  };
  const std::string& solver = options.riemann;
  refuse(solver != "hll" && solver != "hllc" && solver != "hllc_hybrid",
         text("hydro.riemann", solver), "\"hll\", \"hllc\" or \"hllc_hybrid\"");
  const auto profiles = Reconstructions::names();
  refuse(std::ranges::find(profiles, options.reconstruction) == profiles.end(),
         text("hydro.reconstruction", options.reconstruction), "\"plm\" or \"ppm\"");
  refuse(options.contact_steepening, "hydro.contact_steepening = true", "false");
  refuse(options.has_dual_energy(), text("hydro.dual_energy", name_of(options.dual_energy)),
         "\"off\", because the pressure follows from the density");
  refuse(options.is_balanced(), text("hydro.well_balanced", name_of(options.well_balanced)),
         "\"off\"");
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

double EosOptions::smallest_exponent() const {
  return kind == EquationOfState::barotropic ? *std::ranges::min_element(exponents) : 1.0;
}

}  // namespace octant::hydro
