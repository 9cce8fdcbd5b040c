// History of a run's blocks, step by step, from its telemetry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octant::bench {

// Block in a step of a run.
struct RecordedBlock {
  int level = 0;
  std::uint64_t key = 0;
  int rank = 0;
  int updates = 0;       // substeps in the step
  double cost_ns = 0.0;  // measured
};

// Step of a run with its blocks.
struct RecordedStep {
  std::int64_t step = 0;
  std::vector<RecordedBlock> blocks;  // sorted by level and key
};

// Reads the steps of a run directory in order. Steps repeated after a restart replace the earlier
// ones. Throws InputError if the directory has no records of blocks, and RunError if a file cannot
// be read.
std::vector<RecordedStep> read_block_history(const std::string& run);

}  // namespace octant::bench
