// Measured cost of every block: time of its gas sweeps and of all other block-wise work.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/clocks.hpp"
#include "decomp/key_table.hpp"
#include "mesh/mesh.hpp"
#include "run/debug_options.hpp"

namespace octant {

// Block costs other than sweeps: processor time of the other parts of a step.

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

class BlockMeter;

// Times the sweep of tiles [begin, end) of a level until the end of the scope, or, without tiles,
// the whole sweep. Includes the artificial time of debug.slow_ranks and debug.synthetic_load at its
// end.
class SweepTimer {
 public:
  SweepTimer(BlockMeter& meter, int level, int begin, int end);
  ~SweepTimer();
  SweepTimer(const SweepTimer&) = delete;
  SweepTimer& operator=(const SweepTimer&) = delete;

 private:
  BlockMeter& meter_;
  int level_, begin_, end_;
  std::int64_t wall_, cpu_;  // start times in nanoseconds
};

class BlockMeter {
 public:
  // Cost of a block over a coarse step.
  struct Cost {
    double nanoseconds = 0.0;
    double work = 0.0;  // cell updates, times the factor of debug.synthetic_load
    int updates = 0;
  };

  // `slowness`: artificial slow-down factor of this rank's kernels. `waits`: parts of a step wait
  // for the end of their kernels, so that kernel times are assigned correctly.
  BlockMeter(const mesh::Mesh& mesh, const SyntheticLoad& load, double slowness, bool waits);

  // Begins a coarse step on the current mesh, or ends it with these particle counts of own blocks.
  void begin_step();
  void end_step(const BlockCounts& particles);

  // Counters per tile for a sweep of a level: processor cycles, or 1 for each in batches. The time
  // of a tile is distributed over its blocks by their cells.
  std::uint64_t* tile_cycles(int level) const { return levels_[level].tile_cycles.data(); }
  // Times a part of the cost of a level's blocks until the end of the scope. Parts are identified
  // by name and share.
  PartTimer time(const std::string& name, Share share, int level);
  // Number of cells of own blocks in these tiles.
  std::int64_t cells(int level, int begin, int end) const;
  // Counts a completed substep of a level.
  void count_update(int level) { ++levels_[level].updates; }

  // Costs by slot in the last step.
  const std::vector<Cost>& costs(int level) const { return levels_[level].costs; }
  double work() const;  // sum over own blocks in the last step

  // Nanoseconds per update, smoothed over recent steps. New blocks have the value of their parent;
  // 0 if that is unknown, too.
  double smoothed(int level, Key key) const;

  // Sends the measured costs along with migrating blocks. Must precede Mesh::migrate, with the same
  // arguments. Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

 private:
  friend class SweepTimer;
  struct Level {
    mesh::DeviceArray<std::uint64_t> tile_cycles;
    double wall_ns = 0.0, cpu_ns = 0.0;  // of the sweeps
    std::vector<double> burnt_ns;        // by slot: synthetic load
    std::vector<Cost> costs;             // by slot
    int updates = 0;
    KeyTable<float> smoothed,
        inherited;  // by key: measured, and received with a block
  };
  void count_sweep(int level, int begin, int end, double wall_ns, double cpu_ns);
  void burn_synthetic_load(int level, int begin, int end, double cpu_ns);
  std::vector<double> tile_nanoseconds(const Level& level) const;
  void share_out_sweeps(int level);
  void share_out_parts(const BlockCounts& particles);
  void smooth(int level);

  const mesh::Mesh& mesh_;
  SyntheticLoad load_;
  double slowness_;
  bool waits_;
  std::vector<Level> levels_;
  std::vector<PartTimes> parts_;
};

// Subtracts a total of `excess` from the longest times, down to their median: preemption of a
// thread affects few of many pieces of similar length.
void remove_preemption(std::vector<double>& times, double excess);

}  // namespace octant
