#include "problems/star_matter.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/error.hpp"
#include "hydro/eos/equation_of_state.hpp"

namespace octant::problems {

StarMatter StarMatter::of_pieces(const hydro::Barotrope& barotrope) {
  StarMatter matter{.kind = pieces, .barotrope = barotrope};
  if (!(barotrope.exponent[0] > 1.0))
    throw InputError(
        "hydro.barotropic_exponents: stars require a first exponent above 1, because gas with the "
        "exponent {} has no surface",
        barotrope.exponent[0]);
  for (int n = 0; n < barotrope.pieces; ++n) {
    const double gamma = barotrope.exponent[n];
    if (gamma < 1.0)
      throw InputError(
          "hydro.barotropic_exponents: {} is below 1, for which there are no models of stars",
          gamma);
    const double ratio = barotrope.pressure[n] / barotrope.density[n];
    // The first piece extends to zero density, where the enthalpy vanishes.
    if (n == 0) matter.enthalpy_at[0] = gamma / (gamma - 1.0) * ratio;
    if (n + 1 == barotrope.pieces) break;
    const double growth = barotrope.density[n + 1] / barotrope.density[n];
    const double rise = gamma == 1.0
                            ? std::log(growth)
                            : gamma / (gamma - 1.0) * (std::pow(growth, gamma - 1.0) - 1.0);
    matter.enthalpy_at[n + 1] = matter.enthalpy_at[n] + ratio * rise;
  }
  return matter;
}

StarMatter StarMatter::of_gas(const hydro::EosOptions& eos, double index) {
  switch (eos.kind) {
    case hydro::EquationOfState::white_dwarf:
      return of_electrons(eos.degeneracy_pressure, eos.degeneracy_density);
    case hydro::EquationOfState::barotropic: return of_pieces(eos.barotrope());
    case hydro::EquationOfState::isothermal:
    case hydro::EquationOfState::locally_isothermal:
      throw InputError(
          "hydro.equation_of_state = \"{}\": isothermal gas forms no stars with a surface; "
          "expected \"ideal\", \"white_dwarf\" or \"barotropic\"",
          name_of(eos.kind));
    default: return of_index(index);
  }
}

double StarMatter::lowest_enthalpy() const {
  if (kind == degenerate) return 8e-7 * unit_of_pressure / unit_of_density;
  return 1e-6 * enthalpy_at[0];
}

double StarMatter::highest_enthalpy() const {
  if (kind == degenerate) return 8e4 * unit_of_pressure / unit_of_density;
  return 1e4 * enthalpy_at[barotrope.pieces - 1];
}

std::string StarMatter::text() const {
  if (kind == polytrope) return fmt::format("polytropic index {}", index);
  return fmt::format("hydro.equation_of_state = \"{}\"",
                     kind == degenerate ? "white_dwarf" : "barotropic");
}

std::string StarMatter::text_of_mass(double mass) const {
  if (!(solar_mass > 0.0)) return fmt::format("{:.6g}", mass);
  return fmt::format("{:.6g} ({:.6g} Msun)", mass, mass / solar_mass);
}

std::string StarMatter::description() const {
  if (kind == degenerate)
    return fmt::format("white_dwarf A = {:.17g}, B = {:.17g}", unit_of_pressure, unit_of_density);
  std::string all = "barotropic";
  for (int n = 0; n < barotrope.pieces; ++n)
    all += fmt::format(" ({:.17g}, {:.17g}, {:.17g})", barotrope.density[n], barotrope.pressure[n],
                       barotrope.exponent[n]);
  return all;
}

}  // namespace octant::problems
