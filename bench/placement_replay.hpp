// Replay of a run's telemetry: estimated times of its steps on other ranks and with other
// placements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/block_history.hpp"
#include "decomp/placement/policies.hpp"

namespace octant::bench {

struct ReplayOptions {
  std::string run;  // directory of the run
  int ranks = 0;    // 0: the run's initial number of blocks
  int ranks_per_node = 16;
  double latency = 2e-6;          // of a message to another node, in s
  double bandwidth = 1e10;        // of a rank to other nodes, in bytes/s
  double block_bytes = 163840.0;  // moved with a block
  // Number of times that every block is replaced by eight of the same cost, as with twice the
  // resolution, for replays on more ranks than the run has blocks.
  int subdivisions = 0;
};

// Total seconds of all steps. A step ends when its last rank has computed and received; then blocks
// move.
struct ReplayResult {
  std::string policy;
  double percent = 0.0;          // of cplx
  double compute = 0.0;          // of the average rank
  double communication = 0.0;    // of the average rank
  double synchronisation = 0.0;  // waiting time of the average rank for the last one
  double rebalancing = 0.0;      // planning by the slowest zone, and moving blocks
  double planning = 0.0;         // part of `rebalancing`: planning by the slowest zone
  int rebalancings = 0;
  std::int64_t messages_in_node = 0, messages_off_node = 0;  // between ranks
  std::int64_t blocks_moved = 0;
  double makespan_over_mean = 0.0;  // of the average step

  double total() const { return compute + communication + synchronisation + rebalancing; }
};

// Applies policies to all steps; returns one result per policy. Changes of the blocks trigger a new
// placement, with the costs measured in previous steps, smoothed and inherited as in a run; loads
// are those of the step itself. Each neighbour of a block sends a message in each of the block's
// substeps: at no cost on the same rank, at a tenth of the cost inside a node. Levels are placed
// together, and zones are planned in parallel. O(n log n) per change of the blocks. Throws
// InputError if blocks cannot be divided as often as required.
std::vector<ReplayResult> replay(const std::vector<RecordedStep>& steps,
                                 std::span<const placement::PolicyOptions> policies,
                                 const ReplayOptions& options);

// Policies of a replay: those with the given names, where "cplx" stands for X = 0, 25, 50, 75, 100.
std::vector<placement::PolicyOptions> replayed_policies(std::span<const std::string> names,
                                                        const placement::PolicyOptions& common);

// Prints the replay of some policies.
void print_replay(ReplayOptions options, std::span<const placement::PolicyOptions> policies,
                  bool json);

}  // namespace octant::bench
