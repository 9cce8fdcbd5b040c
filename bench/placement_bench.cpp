#include "bench/placement_bench.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "bench/bench_options.hpp"
#include "bench/block_costs.hpp"
#include "bench/placement_replay.hpp"
#include "bench/report.hpp"
#include "bench/timed_placement.hpp"
#include "core/error.hpp"
#include "decomp/placement/policies.hpp"
#include "run/run_request.hpp"

namespace octant::bench {

namespace {

using namespace octant::placement;

constexpr int k_any = std::numeric_limits<int>::max();
constexpr int k_ranks = 4096;  // default
constexpr int k_most_subdivisions = 4;

struct PlacementRequest {
  std::string costs_file, mesh_file, previous_file, owners_file;
  std::string distribution = "exponential";
  std::int64_t blocks = 8968;
  int ranks = 0, repeats = 5, seed = 1234;
  std::int64_t block_bytes = 16 * 16 * 16 * 5 * 8;
  double rank_bytes = 0.0;
  PolicyOptions policy{.name = "cplx", .ranks_per_node = 16};
  Choice policies{policy_names(), "all"};
  ReplayOptions replay;
  bool json = false;
};

void declare(Options& options, PlacementRequest& request) {
  options.file("--costs", request.costs_file,
               "File of block costs, one per line, in the order of the curve");
  options.file("--mesh", request.mesh_file,
               "File of leaf blocks, level,x,y,z per line, in the order of --costs");
  options.one_of("--distribution", request.distribution, cost_distributions(),
                 "Distribution of synthetic costs, without --costs");
  options.count("--blocks", request.blocks, "Number of synthetic costs");
  options.number("--seed", request.seed, 0, k_any, "Seed of synthetic costs");
  options.number("--ranks", request.ranks, 0, k_any,
                 "Number of ranks; 0: 4096, or the number of blocks of a replayed run");
  options.count("--node-size", request.policy.ranks_per_node, "Number of ranks per node");
  options.count("--zone-ranks", request.policy.zone_ranks,
                "Maximum number of ranks per zone of the policies zonal and node");
  options.choice("--policy", request.policies, "Placement policy");
  options.number("--x", request.policy.percent, 0.0, 100.0,
                 "Percentage of ranks that cplx rebalances");
  options.count("--repeats", request.repeats, "Number of timed repeats; the median is reported");
  options.count("--block-bytes", request.block_bytes, "Size of a block in bytes, moved with it");
  options.number("--rank-bytes", request.rank_bytes, 0.0, 1e18,
                 "Memory limit of a rank for blocks in bytes; 0: no limit");
  options.file("--previous", request.previous_file,
               "File of previous owners, one per line, to count migrated blocks");
  options.file("--owners", request.owners_file, "Output file of owners, one per line");
  options.file("--replay", request.replay.run,
               "Run directory whose measured block costs are replayed");
  options.number("--subdivide", request.replay.subdivisions, 0, k_most_subdivisions,
                 "Number of times that every replayed block is replaced by eight of the same cost");
  options.number("--latency", request.replay.latency, 0.0, 1.0,
                 "Latency of a message between nodes [s]");
  options.number("--bandwidth", request.replay.bandwidth, 1.0, 1e18,
                 "Bandwidth of a rank between nodes [bytes/s]");
  options.flag("--json", request.json, "JSON output: an object, or an array for several rows");
}

struct Result {
  std::string policy;
  Owners owners;
  double makespan_over_mean = 0.0;
  double seconds = 0.0, slowest_zone_seconds = 0.0;  // medians of thread CPU time
  std::int64_t zones = 0, largest_zone_blocks = 0;
  Traffic traffic;
  std::int64_t blocks_moved = 0;
};

// Repeats a placement; times are medians.
Result measure(const PolicyOptions& options, const BlockList& blocks, int ranks, int repeats) {
  Result result{.policy = options.name, .owners = {}, .traffic = {}};
  std::vector<double> whole, slowest;
  for (int n = 0; n < repeats; ++n) {
    TimedPlacement placement = place_timed(options, blocks, ranks);
    whole.push_back(placement.seconds);
    slowest.push_back(placement.slowest_zone_seconds);
    result.zones = placement.zones;
    result.largest_zone_blocks = placement.largest_zone_blocks;
    result.owners = std::move(placement.owners);
  }
  result.seconds = whole[median_index(whole)];
  result.slowest_zone_seconds = slowest[median_index(slowest)];
  result.makespan_over_mean = makespan_over_mean(blocks, result.owners, ranks);
  return result;
}

JsonObject json_of(const Result& result, const PlacementRequest& request) {
  JsonObject object;
  object.add("policy", result.policy)
      .add("ranks", request.ranks)
      .add("blocks", std::ssize(result.owners))
      .add("node_size", request.policy.ranks_per_node)
      .add("x", request.policy.percent)
      .add("makespan_over_mean", result.makespan_over_mean)
      .add("total_bytes", result.traffic.all)
      .add("off_node_bytes", result.traffic.off_node)
      .add("off_rank_bytes", result.traffic.off_rank)
      .add("seconds", result.seconds)
      .add("slowest_zone_seconds", result.slowest_zone_seconds)
      .add("zones", result.zones)
      .add("largest_zone_blocks", result.largest_zone_blocks);
  if (!request.previous_file.empty())
    object.add("blocks_moved", result.blocks_moved)
        .add("bytes_moved", result.blocks_moved * request.block_bytes);
  return object;
}

constexpr const char* k_placement_row = "{:<12} {:>13} {:>10} {:>10} {:>10} {:>13} {:>8}\n";

void print_row(const Result& result, const PlacementRequest& request) {
  const auto share = [&](std::int64_t bytes) {
    return result.traffic.all == 0
               ? std::string("-")
               : fmt::format("{:.1f} %", 100.0 * static_cast<double>(bytes) /
                                             static_cast<double>(result.traffic.all));
  };
  fmt::print(k_placement_row, result.policy, fmt::format("{:.4f}", result.makespan_over_mean),
             share(result.traffic.off_node), share(result.traffic.off_rank),
             fmt::format("{:.2f}", 1e3 * result.seconds),
             fmt::format("{:.2f}", 1e3 * result.slowest_zone_seconds),
             request.previous_file.empty() ? "-" : fmt::format("{}", result.blocks_moved));
}

std::vector<Leaf> leaves_of(const PlacementRequest& request, std::size_t blocks) {
  if (request.mesh_file.empty()) return {};
  auto leaves = read_leaves(request.mesh_file);
  if (leaves.size() != blocks)
    throw InputError("{}: contains {} leaf blocks, but there are {} costs", request.mesh_file,
                     leaves.size(), blocks);
  return leaves;
}

Owners previous_owners(const PlacementRequest& request, std::size_t blocks) {
  if (request.previous_file.empty()) return {};
  Owners owners = read_owners(request.previous_file);
  if (owners.size() != blocks)
    throw InputError("{}: contains {} owners, but there are {} costs", request.previous_file,
                     owners.size(), blocks);
  return owners;
}

void place_once(PlacementRequest request) {
  if (request.ranks == 0) request.ranks = k_ranks;
  const auto costs = request.costs_file.empty()
                         ? draw_costs(request.distribution, request.blocks,
                                      static_cast<std::uint64_t>(request.seed))
                         : read_costs(request.costs_file);
  const auto leaves = leaves_of(request, costs.size());
  const auto touching = contacts(leaves);
  const Owners previous = previous_owners(request, costs.size());
  const auto names = request.policies.selected();
  if (names.size() > 1 && !request.owners_file.empty())
    throw InputError("--owners {}: only one placement can be written; choose a --policy",
                     request.owners_file);
  if (request.rank_bytes > 0.0)
    request.policy.most_blocks = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(request.rank_bytes) / request.block_bytes);
  std::string objects;
  if (!request.json)
    fmt::print(k_placement_row, "policy", "makespan/mean", "off node", "off rank", "ms",
               "slowest zone", "moved");
  for (const std::string& name : names) {
    request.policy.name = name;
    Result result = measure(request.policy, {costs, leaves}, request.ranks, request.repeats);
    result.traffic = traffic(touching, result.owners, request.policy.ranks_per_node);
    for (std::size_t n = 0; n < previous.size(); ++n)
      result.blocks_moved += previous[n] != result.owners[n];
    if (!request.json) print_row(result, request);
    objects += (objects.empty() ? "" : ", ") + json_of(result, request).text();
    if (!request.owners_file.empty()) write_owners(request.owners_file, result.owners);
  }
  if (request.json) fmt::print("{}\n", names.size() == 1 ? objects : "[" + objects + "]");
}

}  // namespace

int placement_bench(const std::vector<std::string>& words) {
  Options options("placement", "Placement of blocks on ranks by their costs");
  PlacementRequest request;
  declare(options, request);
  if (!options.read(words)) return k_done;
  const Communicator world = Communicator::world();
  world.collective_try([&] {
    if (!world.is_root()) return;
    if (request.replay.run.empty()) return place_once(request);
    request.replay.ranks = request.ranks;
    request.replay.ranks_per_node = request.policy.ranks_per_node;
    request.replay.block_bytes = static_cast<double>(request.block_bytes);
    // Without --policy, policies that keep blocks close together, and longest-first.
    const std::vector<std::string> names =
        request.policies.chosen == "all" ? std::vector<std::string>{"baseline", "cplx", "node"}
                                         : request.policies.selected();
    print_replay(request.replay, replayed_policies(names, request.policy), request.json);
  });
  return k_done;
}

}  // namespace octant::bench
