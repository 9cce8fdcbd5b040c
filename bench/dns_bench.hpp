// `octant bench dns`: how fast whole steps of a channel flow are, and where their time goes.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

struct DnsCase {
  std::array<int, 3> cells{128, 64, 72};
  std::string diffusion = "explicit", poisson = "ftm", process_grid = "auto";
  std::string transpose = "auto", schedule = "auto";
};

// One case, measured. Times are of the fastest step, on the rank that was slowest in it.
struct DnsResult {
  DnsCase dns_case;
  int ranks = 1;
  std::string process_grid, transpose, schedule;
  double seconds = 0.0;      // of a step
  double cpu_seconds = 0.0;  // processor time over all ranks of the step that took least
  std::vector<std::pair<std::string, double>> parts;  // seconds of that step by part
  double bytes_sent = 0.0;         // per step by the rank that sends most: transposes and halos
  double fields_of_memory = 0.0;   // peak memory of a rank over that of one of its fields
  double scaled_divergence = 0.0;  // at the end, over the largest velocity by its cell's size

  double cells() const {
    return static_cast<double>(dns_case.cells[0]) * dns_case.cells[1] * dns_case.cells[2];
  }
  double nanoseconds_per_cell() const { return 1e9 * seconds / cells(); }
  double cpu_nanoseconds_per_cell() const { return 1e9 * cpu_seconds / cells(); }
  bool moves_planes() const { return schedule == "planes"; }
  // What the sweeps over planes must read and write per cell where no field stays in cache.
  double bytes_moved_per_cell() const;
};

// Collective; every rank gets the result.
DnsResult measure_dns(const Communicator& communicator, const DnsCase& dns_case, int steps);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int dns_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
