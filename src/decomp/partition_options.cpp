#include "decomp/partition_options.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "decomp/planner.hpp"

namespace octant {

double BalanceOptions::substeps(int level, bool subcycle) const {
  return subcycle && by_level() ? std::ldexp(1.0, level) : 1.0;
}

std::int64_t BalanceOptions::block_limit(double bytes_of_block) const {
  if (rank_memory == 0.0) return most_blocks;
  const auto by_memory = static_cast<std::int64_t>(1e6 * rank_memory / bytes_of_block);
  return std::max<std::int64_t>(1, most_blocks > 0 ? std::min(most_blocks, by_memory) : by_memory);
}

void BalanceOptions::check() const {
  if (!is_planned() && is_limited())
    throw InputError(
        "balance.{} means nothing with balance.policy = \"contiguous\", where nobody plans for "
        "all; choose another policy, such as \"node\"",
        rank_memory > 0.0 ? "rank_memory" : "most_blocks");
}

void declare(ParameterSchema& schema, BalanceOptions& options) {
  schema.add("balance.decomposition", options.decomposition,
             {.meaning = "How space is divided among ranks: recursive k-section, or pieces of a "
                         "Hilbert or Morton curve"});
  std::vector<std::string> policies{"contiguous"};
  policies.insert(policies.end(), planned_policies().begin(), planned_policies().end());
  schema.add("balance.policy", options.policy,
             {.meaning = "How blocks are placed on ranks. contiguous: a region of space each, by "
                         "balance.decomposition. The others cut the curve of "
                         "balance.decomposition (hilbert for ksection) into equal numbers of "
                         "blocks (baseline) or even loads (exact, cdp, cdp_general, "
                         "cdp_chunked), or give up neighbourhood for even loads: for the most "
                         "and least loaded ranks (cplx; zonal: in zones of ranks), inside nodes "
                         "(node) or altogether (lpt); auto: cplx with the share of ranks that "
                         "costs least",
              .choices = policies});
  schema.add("balance.cplx_x", options.cplx_x,
             {.unit = "%",
              .meaning = "Share of the ranks that cplx rebalances: 0 keeps the curve's pieces, 100 "
                         "is lpt",
              .min = 0.0,
              .max = 100.0});
  schema.add("balance.interval", options.interval,
             {.unit = "coarse steps",
              .meaning = "How often blocks are redistributed; 0 for never",
              .min = 0});
  schema.add(
      "balance.cost", options.cost,
      {.meaning = "What ranks share evenly: memory; memory times the number of sub-steps, which is "
                  "close to time; or the measured time of every block in the last steps"});
  schema.add("balance.rank_memory", options.rank_memory,
             {.unit = "MB",
              .meaning = "What a rank may hold of blocks and particles whenever blocks are "
                         "redistributed by a policy other than contiguous; 0: any",
              .min = 0.0});
  schema.add("balance.most_blocks", options.most_blocks,
             {.meaning = "How many blocks it may hold then; 0: any number", .min = 0});
  schema.add("balance.time_alpha", options.time_alpha,
             {.meaning = "How strongly measured times correct the costs: 0 not at all, 0.3 to 0.5 "
                         "where the work per cell varies a lot",
              .min = 0.0,
              .max = 1.0});
}

}  // namespace octant
