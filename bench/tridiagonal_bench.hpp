// `octant bench tridiagonal`: the full transpose against P-TDMA, for one matrix per line (Poisson)
// and for one matrix for all lines (implicit diffusion).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::bench {

struct TridiagonalCase {
  pencil::Cells cells{128, 64, 72};
  pencil::ProcessGrid processes;
  std::string method;  // ftm, algorithm_1, algorithm_2, two_sweeps or batches (one rank)
  pencil::TransposeBackend backend = pencil::TransposeBackend::p2p;
};

// Of one solve. Messages and bytes are those that a rank sends along z; seconds those of the
// slowest rank, each the least of all repeats.
struct TridiagonalResult {
  RankStatistics messages, bytes;
  RankStatistics kept_bytes;         // of the exchange, that stay on the rank
  double tridiagonal_seconds = 0.0;  // exchange included, transforms and x-y transposes excluded
  double solve_seconds = 0.0;        // the whole Poisson solve; not of the paper's algorithms
  RankStatistics field_messages, field_bytes;
  double field_seconds = 0.0;  // one matrix for all lines of a field
};

// A channel: periodic along x and y, walls along z. Collective; every rank gets the result.
TridiagonalResult measure_tridiagonal(const Communicator& communicator,
                                      const TridiagonalCase& setup, int repeats);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int tridiagonal_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
