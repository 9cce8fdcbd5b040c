// `octant bench ghost`: cost of ghost-cell exchanges on a uniform periodic grid, by decomposition
// and communication backend.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "comm/comm_options.hpp"
#include "decomp/partition.hpp"

namespace octant::bench {

// Grid of N^3 cells in blocks, with the variables and ghost layers of gas dynamics.
struct GhostGrid {
  int cells = 64;
  int block_size = 8;
  int variables = 5;
  int ghosts = 2;
};

// Statistics over the ranks, per exchange. Neighbours are the ranks whose cells a rank reads;
// partners are those that it sends messages to, which differ if messages are forwarded.
struct GhostResult {
  Decomposition decomposition = Decomposition::ksection;
  Backend backend = Backend::p2p;
  RankStatistics blocks, neighbours, face_neighbours, partners, messages, bytes;
  RankStatistics surface, volume;  // cell faces adjacent to other ranks' cells; cells
  double build_seconds = 0.0;      // decomposition, migration and exchange plan
  double seconds = 0.0;            // median exchange including packing, slowest rank

  // Mean number of outer cell faces per cell.
  double surface_to_volume() const { return surface.mean / volume.mean; }
};

// Fills the ghost cells of the grid `exchanges` times. Collective; every rank gets the result.
GhostResult measure_ghosts(const Communicator& communicator, const GhostGrid& grid,
                           Decomposition decomposition, Backend backend, int exchanges);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int ghost_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
