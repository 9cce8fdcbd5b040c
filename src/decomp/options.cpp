#include "decomp/options.hpp"

#include <cmath>

#include "core/parameters.hpp"

namespace octant {

double BalanceOptions::substeps(int level, bool subcycle) const {
  return subcycle && cost == "time" ? std::ldexp(1.0, level) : 1.0;
}

void declare(ParameterSchema& schema, BalanceOptions& options) {
  schema.add("balance.decomposition", options.decomposition,
             {.meaning = "How space is divided among ranks: recursive k-section, or pieces of a "
                         "Hilbert or Morton curve",
              .choices = {"ksection", "hilbert", "morton"}});
  schema.add("balance.policy", options.policy,
             {.meaning = "How blocks are placed on ranks: each rank owns a contiguous region",
              .choices = {"contiguous"}});
  schema.add("balance.interval", options.interval,
             {.unit = "coarse steps",
              .meaning = "How often blocks are redistributed; 0 for never",
              .min = 0});
  schema.add(
      "balance.cost", options.cost,
      {.meaning = "What ranks share evenly: memory, or memory times the number of sub-steps, "
                  "which is close to time",
       .choices = {"memory", "time"}});
  schema.add("balance.time_alpha", options.time_alpha,
             {.meaning = "How strongly measured times correct the costs: 0 not at all, 0.3 to 0.5 "
                         "where the work per cell varies a lot",
              .min = 0.0,
              .max = 1.0});
}

}  // namespace octant
