#include "bench/comm_bench.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "bench/block_costs.hpp"
#include "bench/command.hpp"
#include "bench/report.hpp"
#include "comm/exchanger.hpp"
#include "core/clock.hpp"

namespace octant::bench {

using namespace octant::placement;

namespace {

constexpr int k_item_bytes = 320;  // corner; edges and faces are multiples
constexpr int k_item_doubles = k_item_bytes / 8;

// Bytes between every two ranks, by sender and receiver.
using Pairs = std::map<std::pair<int, int>, std::int64_t>;

struct RandomMesh {
  std::vector<double> costs;
  std::vector<Leaf> leaves;
  std::vector<Contact> touching;
};

RandomMesh draw_mesh(const CommCase& comm_case, int ranks, int number) {
  const auto seed = static_cast<std::uint64_t>(comm_case.seed + number);
  const auto roots = static_cast<int>(std::ceil(std::cbrt(ranks) - 1e-9));
  const auto least = std::int64_t{roots} * roots * roots;
  const auto wanted = static_cast<std::int64_t>(std::ceil(comm_case.blocks_per_rank * ranks));
  auto leaves = random_leaves(roots, std::max(least, wanted), seed);
  auto touching = contacts(leaves);
  return {draw_costs("exponential", std::ssize(leaves), seed), std::move(leaves),
          std::move(touching)};
}

Pairs pairs_of(const std::vector<Contact>& touching, const Owners& owners) {
  Pairs pairs;
  for (const Contact& contact : touching) {
    const std::pair pair(owners[contact.from], owners[contact.to]);
    if (pair.first != pair.second) pairs[pair] += contact.bytes;
  }
  return pairs;
}

ExchangePlan plan_of(const Communicator& communicator, const Pairs& pairs) {
  std::vector<Segment> sends, receives;
  for (const auto& [pair, bytes] : pairs) {
    if (pair.first == communicator.rank()) sends.push_back({pair.second, bytes / k_item_bytes});
    if (pair.second == communicator.rank()) receives.push_back({pair.first, bytes / k_item_bytes});
  }
  return {communicator, std::move(sends), std::move(receives)};
}

// Seconds of the measured rounds, from barrier to barrier.
std::vector<double> time_rounds(const Communicator& communicator, const CommCase& comm_case,
                                const ExchangePlan& plan) {
  Exchanger exchanger("comm bench", communicator,
                      {.exchange = value_named<Backend>(comm_case.backend)});
  std::vector<double> send(static_cast<std::size_t>(plan.items_sent()) * k_item_doubles, 1.0);
  std::vector<double> receive(static_cast<std::size_t>(plan.items_received()) * k_item_doubles);
  std::vector<double> seconds;
  for (int round = -comm_case.cold_rounds; round < comm_case.rounds; ++round) {
    communicator.barrier();
    const Clock clock;
    exchanger.run<double>(plan, send.data(), receive.data(), k_item_doubles);
    communicator.barrier();
    if (round >= 0) seconds.push_back(clock.seconds());
  }
  return seconds;
}

void count(const RandomMesh& mesh, const Owners& owners, const Pairs& pairs, int per_node,
           CommResult& sum) {
  const Traffic traffic = placement::traffic(mesh.touching, owners, per_node);
  sum.blocks += static_cast<double>(mesh.costs.size());
  sum.contacts += static_cast<double>(mesh.touching.size());
  for (const Contact& contact : mesh.touching) {
    const int from = owners[contact.from], to = owners[contact.to];
    sum.contacts_off_rank += from != to;
    sum.contacts_off_node += from / per_node != to / per_node;
  }
  sum.bytes += static_cast<double>(traffic.all);
  sum.bytes_off_rank += static_cast<double>(traffic.off_rank);
  sum.bytes_off_node += static_cast<double>(traffic.off_node);
  sum.messages += static_cast<double>(pairs.size());
  for (const auto& [pair, bytes] : pairs)
    sum.messages_off_node += pair.first / per_node != pair.second / per_node;
}

struct CommRequest {
  CommCase common;
  Choice policies{policy_names(), "all"};
};

void declare(Options& options, CommRequest& request) {
  CommCase& c = request.common;
  c.policy.ranks_per_node = 16;
  options.choice("--policy", request.policies, "Placement policy");
  options.number("--x", c.policy.percent, 0.0, 100.0,
                 "Percentage of ranks that cplx and zonal rebalance");
  options.one_of("--backend", c.backend, names_of_all<Backend>(), "Communication backend");
  options.number("--blocks-per-rank", c.blocks_per_rank, 1.0, 1e6,
                 "Minimum number of blocks per rank");
  options.count("--node-size", c.policy.ranks_per_node,
                "Number of ranks per node, for the message statistics");
  options.count("--meshes", c.meshes, "Number of random meshes");
  options.count("--rounds", c.rounds, "Number of timed rounds per mesh");
  options.number("--cold-rounds", c.cold_rounds, 0, 1'000'000,
                 "Number of untimed warm-up rounds per mesh");
  options.count("--seed", c.seed, "Seed of meshes and costs");
}

constexpr const char* k_comm_row = "{:<12} {:>13} {:>10} {:>10} {:>9} {:>9} {:>10} {:>10}";

std::string row(const std::string& name, const CommResult& r) {
  const auto share = [](double part, double all) {
    return fmt::format("{:.1f} %", 100 * part / all);
  };
  return fmt::format(k_comm_row, name, fmt::format("{:.3f}", r.makespan_over_mean),
                     share(r.bytes_off_rank, r.bytes), share(r.bytes_off_node, r.bytes),
                     fmt::format("{:.0f}", r.contacts_off_rank), fmt::format("{:.0f}", r.messages),
                     fmt::format("{:.1f}", 1e6 * r.mean_seconds),
                     fmt::format("{:.1f}", 1e6 * r.median_seconds));
}

JsonObject json(const CommCase& c, const CommResult& r, int ranks) {
  JsonObject object;
  object.add("policy", c.policy.name)
      .add("x", c.policy.percent)
      .add("backend", c.backend)
      .add("ranks", ranks)
      .add("node_size", c.policy.ranks_per_node)
      .add("blocks", r.blocks)
      .add("contacts", r.contacts)
      .add("contacts_off_rank", r.contacts_off_rank)
      .add("contacts_off_node", r.contacts_off_node)
      .add("total_bytes", r.bytes)
      .add("off_rank_bytes", r.bytes_off_rank)
      .add("off_node_bytes", r.bytes_off_node)
      .add("messages", r.messages)
      .add("messages_off_node", r.messages_off_node)
      .add("makespan_over_mean", r.makespan_over_mean)
      .add("mean_seconds", r.mean_seconds)
      .add("median_seconds", r.median_seconds);
  return object;
}

void measure_all(const CommRequest& request, const Communicator& communicator, Report& report) {
  CommCase comm_case = request.common;
  report.line(fmt::format(
      "{} rank(s), {} per node; {} meshes, {} rounds on each; us from barrier to barrier\n",
      communicator.size(), comm_case.policy.ranks_per_node, comm_case.meshes, comm_case.rounds));
  report.line(fmt::format(k_comm_row, "policy", "makespan/mean", "off rank", "off node", "contacts",
                          "messages", "mean us", "median us"));
  for (const std::string& name : request.policies.selected()) {
    comm_case.policy.name = name;
    const CommResult result = measure_comm(communicator, comm_case);
    report.line(row(name, result));
    report.add(json(comm_case, result, communicator.size()));
  }
}

}  // namespace

CommResult measure_comm(const Communicator& communicator, const CommCase& comm_case) {
  const int ranks = communicator.size();
  CommResult result;
  std::vector<double> seconds;
  for (int number = 0; number < comm_case.meshes; ++number) {
    const RandomMesh mesh = draw_mesh(comm_case, ranks, number);
    const Owners owners = place(comm_case.policy, {mesh.costs, mesh.leaves}, ranks);
    const Pairs pairs = pairs_of(mesh.touching, owners);
    const ExchangePlan plan = plan_of(communicator, pairs);
    const auto rounds = time_rounds(communicator, comm_case, plan);
    seconds.insert(seconds.end(), rounds.begin(), rounds.end());
    count(mesh, owners, pairs, comm_case.policy.ranks_per_node, result);
    result.makespan_over_mean += makespan_over_mean(mesh.costs, owners, ranks);
  }
  for (double* value :
       {&result.blocks, &result.contacts, &result.contacts_off_rank, &result.contacts_off_node,
        &result.bytes, &result.bytes_off_rank, &result.bytes_off_node, &result.messages,
        &result.messages_off_node, &result.makespan_over_mean})
    *value /= comm_case.meshes;
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  result.mean_seconds = communicator.max(sum / static_cast<double>(seconds.size()));
  result.median_seconds = communicator.max(seconds[median_index(seconds)]);
  return result;
}

int comm_bench(const std::vector<std::string>& words) {
  return run_command<CommRequest>("comm", "Messages between blocks by placement of ranks", declare,
                                  measure_all, words);
}

}  // namespace octant::bench
