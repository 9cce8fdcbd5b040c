#include "bench/comm_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bench/block_costs.hpp"
#include "bench/command.hpp"
#include "bench/report.hpp"
#include "comm/exchanger.hpp"
#include "comm/mpi_layer.hpp"
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
  const auto seed = static_cast<std::uint64_t>(comm_case.seed) + static_cast<std::uint64_t>(number);
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

// One exchange of all blocks with their neighbours.
class Round {
 public:
  virtual ~Round() = default;
  virtual void run() = 0;
};

ExchangePlan plan_of(const Communicator& communicator, const Pairs& pairs) {
  std::vector<Segment> sends, receives;
  for (const auto& [pair, bytes] : pairs) {
    if (pair.first == communicator.rank()) sends.push_back({pair.second, bytes / k_item_bytes});
    if (pair.second == communicator.rank()) receives.push_back({pair.first, bytes / k_item_bytes});
  }
  return {communicator, std::move(sends), std::move(receives)};
}

// One message between two ranks, as in a run.
class RankMessages final : public Round {
 public:
  RankMessages(const Communicator& communicator, const std::string& backend, const Pairs& pairs)
      : plan_(plan_of(communicator, pairs)),
        exchanger_("comm bench", communicator, {.exchange = value_named<Backend>(backend)}),
        sent_(static_cast<std::size_t>(plan_.items_sent()) * k_item_doubles, 1.0),
        received_(static_cast<std::size_t>(plan_.items_received()) * k_item_doubles) {}
  void run() override {
    exchanger_.run<double>(plan_, sent_.data(), received_.data(), k_item_doubles);
  }

 private:
  ExchangePlan plan_;
  Exchanger exchanger_;
  std::vector<double> sent_, received_;
};

// One message per contact of blocks on different ranks, as in Parthenon codes. Messages of a pair
// of ranks arrive in the order of the contacts, which all ranks know.
class ContactMessages final : public Round {
 public:
  ContactMessages(const Communicator& communicator, const std::vector<Contact>& touching,
                  const Owners& owners)
      : communicator_(communicator), tag_(mpi::new_tag(communicator.handle())) {
    std::size_t most = 0;
    for (const Contact& contact : touching) {
      const int from = owners[contact.from], to = owners[contact.to];
      if (from == to) continue;
      const auto bytes = static_cast<std::size_t>(contact.bytes);
      if (from == communicator.rank()) sends_.push_back({to, 0, bytes});
      if (to == communicator.rank()) receives_.push_back({from, received_bytes_, bytes});
      if (to == communicator.rank()) received_bytes_ += bytes;
      most = std::max(most, bytes);
    }
    sent_.resize(most);
    received_.resize(received_bytes_);
  }
  void run() override {
    for (const mpi::Part& part : receives_)
      requests_.receive(communicator_.handle(),
                        std::span(received_).subspan(part.offset, part.bytes), part.rank, tag_);
    for (const mpi::Part& part : sends_)
      requests_.send(communicator_.handle(), std::span(sent_).first(part.bytes), part.rank, tag_);
    requests_.wait();
  }

 private:
  Communicator communicator_;
  int tag_;
  std::vector<mpi::Part> sends_, receives_;
  std::size_t received_bytes_ = 0;
  std::vector<std::byte> sent_, received_;
  mpi::Requests requests_;
};

// Seconds of the measured rounds on the slowest rank, from barrier to barrier. Collective.
std::vector<double> time_rounds(const Communicator& communicator, const CommCase& comm_case,
                                Round& round) {
  std::vector<double> seconds;
  for (int number = -comm_case.cold_rounds; number < comm_case.rounds; ++number) {
    communicator.barrier();
    const Clock clock;
    round.run();
    communicator.barrier();
    if (number >= 0) seconds.push_back(clock.seconds());
  }
  communicator.max_in_place(std::span(seconds));
  return seconds;
}

std::unique_ptr<Round> round_of(const Communicator& communicator, const CommCase& comm_case,
                                const RandomMesh& mesh, const Owners& owners, const Pairs& pairs) {
  if (comm_case.per_contact)
    return std::make_unique<ContactMessages>(communicator, mesh.touching, owners);
  return std::make_unique<RankMessages>(communicator, comm_case.backend, pairs);
}

void count(const RandomMesh& mesh, const Owners& owners, const Pairs& pairs,
           const CommCase& comm_case, CommResult& sum) {
  const int per_node = comm_case.policy.ranks_per_node;
  const Traffic traffic = placement::traffic(mesh.touching, owners, per_node);
  sum.blocks += static_cast<double>(mesh.costs.size());
  sum.contacts += static_cast<double>(mesh.touching.size());
  std::int64_t off_rank = 0, off_node = 0;
  for (const Contact& contact : mesh.touching) {
    const int from = owners[contact.from], to = owners[contact.to];
    off_rank += from != to;
    off_node += from / per_node != to / per_node;
  }
  sum.contacts_off_rank += static_cast<double>(off_rank);
  sum.contacts_off_node += static_cast<double>(off_node);
  sum.bytes += static_cast<double>(traffic.all);
  sum.bytes_off_rank += static_cast<double>(traffic.off_rank);
  sum.bytes_off_node += static_cast<double>(traffic.off_node);
  if (comm_case.per_contact) {
    sum.messages += static_cast<double>(off_rank);
    sum.messages_off_node += static_cast<double>(off_node);
    return;
  }
  sum.messages += static_cast<double>(pairs.size());
  for (const auto& [pair, bytes] : pairs)
    sum.messages_off_node += pair.first / per_node != pair.second / per_node;
}

struct CommRequest {
  CommCase common;
  Choice policies{policy_names(), "all"};
  std::vector<double> percentages{25.0};  // of cplx and zonal
};

void declare(Options& options, CommRequest& request) {
  CommCase& c = request.common;
  c.policy.ranks_per_node = 16;
  options.choice("--policy", request.policies, "Placement policy");
  options.numbers("--x", request.percentages, 0.0, 100.0,
                  "Percentages of ranks that cplx and zonal rebalance");
  options.one_of("--backend", c.backend, names_of_all<Backend>(), "Communication backend");
  options.flag("--per-contact", c.per_contact,
               "One message per contact of blocks instead of one per pair of ranks");
  options.number("--blocks-per-rank", c.blocks_per_rank, 1.0, 1e6,
                 "Minimum number of blocks per rank");
  options.count("--node-size", c.policy.ranks_per_node,
                "Number of ranks per node, for the message statistics");
  options.count("--meshes", c.meshes, "Number of random meshes");
  options.count("--rounds", c.rounds, "Number of timed rounds per mesh");
  options.number("--cold-rounds", c.cold_rounds, 0, 1'000'000,
                 "Number of untimed warm-up rounds per mesh");
  options.number("--most-seconds", c.most_seconds, 1e-9, 1e9,
                 "Time of a round above which it is dropped [s]");
  options.count("--seed", c.seed, "Seed of meshes and costs");
}

constexpr const char* k_comm_row =
    "{:<12} {:>4} {:>13} {:>10} {:>10} {:>9} {:>9} {:>10} {:>10} {:>8}";

bool rebalances_percentage(const std::string& policy) {
  return policy == "cplx" || policy == "zonal";
}

std::string row(const PolicyOptions& policy, const CommResult& r) {
  const auto share = [](double part, double all) {
    return fmt::format("{:.1f} %", 100 * part / all);
  };
  const bool has_x = rebalances_percentage(policy.name);
  return fmt::format(k_comm_row, policy.name, has_x ? fmt::format("{:g}", policy.percent) : "",
                     fmt::format("{:.3f}", r.makespan_over_mean), share(r.bytes_off_rank, r.bytes),
                     share(r.bytes_off_node, r.bytes), fmt::format("{:.0f}", r.contacts_off_rank),
                     fmt::format("{:.0f}", r.messages), fmt::format("{:.1f}", 1e6 * r.mean_seconds),
                     fmt::format("{:.1f}", 1e6 * r.median_seconds), r.rounds_dropped);
}

JsonObject json(const CommCase& c, const CommResult& r, int ranks) {
  JsonObject object;
  object.add("policy", c.policy.name)
      .add("x", c.policy.percent)
      .add("backend", c.per_contact ? "contacts" : c.backend)
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
      .add("rounds", r.rounds)
      .add("rounds_dropped", r.rounds_dropped)
      .add("mean_seconds", r.mean_seconds)
      .add("median_seconds", r.median_seconds);
  return object;
}

void measure_all(const CommRequest& request, const Communicator& communicator, Report& report) {
  CommCase comm_case = request.common;
  report.line(fmt::format(
      "{} rank(s), {} per node; {} meshes, {} rounds on each; us from barrier to barrier\n",
      communicator.size(), comm_case.policy.ranks_per_node, comm_case.meshes, comm_case.rounds));
  report.line(fmt::format(k_comm_row, "policy", "X", "makespan/mean", "off rank", "off node",
                          "contacts", "messages", "mean us", "median us", "dropped"));
  for (const std::string& name : request.policies.selected()) {
    comm_case.policy.name = name;
    for (const double percentage : request.percentages) {
      comm_case.policy.percent = percentage;
      const CommResult result = measure_comm(communicator, comm_case);
      report.line(row(comm_case.policy, result));
      report.add(json(comm_case, result, communicator.size()));
      if (!rebalances_percentage(name)) break;
    }
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
    const auto round = round_of(communicator, comm_case, mesh, owners, pairs);
    for (const double time : time_rounds(communicator, comm_case, *round)) {
      if (time <= comm_case.most_seconds) seconds.push_back(time);
      else ++result.rounds_dropped;
    }
    count(mesh, owners, pairs, comm_case, result);
    result.makespan_over_mean += makespan_over_mean(mesh.costs, owners, ranks);
  }
  for (double* value :
       {&result.blocks, &result.contacts, &result.contacts_off_rank, &result.contacts_off_node,
        &result.bytes, &result.bytes_off_rank, &result.bytes_off_node, &result.messages,
        &result.messages_off_node, &result.makespan_over_mean})
    *value /= comm_case.meshes;
  result.rounds = static_cast<int>(seconds.size());
  if (seconds.empty()) seconds.push_back(std::numeric_limits<double>::quiet_NaN());
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  result.mean_seconds = sum / static_cast<double>(seconds.size());
  result.median_seconds = seconds[median_index(seconds)];
  return result;
}

int comm_bench(const std::vector<std::string>& words) {
  return run_command<CommRequest>("comm", "Messages between blocks by placement of ranks", declare,
                                  measure_all, words);
}

}  // namespace octant::bench
