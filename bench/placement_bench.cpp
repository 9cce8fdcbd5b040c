#include "bench/placement_bench.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "bench/options.hpp"
#include "bench/report.hpp"
#include "core/error.hpp"
#include "decomp/placement/locality.hpp"
#include "decomp/placement/placement.hpp"
#include "driver/command_line.hpp"

namespace octant::bench {

namespace {

using namespace octant::placement;

struct Request {
  std::string costs_file, mesh_file;
  std::string distribution = "exponential";
  int blocks = 8968, ranks = 4096, ranks_per_node = 16, zone_ranks = 4096, repeats = 5;
  double percent = 25.0;
  std::int64_t seed = 1234;
  Choice policies{{"baseline", "exact", "lpt", "cdp", "cdp_chunked", "cplx", "zonal", "node"},
                  "all"};
  bool json = false;
};

void declare(Options& options, Request& request) {
  options.file("--costs", request.costs_file, "One cost per line, in the order of the curve");
  options.file("--mesh", request.mesh_file, "Leaves: level,x,y,z per line, in the same order");
  options.one_of("--distribution", request.distribution, {"exponential", "gauss60_5", "powerlaw"},
                 "Made-up costs, where no file is given");
  options.count("--blocks", request.blocks, "Number of made-up costs");
  options.count("--seed", request.seed, "Of made-up costs");
  options.count("--ranks", request.ranks, "Ranks to place blocks on");
  options.count("--node-size", request.ranks_per_node, "Ranks per node");
  options.count("--zone-ranks", request.zone_ranks, "Most ranks per zone, of zonal and node");
  options.choice("--policy", request.policies, "How to place");
  options.number("--x", request.percent, 0.0, 100.0, "Percentage of ranks that cplx rebalances");
  options.count("--repeats", request.repeats, "Timed repeats; the median is reported");
  options.flag("--json", request.json, "Print JSON: an object, or an array for all policies");
}

// The rows of numbers of a file; a first line of words is skipped, as are comments.
std::vector<std::vector<double>> read_rows(const std::string& path, std::size_t columns) {
  std::ifstream file(path);
  if (!file) throw InputError("{}: cannot be read; is it there?", path);
  std::vector<std::vector<double>> rows;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    std::vector<double> row;
    for (double value; words >> value;) row.push_back(value);
    if (row.empty() && number == 1) continue;
    if (row.size() != columns || !words.eof())
      throw InputError("{}, line {}: \"{}\" is not {} number(s)", path, number, line, columns);
    rows.push_back(std::move(row));
  }
  if (rows.empty()) throw InputError("{}: holds no numbers", path);
  return rows;
}

std::vector<double> read_costs(const std::string& path) {
  std::vector<double> costs;
  for (const auto& row : read_rows(path, 1)) costs.push_back(row[0]);
  return costs;
}

std::vector<Leaf> read_leaves(const std::string& path) {
  std::vector<Leaf> leaves;
  for (const auto& row : read_rows(path, 4)) {
    const auto whole = [&](int n) { return static_cast<std::int32_t>(row[n]); };
    leaves.push_back({whole(0), {whole(1), whole(2), whole(3)}});
  }
  return leaves;
}

// Costs between 50 and 100 as the authors of CPLX drew them.
std::vector<double> draw_costs(const std::string& distribution, int blocks, std::int64_t seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  std::exponential_distribution<double> exponential(0.1);
  std::normal_distribution<double> normal(60.0, 5.0);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto draw = [&] {
    if (distribution == "exponential") return 50.0 + std::floor(exponential(random));
    if (distribution == "gauss60_5") return std::clamp(std::round(normal(random)), 50.0, 75.0);
    // P(k) ~ k^-3 between 50 and 100: the inverse of its sum, taken as an integral.
    const double low = std::pow(50.0, -2.0), high = std::pow(100.0, -2.0);
    return std::floor(std::pow(low - uniform(random) * (low - high), -0.5));
  };
  std::vector<double> costs;
  for (int n = 0; n < blocks; ++n) costs.push_back(std::min(100.0, draw()));
  return costs;
}

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

using Policy = std::function<Owners(Costs, int)>;

Policy policy_named(const std::string& name, const Request& request) {
  const double percent = request.percent;
  const int per_node = request.ranks_per_node;
  if (name == "baseline") return baseline;
  if (name == "exact") return exact;
  if (name == "lpt") return longest_first;
  if (name == "cdp") return two_sizes;
  if (name == "cdp_chunked") return [](Costs c, int r) { return two_sizes_chunked(c, r); };
  if (name == "node") return [=](Costs c, int r) { return node_windows(c, r, per_node); };
  return [=](Costs c, int r) { return cplx(c, r, percent); };  // cplx and zonal
}

struct Result {
  std::string policy;
  Owners owners;
  double makespan_over_mean = 0.0;
  double seconds = 0.0, slowest_zone_seconds = 0.0;  // medians of thread CPU time
  Traffic traffic;
};

// Zone by zone, as planners would do it side by side.
Result place(const std::string& name, const Request& request, Costs costs) {
  const bool zonal = name == "zonal" || name == "node";
  const Policy policy = policy_named(name, request);
  Result result{.policy = name, .owners = Owners(costs.size()), .traffic = {}};
  std::vector<double> whole, slowest;
  for (int n = 0; n < request.repeats; ++n) {
    const double begin = thread_seconds();
    double most = 0.0;
    for (const Zone& zone : zones(costs, request.ranks, zonal ? request.zone_ranks : request.ranks,
                                  request.ranks_per_node)) {
      const double zone_begin = thread_seconds();
      const Owners part = policy(costs.subspan(zone.first_block, zone.blocks), zone.ranks);
      most = std::max(most, thread_seconds() - zone_begin);
      std::transform(part.begin(), part.end(), result.owners.begin() + zone.first_block,
                     [&](std::int32_t rank) { return rank + zone.first_rank; });
    }
    whole.push_back(thread_seconds() - begin);
    slowest.push_back(most);
  }
  result.seconds = whole[median_index(whole)];
  result.slowest_zone_seconds = slowest[median_index(slowest)];
  result.makespan_over_mean = makespan_over_mean(costs, result.owners, request.ranks);
  return result;
}

JsonObject json_of(const Result& result, const Request& request) {
  JsonObject object;
  object.add("policy", result.policy)
      .add("ranks", request.ranks)
      .add("blocks", std::ssize(result.owners))
      .add("node_size", request.ranks_per_node)
      .add("x", request.percent)
      .add("makespan_over_mean", result.makespan_over_mean)
      .add("total_bytes", result.traffic.all)
      .add("off_node_bytes", result.traffic.off_node)
      .add("off_rank_bytes", result.traffic.off_rank)
      .add("seconds", result.seconds)
      .add("slowest_zone_seconds", result.slowest_zone_seconds);
  return object;
}

constexpr const char* k_row = "{:<12} {:>13} {:>10} {:>10} {:>10} {:>13}\n";

void print_row(const Result& result) {
  const auto share = [&](std::int64_t bytes) {
    return result.traffic.all == 0
               ? std::string("-")
               : fmt::format("{:.1f} %", 100.0 * static_cast<double>(bytes) /
                                             static_cast<double>(result.traffic.all));
  };
  fmt::print(k_row, result.policy, fmt::format("{:.4f}", result.makespan_over_mean),
             share(result.traffic.off_node), share(result.traffic.off_rank),
             fmt::format("{:.2f}", 1e3 * result.seconds),
             fmt::format("{:.2f}", 1e3 * result.slowest_zone_seconds));
}

void run(const Request& request) {
  const auto costs = request.costs_file.empty()
                         ? draw_costs(request.distribution, request.blocks, request.seed)
                         : read_costs(request.costs_file);
  std::vector<Contact> touching;
  if (!request.mesh_file.empty()) {
    const auto leaves = read_leaves(request.mesh_file);
    if (leaves.size() != costs.size())
      throw InputError("{}: {} leaves, but there are {} costs", request.mesh_file, leaves.size(),
                       costs.size());
    touching = contacts(leaves);
  }
  const auto names = request.policies.selected();
  std::string objects;
  if (!request.json)
    fmt::print(k_row, "policy", "makespan/mean", "off node", "off rank", "ms", "slowest zone");
  for (const std::string& name : names) {
    Result result = place(name, request, costs);
    result.traffic = traffic(touching, result.owners, request.ranks_per_node);
    if (!request.json) print_row(result);
    objects += (objects.empty() ? "" : ", ") + json_of(result, request).text();
  }
  if (request.json) fmt::print("{}\n", names.size() == 1 ? objects : "[" + objects + "]");
}

}  // namespace

int placement_bench(const std::vector<std::string>& words) {
  Options options("placement", "Placement of blocks on ranks by their costs");
  Request request;
  declare(options, request);
  if (!options.read(words)) return driver::k_done;
  const Communicator world = Communicator::world();
  world.agree([&] {
    if (world.is_root()) run(request);
  });
  return driver::k_done;
}

}  // namespace octant::bench
