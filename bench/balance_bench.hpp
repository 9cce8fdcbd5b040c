// `octant bench balance`: how evenly the decompositions divide clustered work (curamses.txt,
// section 8.6.3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "decomp/partition.hpp"

namespace octant::bench {

// A periodic cube of cells whose weights are 1 plus Gaussian clusters of amplitude 10 to 100 and
// width 0.02 to 0.10 of the cube at random places; blocks of cells are what ranks own.
struct ClusteredCube {
  int cells = 128;  // along each axis
  int block_size = 8;
  int clusters = 20;
  int seed = 1;

  int blocks() const { return cells / block_size; }  // along each axis
};

// The weights of the blocks, x fastest.
std::vector<double> block_weights(const ClusteredCube& cube);

struct BalanceResult {
  double imbalance = 0.0;     // largest weight of a rank over the mean one
  double border_share = 0.0;  // of all cells: those with a face to another rank's cell
  RankStatistics partners;    // ranks across the faces of a rank's cells
  double seconds = 0.0;       // processor time to find the owners
};

// Divides the cube among any number of ranks, in one process.
BalanceResult measure_balance(const ClusteredCube& cube, Decomposition decomposition, int ranks);

// The command. Returns an exit code; throws InputError for bad options. Only the root works.
int balance_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
