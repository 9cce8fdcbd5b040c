#include "bench/placement_replay.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/report.hpp"
#include "core/clock.hpp"
#include "decomp/morton.hpp"
#include "decomp/placement/locality.hpp"

namespace octant::bench {

using namespace octant::placement;

namespace {

constexpr double k_weight_of_new = 0.3;  // in the moving average of costs, as in a run
constexpr double k_inside_node = 0.1;    // relative to the cost of a message between nodes

// Blocks of a mesh in the order of the curve, with their contacts and known costs.
class Blocks {
 public:
  explicit Blocks(const std::vector<RecordedBlock>& recorded) : recorded_(recorded) {
    int depth = 0;
    for (const RecordedBlock& block : recorded) depth = std::max(depth, block.level);
    order_.resize(recorded.size());
    for (std::size_t n = 0; n < order_.size(); ++n) order_[n] = n;
    const auto position = [&](std::size_t n) {
      return recorded[n].key << 3 * (depth - recorded[n].level);
    };
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(position(a), recorded[a].level) < std::pair(position(b), recorded[b].level);
    });
    for (std::size_t n = 0; n < order_.size(); ++n) {
      const BlockCoordinates c = morton_decode(block(n).key);
      leaves_.push_back({block(n).level, {c[0], c[1], c[2]}});
    }
    contacts_ = contacts(leaves_);
  }

  std::size_t size() const { return order_.size(); }
  const RecordedBlock& block(std::size_t n) const { return recorded_[order_[n]]; }
  Leaves leaves() const { return leaves_; }
  const std::vector<Contact>& touching() const { return contacts_; }

 private:
  std::vector<RecordedBlock> recorded_;
  std::vector<std::size_t> order_;
  std::vector<Leaf> leaves_;
  std::vector<Contact> contacts_;
};

bool same_blocks(const std::vector<RecordedBlock>& a, const std::vector<RecordedBlock>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const RecordedBlock& x, const RecordedBlock& y) {
                      return x.level == y.level && x.key == y.key;
                    });
}

// Known costs and owners of blocks by level and key, kept from step to step.
class Knowledge {
 public:
  using Place = std::pair<int, std::uint64_t>;

  double cost(const RecordedBlock& block) const {
    Place place{block.level, block.key};
    for (; place.first >= 0; --place.first, place.second >>= 3)
      if (const auto found = costs_.find(place); found != costs_.end())
        return found->second * block.updates;
    return 1.0;
  }
  std::int32_t owner(const RecordedBlock& block) const {
    Place place{block.level, block.key};
    for (; place.first >= 0; --place.first, place.second >>= 3)
      if (const auto found = owners_.find(place); found != owners_.end()) return found->second;
    return -1;
  }
  void learn_costs(const std::vector<RecordedBlock>& blocks) {
    for (const RecordedBlock& block : blocks) {
      const double measured = block.cost_ns / std::max(1, block.updates);
      const auto [known, is_new] = costs_.try_emplace({block.level, block.key}, measured);
      if (!is_new) known->second += k_weight_of_new * (measured - known->second);
    }
  }
  void learn_owners(const Blocks& blocks, const Owners& owners) {
    owners_.clear();
    for (std::size_t n = 0; n < blocks.size(); ++n)
      owners_[{blocks.block(n).level, blocks.block(n).key}] = owners[n];
  }

 private:
  std::map<Place, double> costs_;
  std::map<Place, std::int32_t> owners_;
};

// Messages of a step.
struct Messages {
  std::vector<double> seconds;  // of each rank
  std::int64_t in_node = 0, off_node = 0;
};

Messages messages_of(const Blocks& blocks, const Owners& owners, const ReplayOptions& options) {
  Messages messages{.seconds = std::vector<double>(static_cast<std::size_t>(options.ranks), 0.0)};
  for (const Contact& contact : blocks.touching()) {
    const int from = owners[contact.from], to = owners[contact.to];
    if (from == to) continue;
    const bool near = from / options.ranks_per_node == to / options.ranks_per_node;
    const double once = options.latency + contact.bytes / options.bandwidth;
    const int updates = blocks.block(contact.to).updates;
    messages.seconds[to] += once * (near ? k_inside_node : 1.0) * updates;
    (near ? messages.in_node : messages.off_node) += updates;
  }
  return messages;
}

void rebalance(const Blocks& blocks, const PolicyOptions& policy, const ReplayOptions& options,
               Knowledge& known, Owners& owners, ReplayResult& result) {
  std::vector<double> costs;
  for (std::size_t n = 0; n < blocks.size(); ++n)
    costs.push_back(std::max(known.cost(blocks.block(n)), 1e-30));
  const std::int64_t before = thread_cpu_ns();
  owners = place(policy, {costs, blocks.leaves()}, options.ranks);
  result.rebalancing += 1e-9 * static_cast<double>(thread_cpu_ns() - before);
  std::vector<double> arriving(static_cast<std::size_t>(options.ranks), 0.0);
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const std::int32_t was = known.owner(blocks.block(n));
    if (was < 0 || was == owners[n]) continue;
    ++result.blocks_moved;
    arriving[owners[n]] += options.block_bytes / options.bandwidth;
  }
  result.rebalancing += *std::max_element(arriving.begin(), arriving.end());
  ++result.rebalancings;
  known.learn_owners(blocks, owners);
}

void add_step(const Blocks& blocks, const RecordedStep& step, const Messages& messages,
              const Owners& owners, ReplayResult& result) {
  std::map<Knowledge::Place, double> measured;
  for (const RecordedBlock& block : step.blocks)
    measured[{block.level, block.key}] = 1e-9 * block.cost_ns;
  std::vector<double> load(messages.seconds.size(), 0.0);
  for (std::size_t n = 0; n < blocks.size(); ++n)
    load[owners[n]] += measured[{blocks.block(n).level, blocks.block(n).key}];
  double compute = 0.0, communication = 0.0, last = 0.0, most = 0.0;
  for (std::size_t rank = 0; rank < load.size(); ++rank) {
    compute += load[rank];
    communication += messages.seconds[rank];
    most = std::max(most, load[rank]);
    last = std::max(last, load[rank] + messages.seconds[rank]);
  }
  const auto ranks = static_cast<double>(load.size());
  result.compute += compute / ranks;
  result.communication += communication / ranks;
  result.synchronisation += last - (compute + communication) / ranks;
  result.makespan_over_mean += most * ranks / compute;
  result.messages_in_node += messages.in_node;
  result.messages_off_node += messages.off_node;
}

JsonObject json_of(const ReplayResult& result, const ReplayOptions& options,
                   const std::vector<RecordedStep>& steps) {
  JsonObject object;
  object.add("policy", result.policy)
      .add("x", result.percent)
      .add("ranks", options.ranks)
      .add("node_size", options.ranks_per_node)
      .add("steps", std::ssize(steps))
      .add("initial_blocks", std::ssize(steps.front().blocks))
      .add("final_blocks", std::ssize(steps.back().blocks))
      .add("compute_seconds", result.compute)
      .add("communication_seconds", result.communication)
      .add("synchronisation_seconds", result.synchronisation)
      .add("rebalancing_seconds", result.rebalancing)
      .add("total_seconds", result.total())
      .add("rebalancings", result.rebalancings)
      .add("blocks_moved", result.blocks_moved)
      .add("messages_in_node", result.messages_in_node)
      .add("messages_off_node", result.messages_off_node)
      .add("makespan_over_mean", result.makespan_over_mean);
  return object;
}

constexpr const char* k_row = "{:<10} {:>4} {:>13} {:>9} {:>14} {:>9} {:>12} {:>9} {:>13}\n";

void print_row(const ReplayResult& r) {
  const auto seconds = [](double value) { return fmt::format("{:.4f}", value); };
  fmt::print(k_row, r.policy, fmt::format("{:g}", r.percent), seconds(r.compute),
             seconds(r.communication), seconds(r.synchronisation), seconds(r.rebalancing),
             seconds(r.total()), r.blocks_moved, fmt::format("{:.3f}", r.makespan_over_mean));
}

}  // namespace

ReplayResult replay(const std::vector<RecordedStep>& steps, const PolicyOptions& policy,
                    const ReplayOptions& options) {
  ReplayResult result{.policy = policy.name};
  if (policy.name == "cplx") result.percent = policy.percent;
  Knowledge known;
  std::optional<Blocks> blocks;
  Messages messages;
  Owners owners;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    if (n == 0 || !same_blocks(steps[n].blocks, steps[n - 1].blocks)) {
      blocks.emplace(steps[n].blocks);
      rebalance(*blocks, policy, options, known, owners, result);
      messages = messages_of(*blocks, owners, options);
    }
    add_step(*blocks, steps[n], messages, owners, result);
    known.learn_costs(steps[n].blocks);
  }
  result.makespan_over_mean /= static_cast<double>(steps.size());
  return result;
}

void print_replay(ReplayOptions options, bool json) {
  const auto steps = read_block_history(options.run);
  if (options.ranks == 0) options.ranks = static_cast<int>(steps.front().blocks.size());
  std::vector<PolicyOptions> policies{{.name = "baseline"}};
  for (const double percent : {0.0, 25.0, 50.0, 75.0, 100.0})
    policies.push_back({.name = "cplx", .percent = percent});
  policies.push_back({.name = "node"});
  if (!json) {
    fmt::print("{}: {} steps, {} to {} blocks, on {} ranks; seconds\n\n", options.run, steps.size(),
               steps.front().blocks.size(), steps.back().blocks.size(), options.ranks);
    fmt::print(k_row, "policy", "X", "compute", "messages", "synchronising", "moving", "total",
               "moved", "makespan/mean");
  }
  std::string objects;
  for (PolicyOptions& policy : policies) {
    policy.ranks_per_node = options.ranks_per_node;
    const ReplayResult result = replay(steps, policy, options);
    if (!json) print_row(result);
    objects += (objects.empty() ? "" : ",\n") + json_of(result, options, steps).text();
  }
  if (json) fmt::print("[{}]\n", objects);
}

}  // namespace octant::bench
