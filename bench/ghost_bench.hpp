// `octant bench ghost`: what the ghost data of a uniform periodic grid cost, by decomposition and
// by way of exchange.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "comm/comm_options.hpp"
#include "decomp/partition.hpp"

namespace octant::bench {

// N^3 cells in blocks, with what gas dynamics stores and reads.
struct GhostGrid {
  int cells = 64;
  int block_size = 8;
  int variables = 5;
  int ghosts = 2;
};

// Over the ranks, per exchange. Neighbours are the ranks whose cells a rank reads; partners, those
// that it sends messages to, which are others where messages are forwarded.
struct GhostResult {
  Decomposition decomposition = Decomposition::ksection;
  Backend backend = Backend::p2p;
  RankStatistics blocks, neighbours, face_neighbours, partners, messages, bytes;
  RankStatistics surface, volume;  // cell faces that other ranks' cells touch; cells
  double build_seconds = 0.0;      // to decide on owners, move the blocks and plan the exchange
  double seconds = 0.0;            // of the median exchange, packing included, of the slowest rank

  double surface_to_volume() const { return surface.mean / volume.mean; }
};

// Fills the ghost cells of the grid `exchanges` times. Collective; every rank gets the result.
GhostResult measure_ghosts(const Communicator& communicator, const GhostGrid& grid,
                           Decomposition decomposition, Backend backend, int exchanges);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int ghost_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
