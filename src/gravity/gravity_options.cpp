#include "gravity/gravity_options.hpp"

#include "core/parameters.hpp"

namespace octant::gravity {

void declare(ParameterSchema& schema, GravityOptions& o) {
  schema.add("gravity.enabled", o.enabled, {.meaning = "Self-gravity of gas and particles"});
  std::vector<std::string> names;
  for (const auto& kind : o.solvers) names.emplace_back(kind->name());
  schema.add("gravity.solver", o.solver,
             {.meaning = "Poisson solver: multigrid, or a fast multipole method "
                         "(fmm; isolated systems)",
              .choices = names});
  schema.add("gravity.base", o.base,
             {.meaning = "Poisson solver on the AMR base level, for gravity.solver = "
                         "\"multigrid\": fft, multigrid, or auto (fft on "
                         "CPUs if boundaries and grid allow it, otherwise multigrid)"});
  schema.add("gravity.laplacian", o.laplacian,
             {.meaning = "Laplacian inverted by the Fourier solver on the base level: discrete "
                         "(7-point stencil, as in multigrid) or spectral (-k^2)"});
  schema.add(
      "gravity.transfer", o.transfer,
      {.meaning = "File of transfer factors for the Fourier modes of the base-level potential. The "
                  "first line lists scale factors (1 without cosmology); each further line lists a "
                  "wavenumber (2 pi / wavelength, in h/Mpc with cosmology.enabled, otherwise per "
                  "code length) and one factor per scale factor"});
  schema.add("gravity.tolerance", o.tolerance,
             {.meaning = "Relative residual at which the Poisson solve on a level is considered "
                         "converged: rms residual over the rms right-hand side, or over the second "
                         "differences of the potential where mass outside the level dominates the "
                         "potential; a residual at round-off level always counts as converged",
              .max = 0.1,
              .above = 0.0});
  schema.add("gravity.max_cycles", o.max_cycles,
             {.meaning = "Maximum number of V-cycles per solve; the run stops if gravity.tolerance "
                         "has not been reached by then",
              .min = 1});
  schema.add("gravity.constant", o.constant,
             {.unit = "length^3 / (mass time^2)",
              .meaning = "Newton's constant in code units",
              .above = 0.0});
  schema.add("gravity.gradient_order", o.gradient_order,
             {.meaning = "Order of the finite differences used to compute accelerations from the "
                         "potential: 2 or 4",
              .min = 2,
              .max = 4});
  schema.add("gravity.work", o.work,
             {.meaning = "Gravitational work on the mass fluxes between cells: forces (work of the "
                         "accelerations, limited by the thermal energy of the gas) or potential "
                         "(mass fluxes times potential differences; conserves total energy and "
                         "requires hydro.dual_energy = \"on\")"});
  schema.add(
      "gravity.beyond_walls", o.beyond_walls,
      {.meaning =
           "Treatment of gravity at reflecting boundaries, which mirror the gas but have no image "
           "masses. refused: a combination of reflecting and other boundaries is an error, and six "
           "reflecting boundaries give a warning; vacuum: the space beyond the walls is empty"});
  for (const auto& kind : o.solvers) kind->declare(schema);
}

}  // namespace octant::gravity
