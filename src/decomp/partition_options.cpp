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
        "balance.{} is not supported with balance.policy = \"contiguous\", which has no global "
        "plan; choose another policy, such as \"node\"",
        rank_memory > 0.0 ? "rank_memory" : "most_blocks");
}

void declare(ParameterSchema& schema, BalanceOptions& options) {
  schema.add(
      "balance.decomposition", options.decomposition,
      {.meaning =
           "Domain decomposition: recursive k-section, or segments of a Hilbert or Morton curve"});
  std::vector<std::string> policies{"contiguous"};
  policies.insert(policies.end(), planned_policies().begin(), planned_policies().end());
  schema.add(
      "balance.policy", options.policy,
      {.meaning = "Placement of blocks on ranks. contiguous: one region of space per rank, by "
                  "balance.decomposition. All others start from the curve of balance.decomposition "
                  "(hilbert for ksection): equal block counts (baseline), equal loads (exact, cdp, "
                  "cdp_general, cdp_chunked), or equal loads at the cost of locality: among the "
                  "most and least loaded ranks (cplx; zonal: within zones of ranks), within nodes "
                  "(node) or everywhere (lpt). auto: cplx with the cheapest balance.cplx_x",
       .choices = policies});
  schema.add("balance.cplx_x", options.cplx_x,
             {.unit = "%",
              .meaning = "Fraction of the ranks that policy cplx rebalances: 0 keeps the segments "
                         "of the curve, 100 equals lpt",
              .min = 0.0,
              .max = 100.0});
  schema.add("balance.interval", options.interval,
             {.unit = "coarse steps",
              .meaning = "Number of coarse steps between load-balancing steps; 0: never",
              .min = 0});
  schema.add(
      "balance.cost", options.cost,
      {.meaning = "Cost that is balanced between ranks: memory, estimated time (memory times the "
                  "number of sub-steps), or the measured time of every block in recent steps"});
  schema.add("balance.rank_memory", options.rank_memory,
             {.unit = "MB",
              .meaning = "Maximum memory of blocks and particles on a rank after load balancing "
                         "with a policy other than contiguous; 0: no limit",
              .min = 0.0});
  schema.add("balance.most_blocks", options.most_blocks,
             {.meaning = "Maximum number of blocks on a rank after load balancing with a policy "
                         "other than contiguous; 0: no limit",
              .min = 0});
  schema.add("balance.time_alpha", options.time_alpha,
             {.meaning = "Strength with which measured times correct the costs: 0 for no "
                         "correction, 0.3 to 0.5 where the work per cell varies strongly",
              .min = 0.0,
              .max = 1.0});
}

}  // namespace octant
