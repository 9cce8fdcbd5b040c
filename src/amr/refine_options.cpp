#include "amr/refine_options.hpp"

#include <cmath>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/names.hpp"

namespace octant {

void declare(ParameterSchema& schema, RefineOptions& o) {
  const std::string fields =
      "density, pressure, velocity_x, velocity_y, velocity_z or scalar_0, ...";
  schema.add(
      "refine.gradient_fields", o.gradient_fields,
      {.meaning = "Fields whose relative difference across a cell triggers refinement: " + fields});
  schema.add("refine.gradient", o.gradient,
             {.meaning = "Thresholds of |q+ - q-| / (|q+| + |q-|) for refinement, one per entry of "
                         "refine.gradient_fields",
              .min = 0});
  schema.add(
      "refine.curvature_fields", o.curvature_fields,
      {.meaning = "Fields whose normalised second derivative (Löhner 1987) triggers refinement"});
  schema.add("refine.curvature", o.curvature,
             {.meaning = "Thresholds of the normalised second derivative for refinement, one per "
                         "entry of refine.curvature_fields",
              .min = 0});
  schema.add(
      "refine.floor", o.floor,
      {.meaning =
           "Noise floor in the denominators of the gradient and curvature criteria, in the same "
           "units as the field; 0: 1e-10 times the density and energy scales of the initial "
           "conditions",
       .min = 0});
  schema.add(
      "refine.density", o.density,
      {.unit = "density", .meaning = "Density thresholds for refinement, one per level", .min = 0});
  schema.add("refine.jeans", o.jeans,
             {.unit = "cells",
              .meaning = "Minimum number of cells per Jeans length c sqrt(pi / (G rho)), below "
                         "which a cell is refined; 0: no Jeans refinement",
              .min = 0});
  schema.add("refine.mass", o.mass,
             {.unit = "refine.mass_unit",
              .meaning = "Mass thresholds (gas and particles) for refinement, one per level",
              .min = 0});
  schema.add("refine.mass_unit", o.mass_unit,
             {.unit = "mass",
              .meaning = "Unit of refine.mass; 0: mean mass of a base cell in a cosmological box",
              .min = 0});
  schema.add("refine.gas_weight", o.gas_weight,
             {.meaning = "Weight of the gas mass in refine.mass; for a gas fraction f, (1 - f) / f "
                         "gives the gas the same weight as the dark matter, as in RAMSES",
              .min = 0});
  schema.add("refine.mass_scalar", o.mass_scalar,
             {.meaning = "Index (0, 1, ...) of the passive scalar that marks the gas to which "
                         "refine.mass applies, as in zoom-in simulations; -1: all gas",
              .min = -1});
  schema.add("refine.mass_scalar_above", o.mass_scalar_above,
             {.meaning = "Minimum concentration of refine.mass_scalar for refine.mass to apply",
              .min = 0});
  schema.add("refine.holdback", o.holdback,
             {.meaning = "Delayed release of fine levels, for nearly constant proper resolution: "
                         "level max_level - n becomes available at a = 0.79 / 2^n"});
  schema.add(
      "refine.buffer", o.buffer,
      {.unit = "cells",
       .meaning = "Width of the layer around flagged cells that is also refined, at most half a "
                  "block. With gravitating particles, the width is at least 2 around cells flagged "
                  "by refine.mass, and half a block where the mass of a single particle exceeds "
                  "the threshold",
       .min = 0,
       .max = 16});
  schema.add("refine.interval", o.interval,
             {.unit = "steps", .meaning = "Number of coarse steps between regrids", .min = 1});
  o.region.declare(schema);
  o.places.declare(schema);
}

namespace {

// Index of a variable from its name in snapshots.
int field_index(const std::string& name, const hydro::HydroOptions& gas) {
  if (const auto place = gas.variable_index(name)) return *place;
  const auto known = shown_names(gas.variables());
  const std::string help = suggestion(name, known, "did you mean ");
  throw InputError("refine: unknown field \"{}\"; {}expected {}", name,
                   help.empty() ? "" : help + "; ", fmt::join(known, ", "));
}

// Relative changes of a field below this value are noise.
constexpr double k_noise_fraction = 1e-10;

void add_criteria(std::vector<hydro::RefinementCriterion>& all, const char* key,
                  hydro::RefinementKind kind, const std::vector<std::string>& fields,
                  const std::vector<double>& thresholds, double floor,
                  const hydro::HydroOptions& gas, const InitialScales& scales) {
  if (fields.size() != thresholds.size())
    throw InputError("refine.{} has {} thresholds for the {} fields of refine.{}_fields", key,
                     thresholds.size(), fields.size(), key);
  for (std::size_t n = 0; n < fields.size(); ++n) {
    const int variable = field_index(fields[n], gas);
    all.push_back({kind, variable, thresholds[n],
                   floor > 0.0 ? floor : k_noise_fraction * scales.of(variable, gas)});
  }
}

}  // namespace

double InitialScales::of(int variable, const hydro::HydroOptions& gas) const {
  if (variable == hydro::k_density) return density;
  if (variable == hydro::k_pressure) return energy;
  if (variable < hydro::k_hydro_variables) return std::sqrt(energy / density);
  if (gas.has_dual_energy() && variable == hydro::k_entropy)
    return energy / std::pow(density, gas.gamma);
  if (variable >= gas.variable_count()) return 0.0;  // a field of other physics: scale unknown
  return 1.0;
}

std::vector<hydro::RefinementCriterion> RefineOptions::criteria(int level,
                                                                const hydro::HydroOptions& gas,
                                                                const InitialScales& scales) const {
  using hydro::RefinementKind;
  std::vector<hydro::RefinementCriterion> all;
  add_criteria(all, "gradient", RefinementKind::gradient, gradient_fields, gradient, floor, gas,
               scales);
  add_criteria(all, "curvature", RefinementKind::second_derivative, curvature_fields, curvature,
               floor, gas, scales);
  if (level < static_cast<int>(density.size()))
    all.push_back({RefinementKind::density, hydro::k_density, density[level], 0.0});
  return all;
}

}  // namespace octant
