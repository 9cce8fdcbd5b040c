#include "gravity/gravity_options.hpp"

#include "core/parameters.hpp"

namespace octant::gravity {

void declare(ParameterSchema& schema, GravityOptions& o) {
  schema.add("gravity.enabled", o.enabled, {.meaning = "Self-gravity of gas and particles"});
  std::vector<std::string> names;
  for (const auto& kind : o.solvers) names.emplace_back(kind->name());
  schema.add("gravity.solver", o.solver,
             {.meaning = "Solver of the Poisson equation: multigrid, or a fast multipole method "
                         "(fmm; isolated systems)",
              .choices = names});
  schema.add("gravity.base", o.base,
             {.meaning = "Base-level solver of multigrid: fft, multigrid, or auto: fft on CPUs "
                         "where boundaries and grid allow it"});
  schema.add("gravity.laplacian", o.laplacian,
             {.meaning = "Laplacian inverted by the Fourier solver of the base level: the 7-point "
                         "discrete one, as in multigrid, or -k^2 (spectral)"});
  schema.add("gravity.transfer", o.transfer,
             {.meaning = "File of transfer factors for the Fourier modes of the base-level "
                         "potential: a line of scale factors (1 without cosmology), then lines of "
                         "a wave number (2 pi / wavelength, in h/Mpc with cosmology.enabled, "
                         "otherwise per code length) and one factor per scale factor"});
  schema.add("gravity.tolerance", o.tolerance,
             {.meaning = "Relative residual at which the Poisson solve on a level has converged: "
                         "rms residual over the rms right-hand side, or over the second "
                         "differences of the potential where mass outside the level dominates it; "
                         "a residual at round-off always counts as converged",
              .max = 0.1,
              .above = 0.0});
  schema.add("gravity.max_cycles", o.max_cycles,
             {.meaning = "Maximum number of V-cycles per solve; the run stops where "
                         "gravity.tolerance is not reached within it",
              .min = 1});
  schema.add("gravity.constant", o.constant,
             {.unit = "length^3 / (mass time^2)",
              .meaning = "Newton's constant in code units",
              .above = 0.0});
  schema.add(
      "gravity.gradient_order", o.gradient_order,
      {.meaning = "Order of the finite differences of the potential that give the force: 2 or 4",
       .min = 2,
       .max = 4});
  schema.add("gravity.work", o.work,
             {.meaning = "Work of gravity on the mass that flows between cells: forces (work of "
                         "the accelerations, limited by the thermal energy of the gas) or "
                         "potential (mass fluxes times potential differences, which conserves "
                         "total energy and requires hydro.dual_energy = \"on\")"});
  schema.add("gravity.beyond_walls", o.beyond_walls,
             {.meaning = "Treatment of gravity at reflecting boundaries, where the gas is mirrored "
                         "but its gravity is not. refused: a mixture of reflecting and other "
                         "boundaries is an error, and six reflecting boundaries give a warning; "
                         "vacuum: no mass attracts from beyond the walls"});
  for (const auto& kind : o.solvers) kind->declare(schema);
}

}  // namespace octant::gravity
