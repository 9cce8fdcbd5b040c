// What every block costs: runs the sweeps of an AMR run, and keeps time of them and of all else
// that is done block by block.
#pragma once

#include <cstdint>
#include <vector>

#include "decomp/key_table.hpp"
#include "driver/debug_options.hpp"
#include "driver/part_times.hpp"
#include "hydro/sweep.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

class BlockMeter {
 public:
  // A block's cost over a coarse step.
  struct Cost {
    double nanoseconds = 0.0;
    double work = 0.0;  // in work units: cell updates, times the factor of debug.synthetic_load
    int updates = 0;
  };

  // `slowness`: how many times as long this rank's kernels shall take. `waits`: the parts of a step
  // wait for their kernels, so that each has its own.
  BlockMeter(const mesh::Mesh& mesh, const SyntheticLoad& load, double slowness, bool waits);

  // A coarse step begins, on the mesh as it is now, or ends, with so many particles in own blocks.
  void begin_step();
  void end_step(const BlockCounts& particles);

  // Where a sweep of a level counts what each tile takes: by the processor's counter, or 1 for each
  // with batches. A tile's time is split among its blocks by their cells.
  std::uint64_t* tile_cycles(int level) const { return levels_[level].tile_cycles.data(); }
  // Starts the tiles begin <= t < end of a level's sweep, and waits for what the sweep came to.
  void start(hydro::LevelSweep& sweep, int level, int begin, int end);
  hydro::SweepResult result(const hydro::LevelSweep& sweep, int level);
  // Counts the time until the end of the scope as a part of what a level's blocks cost. There are
  // the parts that were named so far, each by its name and share.
  PartTimer time(const std::string& name, Share share, int level);
  // Cells of own blocks in these tiles.
  std::int64_t cells(int level, int begin, int end) const;
  // A sub-step of a level is done.
  void count_update(int level) { ++levels_[level].updates; }

  // By slot, of the last step.
  const std::vector<Cost>& costs(int level) const { return levels_[level].costs; }
  double work() const;  // of all own blocks in the last step

  // Nanoseconds per update, smoothed over the last steps. A block that was not measured yet has its
  // parent's; 0 where nothing is known of that either.
  double smoothed(int level, Key key) const;

  // Sends what is known of blocks along with them: before Mesh::migrate, with its arguments.
  // Collective.
  void migrate(const std::vector<std::vector<int>>& owners);

 private:
  struct Level {
    mesh::DeviceArray<std::uint64_t> tile_cycles;
    double wall_ns = 0.0, cpu_ns = 0.0;  // of the sweeps
    std::vector<double> burnt_ns;        // by slot: synthetic load
    std::vector<Cost> costs;             // by slot
    int updates = 0;
    KeyTable<float> smoothed, inherited;  // by key: measured, and what came with a block instead
  };
  template <class Work>
  double timed(int level, const Work& work);
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

// Takes `excess` from the longest of the times, down to their median: what a thread lost while it
// did not run lies in few of many pieces of similar length.
void remove_preemption(std::vector<double>& times, double excess);

}  // namespace octant::driver
