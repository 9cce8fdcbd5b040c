// `octant bench balance`: balance of clustered work, and partners on uniform grids, by the domain
// decompositions (cuRAMSES paper, sections 8.6.1 and 8.6.3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "decomp/partition.hpp"

namespace octant::bench {

// Periodic cube of cells with weights 1 plus Gaussian clusters of amplitude 10 to 100 and width
// 0.02 to 0.10 of the cube at random positions; ranks own blocks of cells.
struct ClusteredCube {
  int cells = 128;  // along each axis
  int block_size = 8;
  int clusters = 20;  // 0: uniform
  int seed = 1;

  int blocks() const { return cells / block_size; }  // along each axis
};

// Weights of the blocks, x fastest.
std::vector<double> block_weights(const ClusteredCube& cube);

// Quality of a decomposition.
struct BalanceResult {
  double imbalance = 0.0;          // maximum over mean weight of the ranks
  double border_share = 0.0;       // fraction of cells with a face to another rank's cell
  double surface_to_volume = 0.0;  // cell faces to other ranks per cell, over all ranks
  RankStatistics partners;         // neighbouring ranks across faces
  double seconds = 0.0;            // CPU time of the decomposition
};

// Decomposes the cube for any number of ranks, in one process.
BalanceResult measure_balance(const ClusteredCube& cube, Decomposition decomposition, int ranks,
                              double tolerance = k_balance_tolerance);

// Runs the command. Returns an exit code; throws InputError for bad options. Only the root works.
int balance_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
