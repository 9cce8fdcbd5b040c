// Common parts of the pencil benchmarks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
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

  // Numbers of cells along x, y and z.
  pencil::Cells shape() const { return {cells[0], cells[1], cells[2]}; }
  // Returns the process grids of all ranks with at least `min_planes` planes and rows per rank,
  // or the selected one. Throws InputError if none fits.
  std::vector<pencil::ProcessGrid> grids(int ranks, int min_planes) const;
};
// Declares both options.
void declare(Options& options, PencilChoice& choice);

// Process grid of a list such as "*x1,1x*,2x4,auto,all", in which a star is the number that fits.
struct GridChoice {
  std::string pattern;                      // entry of the list
  std::optional<pencil::ProcessGrid> grid;  // none: auto, or not possible
  std::string reason;                       // why it is not possible; empty: it is possible
};
// Returns one choice per entry, several for "all". Throws InputError for other texts.
std::vector<GridChoice> grid_choices(const std::string& list, int ranks,
                                     const pencil::Cells& cells);

// Minimum of the slowest rank's seconds over `repeats` calls after one warm-up, because load by
// other programs can only add. Collective.
double min_of_slowest(const Communicator& communicator, int repeats,
                      const std::function<double()>& seconds_of_one);

// Bytes per second copied by all ranks, reads and writes, between arrays of `entries` doubles per
// rank. Collective.
double copy_bytes_per_second(const Communicator& communicator, std::int64_t entries);

}  // namespace octant::bench
