// Comparison of processor, memory and network performance between ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// Parameters of the comparison.
struct HealthCheck {
  int repeats = 5;         // of each measurement; the best one counts
  double slow = 1.5;       // threshold for computing and memory, in times of the median rank
  double late = 5.0;       // threshold for messages, to at least two partners
  int ranks_per_node = 0;  // artificial nodes of consecutive ranks; 0: actual nodes
  int slow_rank = -1;      // rank with artificially slow computing, for tests
  int slow_factor = 3;     // its slow-down factor
};

// Result of one rank. Latencies are relative to the median over all pairs of ranks at the same
// distance.
struct RankHealth {
  double compute_seconds = 0.0;  // time for compute_flops()
  double memory_seconds = 0.0;   // time for memory_bytes()
  double latency_ratio = 1.0;    // second largest over all distances; 1 if there are fewer than two
  double latency_seconds = 0.0;  // round trip, mean over distances; 0 on one rank
};

// Node with a slow rank, and the worst ratios of its ranks to the median rank.
struct SlowNode {
  std::string name;
  int first_rank = 0, ranks = 0, slow_ranks = 0;
  double compute_ratio = 1.0, memory_ratio = 1.0, latency_ratio = 1.0;
};

// Comparison of all ranks.
struct HealthResult {
  RankHealth own, median, worst;
  int nodes = 1;
  std::vector<SlowNode> slow_nodes;  // in the order of ranks, on the root; else empty
};

// Measures all ranks at the same time, and the network in log2(ranks) rounds of pairs: rank r with
// r xor 1, 2, 4, ... Kernels on CPUs are timed by CPU time, which excludes other programs.
// Collective.
RankHealth measure_rank(const Communicator& communicator, const HealthCheck& check);

// Compares the ranks with their median, and returns the nodes of slow ones. Collective; every rank
// gives its own measurement and gets the result.
HealthResult compare_ranks(const Communicator& communicator, const HealthCheck& check,
                           const RankHealth& own);

// Floating-point operations of the computing test, per rank.
double compute_flops();
// Bytes moved by the memory test, per rank.
double memory_bytes();

// Lower median of a non-negative value over all ranks with `counts`; 0 if there are none. Found by
// bisection, so that no rank stores all values. Collective.
double median_over_ranks(const Communicator& communicator, double value, bool counts = true);

}  // namespace octant::bench
