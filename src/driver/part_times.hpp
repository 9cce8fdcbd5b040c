// What blocks cost beside their sweeps: processor time of the other parts of a step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/mpi_stopwatch.hpp"

namespace octant::driver {

// What of the blocks a part's time on a level goes with.
enum class Share {
  blocks,            // treats all of them alike
  leaf_cells,        // costs where no finer blocks are
  particles,         // costs where a level's particles are
  particles_onwards  // the same, those of finer levels included
};

// A part, named by whoever has it timed.
struct PartTimes {
  std::string name;
  Share share;
  std::vector<double> nanoseconds;  // by level
};

// Adds the main thread's processor time until the end of the scope, less that inside of MPI.
// Kernels on a device count if it `waits` for them; else what waits later has them.
class PartTimer {
 public:
  PartTimer(double& nanoseconds, bool waits);
  ~PartTimer();
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

 private:
  double& nanoseconds_;
  bool waits_;
  std::int64_t begun_;
  MpiStopwatch mpi_;
};

// By level and block: who has how many of something.
using BlockCounts = std::vector<std::vector<std::int32_t>>;

struct BlockContents {
  BlockCounts particles, leaf_octants;
};

// By level and block, the nanoseconds of all parts. What goes with particles or leaf cells is
// shared by their numbers, or by blocks of the level alone where there are none; what no block can
// take is lost.
std::vector<std::vector<double>> share_out(std::span<const PartTimes> parts,
                                           const BlockContents& contents);

}  // namespace octant::driver
