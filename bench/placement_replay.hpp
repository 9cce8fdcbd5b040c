// Replays a run's telemetry: what its steps would have taken on other ranks and under other
// placements.
#pragma once

#include <string>
#include <vector>

#include "decomp/placement/policies.hpp"
#include "telemetry/block_history.hpp"

namespace octant::bench {

struct ReplayOptions {
  std::string run;  // its directory
  int ranks = 0;    // 0: as many as the run had blocks at first
  int ranks_per_node = 16;
  double latency = 2e-6;          // of a message to another node, in s
  double bandwidth = 1e10;        // of a rank to other nodes, in bytes/s
  double block_bytes = 163840.0;  // that move with a block
};

// Seconds of all steps together. A step ends when its last rank has computed and received; then
// blocks move.
struct ReplayResult {
  std::string policy;
  double percent = 0.0;          // of cplx
  double compute = 0.0;          // of the mean rank
  double communication = 0.0;    // of the mean rank
  double synchronisation = 0.0;  // that the mean rank waits for the last one
  double rebalancing = 0.0;      // deciding, and moving blocks
  int rebalancings = 0;
  std::int64_t blocks_moved = 0;
  double makespan_over_mean = 0.0;  // of the mean step

  double total() const { return compute + communication + synchronisation + rebalancing; }
};

// One policy through all steps. Whenever blocks come or go they are placed anew by the costs that
// the steps before have measured, smoothed and inherited as in a run; loads are those of the step
// itself. A message comes from each neighbour of a block in each of its sub-steps: none on the same
// rank, a tenth of the cost inside a node. Levels are placed together.
ReplayResult replay(const std::vector<telemetry::RecordedStep>& steps,
                    const placement::PolicyOptions& policy, const ReplayOptions& options);

// All of the above for the baseline, for cplx with X = 0, 25, 50, 75, 100, and for node windows.
void print_replay(ReplayOptions options, bool json);

}  // namespace octant::bench
