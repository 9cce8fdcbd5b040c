// Artificial faults for tests of their detection: section [debug] of a parameter file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "decomp/morton.hpp"

namespace octant {

// Parameters of the section [debug]; delayed sends are part of CommOptions. They never change the
// bits of a field.
struct DebugOptions {
  int ranks_per_node = 0;  // 0: nodes of the machine
  std::vector<std::string> synthetic_load;
  std::vector<double> slow_ranks;
  int slow_node = -1;
  double slow_factor = 3.0;
  double step_seconds = 0.0;

  // Slow-down factor of a rank's kernels.
  double slowness(int rank, int node) const;
  // Sleeps until a step has taken step_seconds.
  void delay_step(double seconds_so_far) const;
};

// Declares the section [debug]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, DebugOptions& options);

// Slow-down factors of block sweeps: a pure function of level and key.
class SyntheticLoad {
 public:
  // Parses "LEVEL:KEY:FACTOR" and "random:FRACTION:FACTOR". Throws InputError for other text.
  explicit SyntheticLoad(const std::vector<std::string>& entries);

  // True without synthetic load.
  bool is_empty() const { return blocks_.empty() && drawn_.empty(); }
  // Factor of a block; 1 normally.
  double factor(int level, Key key) const;

 private:
  struct Block {
    int level;
    std::uint64_t key;
    double factor;
  };
  struct Drawn {
    double share, factor;
  };
  std::vector<Block> blocks_;
  std::vector<Drawn> drawn_;
};

// Keeps this thread's processor busy for a time.
void burn(std::int64_t nanoseconds);

}  // namespace octant
