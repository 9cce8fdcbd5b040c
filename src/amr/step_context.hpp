// Common data of all parts of a time step: parameters, mesh, level times, and timers. The tasks of
// StepContext advance the times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "amr/amr_options.hpp"
#include "amr/block_meter.hpp"
#include "mesh/face_fields.hpp"
#include "mesh/mesh.hpp"
#include "run/timers.hpp"

namespace octant {

// Step of one level, of length `dt`: from the fraction `begin` to `end` of the coarser level's step
// (0 to 1 on level 0).
struct LevelStep {
  int level = 0;
  double dt = 0.0, begin = 0.0, end = 1.0;
};

// Part of the time step whose member functions are tasks. Each class has its own number `k_part`.
class StepPart {};
// Numbers of the classes with tasks.
enum class PartNumber {
  context,
  gas,
  radiation,
  gravity,
  particles,
  processes,
  measurement,
  count
};

// Common data of all parts of a step.
struct StepContext : StepPart {
  static constexpr PartNumber k_part = PartNumber::context;

  // Timer of a part of a level's step, which also counts towards the costs of its blocks, until the
  // end of the scope.
  struct Work {
    Timers::Scope timing;
    PartTimer metering;
  };
  // Counts cycles of loops over the cells of blocks for a part, on `level` and finer levels, until
  // the end of the scope.
  class CycleCounting {
   public:
    CycleCounting(StepContext& context, const std::string& name, const CostKind& kind, int level);
    ~CycleCounting();
    CycleCounting(const CycleCounting&) = delete;
    CycleCounting& operator=(const CycleCounting&) = delete;

   private:
    StepContext& context_;
    int level_;
  };
  // Timer and cycle counting together.
  struct CountedWork {
    Work work;
    CycleCounting counting;
  };

  // Creates the mesh. Collective.
  StepContext(const Communicator& communicator, AmrOptions& options);

  // Starts a timer; see Work.
  Work work(const char* name, const CostKind& kind, int level, Phase phase = Phase::compute) {
    return {timers.time(name, phase, level), meter.time(name, kind, level)};
  }
  // Starts a timer that also counts cycles in all cell ranges that the mesh returns in the scope.
  CountedWork counted_work(const char* name, const CostKind& kind, int level) {
    return {work(name, kind, level), {*this, name, kind, level}};
  }
  // Maximum number of levels.
  int levels() const { return mesh.geometry().max_level() + 1; }
  double scale_factor() const;  // 1 without expansion
  // Finest level allowed. With refine.holdback, levels open one after the other such that the
  // proper size of the finest cells stays about constant, the last one at a = 0.79.
  int finest_allowed() const;

  // --- tasks: times and counters ---------------------------------------------------------------
  // Begins a coarse step: the clocks of all levels.
  void begin_coarse_step(const LevelStep& level_step);
  void count_step(const LevelStep& level_step);    // Counts a step of one level.
  void advance_time(const LevelStep& level_step);  // Advances `time` to the end of the coarse step.
  // Sets the clocks of finer levels to that of the level of the step.
  void synchronise_clocks(const LevelStep& level_step);
  // Counts the coarse step.
  void end_coarse_step(const LevelStep& level_step);

  AmrOptions& options;
  mesh::Mesh mesh;
  // face-centred fields of processes; null if there are none
  std::unique_ptr<mesh::FaceFields> faces;
  BlockMeter meter;
  Timers timers;
  double time = 0.0;            // start of the coarse step; its end after advance_time()
  double middle_of_step = 0.0;  // midpoint of the coarse step
  std::int64_t step = 0;        // number of completed coarse steps
  // State of each level: time, length of the last step, number of steps begun in this coarse step,
  // and number of leaf cells on this rank.
  std::vector<double> clocks, level_dt;
  std::vector<std::int64_t> level_steps, leaf_cells;
  std::vector<std::int64_t> all_leaf_cells;  // number of leaf cells on all ranks, by level
  // number of cell updates on this rank and on all ranks
  std::int64_t cell_updates = 0, all_cell_updates = 0;
};

// Bytes of the base grid's fields on all ranks together: the minimum for a run with these options.
double base_grid_bytes(const AmrOptions& options);

}  // namespace octant
