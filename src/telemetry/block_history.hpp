// What a run's telemetry says about its blocks, step by step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octant::telemetry {

struct RecordedBlock {
  int level = 0;
  std::uint64_t key = 0;
  int rank = 0;
  int updates = 0;       // sub-steps in the step
  double cost_ns = 0.0;  // measured
};

struct RecordedStep {
  std::int64_t step = 0;
  std::vector<RecordedBlock> blocks;  // by level and key
};

// The steps of a run directory in their order. Of steps that a restart made again the later ones
// count. Throws InputError if the directory holds no records of blocks, and RunError if a file
// cannot be read.
std::vector<RecordedStep> read_block_history(const std::string& run);

}  // namespace octant::telemetry
