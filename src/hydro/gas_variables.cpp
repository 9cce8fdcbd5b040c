#include "hydro/gas_variables.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "hydro/hydro_options.hpp"

namespace octant::hydro {

namespace {

// In the order of Conserved, which is that of Primitive.
const GasVariables k_euler_variables{
    {.name = "density",
     .unit = "mass / length^3",
     .description = "mass density of the gas",
     .role = GasRole::conserved,
     .stored = {"density", "mass / length^3", "mass density of the gas"}},
    {.name = "velocity_x",
     .unit = "length / time",
     .description = "gas velocity along x",
     .role = GasRole::conserved,
     .vector_axis = 0,
     .stored = {"momentum_x", "mass / (length^2 time)", "momentum density"}},
    {.name = "velocity_y",
     .unit = "length / time",
     .description = "gas velocity along y",
     .role = GasRole::conserved,
     .vector_axis = 1,
     .stored = {"momentum_y", "mass / (length^2 time)", "momentum density"}},
    {.name = "velocity_z",
     .unit = "length / time",
     .description = "gas velocity along z",
     .role = GasRole::conserved,
     .vector_axis = 2,
     .stored = {"momentum_z", "mass / (length^2 time)", "momentum density"}},
    {.name = "pressure",
     .unit = "mass / (length time^2)",
     .description = "thermal pressure of the gas",
     .role = GasRole::conserved,
     .stored = {"total_energy", "mass / (length time^2)", "total energy density of the gas"}}};

const GasVariable k_entropy_variable{.name = "entropy",
                                     .unit = "code",
                                     .description = "p / rho^gamma as carried by dual energy",
                                     .role = GasRole::tracer};

}  // namespace

GasField GasVariable::stored_field() const {
  if (!stored.name.empty()) return stored;
  const std::string density = "mass / length^3";
  return {name, unit == "1" ? density : unit + " " + density, description + ", times the density"};
}

std::string passive_scalar_name(int number) { return fmt::format("scalar_{}", number); }

GasVariables passive_scalars(int count) {
  GasVariables scalars;
  for (int n = 0; n < count; ++n)
    scalars.push_back({.name = passive_scalar_name(n), .role = GasRole::passive});
  return scalars;
}

GasVariables spin_variables() {
  GasVariables spin;
  for (const char axis : {'x', 'y', 'z'})
    spin.push_back({.name = fmt::format("spin_{}", axis),
                    .unit = "length^2 / time",
                    .description = fmt::format(
                        "angular momentum about {} of the gas in a cell about its centre", axis),
                    .role = GasRole::tracer});
  return spin;
}

std::vector<std::string> shown_names(const GasVariables& variables) {
  std::vector<std::string> names;
  for (const GasVariable& variable : variables) names.push_back(variable.name);
  return names;
}

GasVariables HydroOptions::variables() const {
  GasVariables all = k_euler_variables;
  if (has_dual_energy()) all.push_back(k_entropy_variable);
  all.insert(all.end(), scalars.begin(), scalars.end());
  return all;
}

std::optional<int> HydroOptions::place(const std::string& name) const {
  const auto names = shown_names(variables());
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

// Entropy and spin are no fractions: entropy is reset from the energy, spin has sources at faces.
FractionGroups HydroOptions::fractions() const {
  FractionGroups groups;
  const GasVariables all = variables();
  const int count = static_cast<int>(all.size());
  int first_passive = count, passive = 0;
  for (int n = 0; n < count; ++n) {
    if (all[n].role != GasRole::passive && all[n].role != GasRole::species) continue;
    groups.end[n] = static_cast<std::int8_t>(n + 1);
    if (all[n].role != GasRole::passive) continue;
    first_passive = std::min(first_passive, n);
    ++passive;
  }
  if (fraction_groups.empty()) {
    if (passive > 1) groups.end[first_passive] = static_cast<std::int8_t>(first_passive + passive);
    return groups;
  }
  groups.tolerance = std::numeric_limits<double>::infinity();
  int first = first_passive;
  for (const int size : fraction_groups) {
    groups.end[first] = static_cast<std::int8_t>(first + size);
    first += size;
  }
  return groups;
}

}  // namespace octant::hydro
