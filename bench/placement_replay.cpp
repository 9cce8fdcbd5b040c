#include "bench/placement_replay.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/report.hpp"
#include "bench/timed_placement.hpp"
#include "core/error.hpp"
#include "decomp/key_table.hpp"
#include "decomp/morton.hpp"
#include "decomp/placement/locality.hpp"

namespace octant::bench {

using namespace octant::placement;

namespace {

constexpr double k_weight_of_new = 0.3;  // in the moving average of costs, as in a run
constexpr double k_inside_node = 0.1;    // relative to the cost of a message between nodes
constexpr int k_position_bits = 63;      // of a 64-bit Morton key

// Throws InputError if the positions of divided blocks exceed 63 bits.
void check_subdivisions(const RecordedStep& step, int times) {
  int depth = 0;
  for (const RecordedBlock& block : step.blocks) depth = std::max(depth, block.level);
  for (const RecordedBlock& block : step.blocks)
    if (std::bit_width(block.key) + 3 * (depth - block.level + times) > k_position_bits)
      throw InputError(
          "--subdivide {}: positions of the blocks of step {} exceed {} bits; use a smaller number",
          times, step.step, k_position_bits);
}

// Returns a step whose blocks are replaced by eight of the same cost, `times` times.
RecordedStep divided(const RecordedStep& step, int times) {
  const std::uint64_t parts = std::uint64_t{1} << 3 * times;
  RecordedStep result{.step = step.step, .blocks = {}};
  result.blocks.reserve(step.blocks.size() * parts);
  for (const RecordedBlock& block : step.blocks) {
    RecordedBlock part = block;
    part.level += times;
    for (std::uint64_t n = 0; n < parts; ++n) {
      part.key = block.key * parts + n;
      result.blocks.push_back(part);
    }
  }
  return result;
}

// Blocks of a mesh in the order of the curve, with their contacts.
class Blocks {
 public:
  explicit Blocks(std::vector<RecordedBlock> recorded) : recorded_(std::move(recorded)) {
    int depth = 0;
    for (const RecordedBlock& block : recorded_) depth = std::max(depth, block.level);
    order_.resize(recorded_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto position = [&](std::size_t n) {
      return std::pair(recorded_[n].key << 3 * (depth - recorded_[n].level), recorded_[n].level);
    };
    std::ranges::sort(order_, {}, position);
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

  // Measured seconds of a step with the same blocks, in the order of the curve.
  std::vector<double> seconds(const std::vector<RecordedBlock>& same) const {
    std::vector<double> result(size());
    for (std::size_t n = 0; n < size(); ++n) result[n] = 1e-9 * same[order_[n]].cost_ns;
    return result;
  }

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

// Values of blocks by level and key.
template <class Value>
class BlockTable {
 public:
  // Returns the value of a block or of its nearest ancestor with a value, or nullptr.
  const Value* nearest(const RecordedBlock& block) const {
    std::uint64_t key = block.key;
    for (int level = block.level; level >= 0; --level, key >>= 3)
      if (level < std::ssize(levels_))
        if (const Value* found = levels_[level].find(static_cast<Key>(key))) return found;
    return nullptr;
  }
  // Returns the value of a block, which is `initial` if there was none.
  Value& value(const RecordedBlock& block, const Value& initial) {
    if (std::ssize(levels_) <= block.level) levels_.resize(block.level + 1);
    KeyTable<Value>& table = levels_[block.level];
    const auto key = static_cast<Key>(block.key);
    if (!table.contains(key)) table.insert(key, initial);
    return *table.find(key);
  }
  void clear() { levels_.clear(); }

 private:
  std::vector<KeyTable<Value>> levels_;
};

// Costs of blocks in the steps so far, which do not depend on the policy.
class KnownCosts {
 public:
  std::vector<double> of(const Blocks& blocks) const {
    std::vector<double> costs;
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      const double* known = per_update_.nearest(blocks.block(n));
      costs.push_back(std::max(known ? *known * blocks.block(n).updates : 1.0, 1e-30));
    }
    return costs;
  }
  void learn(const std::vector<RecordedBlock>& blocks) {
    for (const RecordedBlock& block : blocks) {
      const double measured = block.cost_ns / std::max(1, block.updates);
      double& known = per_update_.value(block, measured);
      known += k_weight_of_new * (measured - known);
    }
  }

 private:
  BlockTable<double> per_update_;
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

// Replay of one policy.
class PolicyReplay {
 public:
  PolicyReplay(const PolicyOptions& policy, const ReplayOptions& options)
      : policy_(policy), options_(options), result_{.policy = policy.name} {
    if (policy.name == "cplx" || policy.name == "zonal") result_.percent = policy.percent;
  }

  void rebalance(const Blocks& blocks, const std::vector<double>& costs) {
    TimedPlacement placement = place_timed(policy_, {costs, blocks.leaves()}, options_.ranks);
    owners_ = std::move(placement.owners);
    result_.planning += placement.slowest_zone_seconds;
    result_.rebalancing += placement.slowest_zone_seconds;
    std::vector<double> arriving(static_cast<std::size_t>(options_.ranks), 0.0);
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      const std::int32_t* was = known_owners_.nearest(blocks.block(n));
      if (!was || *was == owners_[n]) continue;
      ++result_.blocks_moved;
      arriving[owners_[n]] += options_.block_bytes / options_.bandwidth;
    }
    result_.rebalancing += std::ranges::max(arriving);
    ++result_.rebalancings;
    known_owners_.clear();
    for (std::size_t n = 0; n < blocks.size(); ++n)
      known_owners_.value(blocks.block(n), owners_[n]);
    messages_ = messages_of(blocks, owners_, options_);
  }

  // Adds a step; `seconds` are the measured costs along the curve.
  void add_step(const std::vector<double>& seconds) {
    const std::vector<double> load = loads(seconds, owners_, options_.ranks);
    double compute = 0.0, communication = 0.0, last = 0.0, most = 0.0;
    for (std::size_t rank = 0; rank < load.size(); ++rank) {
      compute += load[rank];
      communication += messages_.seconds[rank];
      most = std::max(most, load[rank]);
      last = std::max(last, load[rank] + messages_.seconds[rank]);
    }
    const auto ranks = static_cast<double>(load.size());
    result_.compute += compute / ranks;
    result_.communication += communication / ranks;
    result_.synchronisation += last - (compute + communication) / ranks;
    result_.makespan_over_mean += most * ranks / compute;
    result_.messages_in_node += messages_.in_node;
    result_.messages_off_node += messages_.off_node;
    ++steps_;
  }

  ReplayResult result() const {
    ReplayResult result = result_;
    result.makespan_over_mean /= steps_;
    return result;
  }

 private:
  PolicyOptions policy_;
  ReplayOptions options_;
  ReplayResult result_;
  Owners owners_;
  BlockTable<std::int32_t> known_owners_;
  Messages messages_;
  int steps_ = 0;
};

// Number of blocks of a replayed step.
std::int64_t blocks_of(const RecordedStep& step, const ReplayOptions& options) {
  return std::ssize(step.blocks) << 3 * options.subdivisions;
}

JsonObject json_of(const ReplayResult& result, const ReplayOptions& options,
                   const std::vector<RecordedStep>& steps) {
  JsonObject object;
  object.add("policy", result.policy)
      .add("x", result.percent)
      .add("ranks", options.ranks)
      .add("node_size", options.ranks_per_node)
      .add("steps", std::ssize(steps))
      .add("initial_blocks", blocks_of(steps.front(), options))
      .add("final_blocks", blocks_of(steps.back(), options))
      .add("compute_seconds", result.compute)
      .add("communication_seconds", result.communication)
      .add("synchronisation_seconds", result.synchronisation)
      .add("rebalancing_seconds", result.rebalancing)
      .add("planning_seconds", result.planning)
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

std::vector<ReplayResult> replay(const std::vector<RecordedStep>& steps,
                                 std::span<const PolicyOptions> policies,
                                 const ReplayOptions& options) {
  std::vector<PolicyReplay> replays;
  for (const PolicyOptions& policy : policies) replays.emplace_back(policy, options);
  KnownCosts known;
  std::optional<Blocks> blocks;
  for (std::size_t n = 0; n < steps.size(); ++n) {
    check_subdivisions(steps[n], options.subdivisions);
    const RecordedStep step =
        options.subdivisions > 0 ? divided(steps[n], options.subdivisions) : steps[n];
    if (n == 0 || !same_blocks(steps[n].blocks, steps[n - 1].blocks)) {
      blocks.emplace(step.blocks);
      const std::vector<double> costs = known.of(*blocks);
      for (PolicyReplay& one : replays) one.rebalance(*blocks, costs);
    }
    const std::vector<double> seconds = blocks->seconds(step.blocks);
    for (PolicyReplay& one : replays) one.add_step(seconds);
    known.learn(step.blocks);
  }
  std::vector<ReplayResult> results;
  for (const PolicyReplay& one : replays) results.push_back(one.result());
  return results;
}

std::vector<PolicyOptions> replayed_policies(std::span<const std::string> names,
                                             const PolicyOptions& common) {
  std::vector<PolicyOptions> policies;
  const auto add = [&](const std::string& name, double percent) {
    PolicyOptions& policy = policies.emplace_back(common);
    policy.name = name;
    policy.percent = percent;
  };
  for (const std::string& name : names)
    if (name != "cplx") add(name, common.percent);
    else
      for (const double percent : {0.0, 25.0, 50.0, 75.0, 100.0}) add(name, percent);
  return policies;
}

void print_replay(ReplayOptions options, std::span<const PolicyOptions> policies, bool json) {
  const auto steps = read_block_history(options.run);
  const std::int64_t first = blocks_of(steps.front(), options);
  if (options.ranks == 0) options.ranks = static_cast<int>(first);
  const auto results = replay(steps, policies, options);
  if (json) {
    std::string objects;
    for (const ReplayResult& result : results)
      objects += (objects.empty() ? "" : ",\n") + json_of(result, options, steps).text();
    fmt::print("[{}]\n", objects);
    return;
  }
  fmt::print("{}: {} steps, {} to {} blocks, on {} ranks; seconds\n\n", options.run, steps.size(),
             first, blocks_of(steps.back(), options), options.ranks);
  fmt::print(k_row, "policy", "X", "compute", "messages", "synchronising", "moving", "total",
             "moved", "makespan/mean");
  for (const ReplayResult& result : results) print_row(result);
}

}  // namespace octant::bench
