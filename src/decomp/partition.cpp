#include "decomp/partition.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "decomp/hilbert.hpp"
#include "decomp/planner.hpp"
#include "decomp/wall_search.hpp"

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
  if (imbalance_threshold > 0.0 && imbalance_threshold <= 1.0)
    throw InputError(
        "balance.imbalance_threshold = {}: expected a ratio of maximum to mean cost above 1, such "
        "as 1.1, or 0 for no threshold",
        imbalance_threshold);
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
      {.meaning =
           "Policy that assigns blocks to ranks; contiguous or auto suits most runs. contiguous: "
           "one region of space per rank, by balance.decomposition. All other policies order the "
           "blocks along the curve of balance.decomposition (hilbert for ksection). baseline: "
           "segments with equal numbers of blocks. exact: segments with the smallest possible "
           "maximum load. cdp, cdp_general, cdp_chunked: balanced segments found by dynamic "
           "programming. lpt: blocks assigned in order of decreasing load, without regard to "
           "locality. cplx: lpt among the most and the least loaded ranks only. zonal: cplx within "
           "zones of ranks. node: lpt within nodes. auto: cplx with the cheapest balance.cplx_x",
       .choices = policies});
  schema.add(
      "balance.cplx_x", options.cplx_x,
      {.unit = "%",
       .meaning = "Percentage of the ranks rebalanced by balance.policy = \"cplx\"; 0: contiguous "
                  "segments of the space-filling curve; 100: same as lpt",
       .min = 0.0,
       .max = 100.0});
  schema.add("balance.interval", options.interval,
             {.unit = "coarse steps",
              .meaning = "Number of coarse steps between load-balancing steps; 0: never",
              .min = 0});
  schema.add("balance.imbalance_threshold", options.imbalance_threshold,
             {.meaning = "Ratio of maximum to mean cost of the ranks in a step above which blocks "
                         "are redistributed before the next step, in addition to "
                         "balance.interval; 0: never",
              .min = 0.0});
  schema.add("balance.tolerance", options.tolerance,
             {.meaning = "Imbalance (maximum cost of a rank over the mean, minus 1) accepted by "
                         "balance.policy = \"contiguous\" for smooth boundaries: planes between "
                         "pairs of block layers (ksection) or segments that keep sibling blocks "
                         "together (hilbert, morton); 0: best balance that whole blocks allow, "
                         "with more cells at boundaries between ranks",
              .min = 0.0,
              .max = 1.0});
  schema.add("balance.cost", options.cost,
             {.meaning = "Quantity balanced among ranks: memory, estimated time (memory times the "
                         "number of sub-steps), or the measured time per block in recent steps"});
  const auto add_weight = [&](const char* name, double& weight, const char* meaning) {
    schema.add(name, weight, {.unit = "B", .meaning = meaning, .min = 0.0});
  };
  add_weight("balance.weight_grid", options.weights.block,
             "Memory of a block without particles in the load-balancing costs memory and time; 0: "
             "computed from the fields of the run");
  add_weight("balance.weight_part", options.weights.particle,
             "Memory of a particle in the load-balancing costs memory and time; 0: computed from "
             "the columns of its kind");
  add_weight("balance.weight_sink", options.weights.sink,
             "Memory of a sink particle (black hole) in the load-balancing costs memory and time; "
             "0: that of 8 particles, because accretion and feedback visit many cells");
  schema.add("balance.rank_memory", options.rank_memory,
             {.unit = "MB",
              .meaning = "Maximum memory for blocks and particles per rank after load balancing "
                         "with a policy other than contiguous; 0: no limit",
              .min = 0.0});
  schema.add("balance.most_blocks", options.most_blocks,
             {.meaning = "Maximum number of blocks on a rank after load balancing with a policy "
                         "other than contiguous; 0: no limit",
              .min = 0});
  schema.add("balance.time_alpha", options.time_alpha,
             {.meaning = "Weight of the measured time per block of a rank, relative to the mean "
                         "of all ranks, in the load-balancing costs memory and time; 0: estimated "
                         "costs only; 0.3 to 0.5 is recommended if the work per cell varies "
                         "strongly",
              .min = 0.0,
              .max = 1.0});
}

CurvePartition::CurvePartition(Curve curve, int ranks, const Work& work, const Reduction& reduction,
                               double tolerance)
    : curve_(curve), grid_(work.grid), bits_(work.grid.bits()) {
  OCTANT_REQUIRE(ranks >= 1, "a partition requires at least one rank, not {}", ranks);
  std::vector<LinePoint> points;
  points.reserve(work.points.size());
  for (const WorkPoint& point : work.points) {
    points.push_back({position(point.centre), point.cost});
  }
  const LineRange whole_curve{0, Key{1} << 3 * bits_};
  const WallRules rules{std::vector<std::int32_t>(ranks, 1), {8, 1}, tolerance};
  walls_ = find_walls(whole_curve, points, rules, reduction.sum);
}

int CurvePartition::rank_of(const BlockCoordinates& coordinates, int level) const {
  return locate(grid_.centre_of(coordinates, level));
}

int CurvePartition::locate(const BlockCoordinates& finest) const {
  const auto after = std::upper_bound(walls_.begin(), walls_.end(), position(finest));
  return static_cast<int>(after - walls_.begin());
}

Key CurvePartition::position(const BlockCoordinates& finest) const {
  return curve_ == Curve::hilbert ? hilbert_encode(finest, bits_) : morton_encode(finest);
}

std::vector<int> partition(Decomposition decomposition, const Communicator& communicator,
                           const DomainShape& domain, std::span<const CostItem> local_blocks,
                           double tolerance) {
  const Reduction reduction = reduction_over(communicator);
  const Work work = measure_work(domain, local_blocks, reduction);
  if (decomposition == Decomposition::ksection)
    return ksection_owners(communicator, work, tolerance);
  const Curve curve = decomposition == Decomposition::hilbert ? Curve::hilbert : Curve::morton;
  const CurvePartition partition(curve, communicator.size(), work, reduction, tolerance);
  std::vector<int> owners;
  owners.reserve(work.points.size());
  for (const WorkPoint& point : work.points) owners.push_back(partition.locate(point.centre));
  return owners;
}

}  // namespace octant
