// `octant bench tridiagonal`: full transpose against P-TDMA, for one matrix per line (Poisson) and
// for one matrix for all lines (implicit diffusion).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::bench {

// Case of the benchmark.
struct TridiagonalCase {
  pencil::Cells cells{128, 64, 72};
  pencil::ProcessGrid processes;
  // Method: ftm, algorithm_1, algorithm_2, two_sweeps, batches (one rank), or implicit diffusion
  // by P-TDMA from x-pencils (direct) or by way of y-pencils (detour).
  std::string method;
  pencil::TransposeBackend backend = pencil::TransposeBackend::p2p;
};

// Result per solve. Messages and bytes are sent by a rank along z; seconds are those of the slowest
// rank, each the minimum over all repeats.
struct TridiagonalResult {
  RankStatistics messages, bytes;
  RankStatistics kept_bytes;         // in the exchange, kept on the rank
  double tridiagonal_seconds = 0.0;  // with exchange, without transforms, x-y transposes
  double solve_seconds = 0.0;        // whole Poisson solve; not for the paper's algorithms
  RankStatistics field_messages, field_bytes;
  double field_seconds = 0.0;  // one matrix for all lines of a field
};

// Measures a channel: periodic along x and y, walls along z. Collective; every rank gets the
// result.
TridiagonalResult measure_tridiagonal(const Communicator& communicator,
                                      const TridiagonalCase& setup, int repeats);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int tridiagonal_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
