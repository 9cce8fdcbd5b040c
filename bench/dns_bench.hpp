// `octant bench dns`: speed of whole steps of a channel flow, times of their parts, and scaling
// with numbers of ranks and process grids.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// Case of the benchmark.
struct DnsCase {
  std::array<int, 3> cells{128, 64, 72};
  std::string diffusion = "explicit", poisson = "ftm", process_grid = "auto";
  std::string transpose = "auto", schedule = "auto", pencil_axis = "x";
};

// Operations to which a part of a step belongs.
enum class DnsGroup { poisson, diffusion, rest };

// Seconds of a part of a step on its slowest rank: mean and minimum over the steps.
struct DnsPart {
  DnsGroup group;
  std::string name;
  double mean, least;
};

// Bytes and messages that the busiest rank sends per step for one purpose.
struct DnsTraffic {
  double bytes = 0.0, messages = 0.0;
};

// Result of one case, on the slowest rank.
struct DnsResult {
  DnsCase dns_case;
  int ranks = 1;
  std::string process_grid, transpose, schedule;
  double seconds = 0.0;       // of the fastest step
  double mean_seconds = 0.0;  // of a step
  double cpu_seconds = 0.0;   // CPU time over all ranks of the step with the least
  std::vector<DnsPart> parts;
  double bytes_sent = 0.0;  // per step by the rank that sends most: transposes and halos
  // Traffic of the pressure solver, of implicit diffusion, of halos, and of transposes to whole
  // rows for sums (pencils along z only).
  DnsTraffic poisson, diffusion, halo, rows;
  double fields_of_memory = 0.0;   // peak memory of a rank over that of one field
  double scaled_divergence = 0.0;  // at the end, relative to the maximum velocity over cell size

  // Number of cells of the grid.
  double cells() const {
    return static_cast<double>(dns_case.cells[0]) * dns_case.cells[1] * dns_case.cells[2];
  }
  // Nanoseconds of wall-clock time per cell of the fastest step.
  double nanoseconds_per_cell() const { return 1e9 * seconds / cells(); }
  // Nanoseconds of CPU time per cell and step, over all ranks.
  double cpu_nanoseconds_per_cell() const { return 1e9 * cpu_seconds / cells(); }
  // Sum over the parts of a group.
  DnsPart sum(DnsGroup group) const;
  // True if the plane schedule was used.
  bool moves_planes() const { return schedule == "planes"; }
  // Minimum memory traffic per cell of the sweeps over planes if no field stays in cache.
  double bytes_moved_per_cell() const;
};

// Collective; every rank gets the result.
DnsResult measure_dns(const Communicator& communicator, const DnsCase& dns_case, int steps);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int dns_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
