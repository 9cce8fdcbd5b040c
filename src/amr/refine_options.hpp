// Refinement criteria: section [refine] of the parameters.
#pragma once

#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "hydro/hydro_options.hpp"
#include "hydro/refinement.hpp"
#include "problems/region.hpp"

namespace octant {

// Mean density and energy density of the initial state, rounded to powers of two, so that unit
// systems that differ by powers of two give the same bits.
struct InitialScales {
  double density = 1.0, energy = 1.0;

  // Scale of a primitive variable; 1 for scalars, 0 (unknown) for fields other than gas.
  double of(int variable, const hydro::HydroOptions& gas) const;
};

// Section [refine].
struct RefineOptions {
  std::vector<std::string> gradient_fields, curvature_fields;
  std::vector<double> gradient, curvature;
  double floor = 0.0;
  std::vector<double> density;
  double jeans = 0.0;  // see AmrOptions::criteria()
  std::vector<double> mass;
  double mass_unit = 0.0;
  double gas_weight = 1.0;
  int mass_scalar = -1;
  double mass_scalar_above = 0.01;
  bool holdback = false;
  int buffer = 1;
  int interval = 1;
  problems::RefinedRegion region;
  problems::RefinedPlaces places;

  // Refinement criteria of one level. Throws InputError for an unknown field or lists of unequal
  // length.
  std::vector<hydro::RefinementCriterion> criteria(int level, const hydro::HydroOptions& gas,
                                                   const InitialScales& scales) const;
};

// Declares the section [refine]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, RefineOptions& options);

}  // namespace octant
