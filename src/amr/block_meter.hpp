// Measured cost of every block by component: gas sweeps, gravity, particles and processes.
//
// One scope (SweepTimer, PartTimer) times each part of a step. Loops over blocks within the scope
// count processor cycles, where possible, by tile, patch or block; the time of the part is
// distributed over blocks by these counts (part_times.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "amr/part_times.hpp"
#include "decomp/key_table.hpp"
#include "decomp/work.hpp"
#include "mesh/mesh.hpp"
#include "run/debug_options.hpp"

namespace octant {

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

// Measurement of the cost of every block of this rank.
class BlockMeter {
 public:
  // Cost of a block over a coarse step.
  struct Cost {
    std::array<double, k_cost_components> nanoseconds{};
    double work = 0.0;  // cell updates, times the factor of debug.synthetic_load
    int updates = 0;

    double& operator[](CostComponent component) {
      return nanoseconds[static_cast<std::size_t>(component)];
    }
    double operator[](CostComponent component) const {
      return nanoseconds[static_cast<std::size_t>(component)];
    }
    double total() const;  // sum over all components, in nanoseconds
  };

  // `slowness` is the artificial slow-down factor of this rank's kernels. If `waits`, each part of
  // a step waits for its kernels to end, so that kernel times are assigned to the right part.
  BlockMeter(const mesh::Mesh& mesh, const SyntheticLoad& load, double slowness, bool waits);

  // Begins the measurement of a coarse step on the current mesh.
  void begin_step();
  // Ends the measurement of a coarse step, with the particle counts of own blocks.
  void end_step(const BlockCounts& particles);

  // Cost counters of the sweeps of a level, one per tile: processor cycles on the host; with the
  // batch schedule, the number of sweeps, so that all tiles have equal cost. The time of a tile is
  // distributed over its blocks in proportion to their cells.
  std::uint64_t* tile_cycles(int level) const { return levels_[level].tile_cycles.data(); }
  // Times a part of the cost of a level's blocks until the end of the scope. Name and kind identify
  // the part.
  PartTimer time(const std::string& name, const CostKind& kind, int level);
  // Returns the cycle counters of part `name` for this rank's blocks on `level`, indexed by slot;
  // valid until the mesh changes. Empty on a device and for kinds without `counts_cycles`: the time
  // of such a part is distributed in proportion to `kind.share`.
  std::span<std::uint64_t> block_cycles(const std::string& name, const CostKind& kind, int level);
  // Number of cells of own blocks in these tiles.
  std::int64_t cells(int level, int begin, int end) const;
  // Counts a completed substep of a level.
  void count_update(int level) { ++levels_[level].updates; }

  // Costs by slot in the last step.
  const std::vector<Cost>& costs(int level) const { return levels_[level].costs; }
  double work() const;  // sum over own blocks in the last step

  // Times of all components by level on this rank since the last call, with block updates as the
  // measure of work.
  std::vector<LevelTime> take_level_times();
  // Times of all components by level on this rank in the last step; empty before the first.
  const std::vector<double>& last_step() const { return last_step_; }

  // Nanoseconds per update of a block, smoothed over recent steps. A new block has the value of its
  // parent; 0 if that is unknown, too.
  double smoothed(int level, Key key) const;

  // Sends the measured costs along with migrating blocks. Must precede Mesh::migrate, with the same
  // arguments. Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

 private:
  friend class SweepTimer;
  struct Level {
    mesh::DeviceArray<std::uint64_t> tile_cycles;
    std::vector<std::vector<std::uint64_t>> block_cycles;  // by part and slot; may be empty
    double wall_ns = 0.0, cpu_ns = 0.0;                    // times of the sweeps
    std::vector<double> burnt_ns;  // artificial time of debug.synthetic_load, by slot
    std::vector<Cost> costs;       // by slot
    int updates = 0;
    KeyTable<float> smoothed,
        inherited;  // costs by key: measured for the block, or for its parent
  };
  void record_sweep(int level, int begin, int end, double wall_ns, double cpu_ns);
  void burn_synthetic_load(int level, int begin, int end, double cpu_ns);
  std::vector<double> tile_nanoseconds(const Level& level) const;
  void distribute_sweeps(int level);
  void distribute_parts(const BlockCounts& particles);
  PartTimes& part(const std::string& name, const CostKind& kind);
  ByBlock<double> counted_times(std::size_t part, double ns_per_cycle) const;
  void add_up_levels();
  void smooth(int level);

  const mesh::Mesh& mesh_;
  SyntheticLoad load_;
  double slowness_;
  bool waits_;
  std::vector<Level> levels_;
  std::deque<PartTimes> parts_;  // a deque, because references to elements remain valid
  std::vector<LevelTime> level_times_;
  std::vector<double> last_step_;
  std::uint64_t begun_cycles_ = 0;  // cycle counter at the start of the step
  std::int64_t begun_ns_ = 0;
};

// Subtracts a total of `excess` from the longest times, down to their median: preemption of a
// thread affects few of many pieces of similar length.
void remove_preemption(std::vector<double>& times, double excess);

}  // namespace octant
