// How well the processor, the memory and the network of every rank do beside those of the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

struct HealthCheck {
  int repeats = 5;         // of each measurement; the best counts
  double slow = 1.5;       // times the median rank's time that count as slow computing or memory
  double late = 5.0;       // and, for messages, of two partners at least
  int ranks_per_node = 0;  // makes nodes of so many consecutive ranks; 0: the machine's own
  int slow_rank = -1;      // a rank that does all its computing several times, to test the check
  int slow_factor = 3;     // so many
};

// Of one rank. Latencies are in units of the median over all pairs of ranks at the same distance.
struct RankHealth {
  double compute_seconds = 0.0;  // for compute_flops()
  double memory_seconds = 0.0;   // for memory_bytes()
  double latency_ratio = 1.0;    // the second largest of all distances; 1 where there are not two
  double latency_seconds = 0.0;  // there and back, the mean over distances; 0 on one rank
};

// A node that holds a slow rank, with the worst of its ranks against the median rank.
struct SlowNode {
  std::string name;
  int first_rank = 0, ranks = 0, slow_ranks = 0;
  double compute_ratio = 1.0, memory_ratio = 1.0, latency_ratio = 1.0;
};

struct HealthResult {
  RankHealth own, median, worst;
  int nodes = 1;
  std::vector<SlowNode> slow_nodes;  // in the order of ranks, on the root; empty elsewhere
};

// Measures all ranks at the same time, in log2(ranks) rounds of pairs for the network: rank r meets
// r xor 1, 2, 4, ... A rank's kernels are timed by its processors' time where they run on them, so
// that other programs do not count. Collective.
RankHealth measure_rank(const Communicator& communicator, const HealthCheck& check);

// Sets the ranks against their median, and names the nodes of slow ones. Collective; every rank
// gives its own measurement and gets the result.
HealthResult compare_ranks(const Communicator& communicator, const HealthCheck& check,
                           const RankHealth& own);

double compute_flops();
double memory_bytes();

// The lower median over all ranks of a value >= 0, of those that have one (`counts`); 0 if none
// has. Found by bisection: no rank holds a value of every other. Collective.
double median_over_ranks(const Communicator& communicator, double value, bool counts = true);

}  // namespace octant::bench
