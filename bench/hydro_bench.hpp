// `octant bench hydro`: speed of whole steps of gas dynamics, and times of their parts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/hydro_case.hpp"
#include "comm/communicator.hpp"

namespace octant::bench {

// Result of one case. A step consists of adapt, measure and step, as in a run. Seconds are those of
// the slowest rank, in the repeat of median length; the initial state is separate.
struct HydroResult {
  HydroCase hydro_case;
  int ranks = 1, threads = 1;                         // threads per rank
  double seconds = 0.0;                               // wall-clock time
  double cpu_seconds = 0.0;                           // CPU time over all ranks and threads
  double initial_seconds = 0.0;                       // wall-clock time of the initial state
  std::int64_t cell_updates = 0;                      // leaf cells over all ranks
  std::int64_t leaf_cells = 0;                        // at the end
  double simulated_time = 0.0;                        // at the end
  std::vector<std::pair<std::string, double>> parts;  // seconds by part, each of its slowest rank

  // Leaf-cell updates per second of wall-clock time.
  double updates_per_second() const { return static_cast<double>(cell_updates) / seconds; }
  // Leaf-cell updates per second of CPU time.
  double updates_per_cpu_second() const { return static_cast<double>(cell_updates) / cpu_seconds; }
};

// Runs the case `repeats` times. Collective; every rank gets the result.
HydroResult measure_hydro(const Communicator& communicator, const HydroCase& hydro_case,
                          int repeats);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int hydro_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
