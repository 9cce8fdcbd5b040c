// What the benchmarks on pencils have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/bench_options.hpp"
#include "comm/communicator.hpp"
#include "pencil/pencil_grid.hpp"

namespace octant::bench {

// Options --cells and --process-grid.
struct PencilChoice {
  std::vector<int> cells{128, 64, 72};
  std::string process_grid = "all";  // or "2x4"

  pencil::Cells shape() const { return {cells[0], cells[1], cells[2]}; }
  // Those of all ranks that leave at least so many planes and rows to each, or the one that was
  // chosen. Throws InputError if none fits.
  std::vector<pencil::ProcessGrid> grids(int ranks, int least_planes) const;
};
void declare(Options& options, PencilChoice& choice);

// Seconds of the slowest rank in each of `repeats` calls, after one that warms up: the least of
// them, because other people's load only adds. Collective.
double least_of_slowest(const Communicator& communicator, int repeats,
                        const std::function<double()>& seconds_of_one);

// Bytes per second that all ranks together copy, counting what is read and what is written, between
// arrays of `entries` doubles per rank. Collective.
double copy_bytes_per_second(const Communicator& communicator, std::int64_t entries);

}  // namespace octant::bench
