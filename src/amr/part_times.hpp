// Block costs other than sweeps: processor time of the other parts of a step.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/clocks.hpp"

namespace octant {

// Quantity to which a part's time on a level is proportional.
enum class Share {
  blocks,            // equal for all blocks
  leaf_cells,        // leaf cells of a block
  particles,         // particles of the level
  particles_onwards  // particles of the level and all finer ones
};

// Times of a named part.
struct PartTimes {
  std::string name;
  Share share;
  std::vector<double> nanoseconds;  // by level
};

// Adds the main thread's CPU time until the end of the scope, without MPI. Includes device kernels
// only if `waits`; otherwise a later wait includes them.
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

// Counts by level and block.
using BlockCounts = std::vector<std::vector<std::int32_t>>;

struct BlockContents {
  BlockCounts particles, leaf_octants;
};

// Nanoseconds of all parts by level and block. Parts weighted by particles or leaf cells are
// distributed evenly over the blocks of a level without any; the time of a level without blocks is
// dropped.
std::vector<std::vector<double>> share_out(std::span<const PartTimes> parts,
                                           const BlockContents& contents);

}  // namespace octant
