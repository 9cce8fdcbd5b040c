#include "gravity/gravity_options.hpp"

#include "core/parameters.hpp"

namespace octant::gravity {

void declare(ParameterSchema& schema, GravityOptions& o) {
  schema.add("gravity.enabled", o.enabled, {.meaning = "Gas attracts itself"});
  std::vector<std::string> names;
  for (const auto& kind : o.solvers) names.emplace_back(kind->name());
  schema.add("gravity.solver", o.solver,
             {.meaning = "How the potential is found", .choices = names});
  schema.add("gravity.base", o.base,
             {.meaning = "How multigrid's base level is solved: fft, multigrid, or auto: fft where "
                         "it can be"});
  schema.add("gravity.laplacian", o.laplacian,
             {.meaning = "What fft inverts: the discrete 7-point Laplacian, as multigrid does, or "
                         "-k^2 of the modes (spectral)"});
  schema.add("gravity.transfer", o.transfer,
             {.meaning = "File with factors that the modes of the base level's potential are "
                         "multiplied by: a line of scale factors (1 where nothing expands), then "
                         "lines of a wave number (2 pi / wavelength, in h/Mpc with "
                         "cosmology.enabled, else per length) and a factor for each of them"});
  schema.add(
      "gravity.tolerance", o.tolerance,
      {.meaning = "Residual of the Poisson equation at which a level's solution is good "
                  "enough, relative to the right-hand side, or to the second differences of "
                  "the potential where mass outside of the level makes most of it; the least "
                  "residual that rounding allows is always good enough",
       .max = 0.1,
       .above = 0.0});
  schema.add("gravity.max_cycles", o.max_cycles,
             {.meaning = "V-cycles after which a run stops that has not reached it", .min = 1});
  schema.add("gravity.constant", o.constant,
             {.unit = "length^3 / (mass time^2)",
              .meaning = "Newton's constant in code units",
              .above = 0.0});
  schema.add(
      "gravity.gradient_order", o.gradient_order,
      {.meaning = "Order of the differences that make the force: 2 or 4", .min = 2, .max = 4});
  schema.add(
      "gravity.work", o.work,
      {.meaning = "What the work on mass that flows is found from: forces, and no more of it than "
                  "the gas's heat can pay; or potential, which conserves total energy and needs "
                  "hydro.dual_energy = \"on\""});
  schema.add(
      "gravity.beyond_walls", o.beyond_walls,
      {.meaning = "Gravity at reflecting sides of the domain, where gas is mirrored but no solver "
                  "mirrors mass. refused: a domain with some reflecting sides is refused, and one "
                  "with six is taken for walls around the whole system, with a warning; vacuum: "
                  "nothing attracts beyond reflecting sides, which is meant"});
  for (const auto& kind : o.solvers) kind->declare(schema);
}

}  // namespace octant::gravity
