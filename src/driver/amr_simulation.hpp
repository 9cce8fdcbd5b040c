// The AMR half of Octant: gas on the mesh, advanced in time. This class is the algorithm; outputs
// and run control are in run_amr.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "decomp/cost.hpp"
#include "decomp/partition.hpp"
#include "decomp/planner.hpp"
#include "driver/block_meter.hpp"
#include "driver/options.hpp"
#include "driver/repair.hpp"
#include "driver/timers.hpp"
#include "gravity/gravity.hpp"
#include "hydro/sweep.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

// Totals over the leaf cells of the domain, in code units; the same bits on any number of ranks.
struct Totals {
  double mass = 0, momentum[3] = {0, 0, 0}, total_energy = 0, kinetic_energy = 0;
  double absolute_momentum = 0;
  double potential_energy = 0;                   // of self-gravity
  std::vector<std::int64_t> blocks, leaf_cells;  // by level
};

class AmrSimulation {
 public:
  // Collective, as all functions are that change the state.
  AmrSimulation(const Communicator& communicator, const AmrOptions& options);

  // Sets the problem's initial state, refining until the mesh no longer changes.
  void initialise();

  // Measures the state: fills totals() and finds the longest stable step. Throws RunError, naming
  // level, position and values, if a density or energy is NaN or not positive.
  void measure();

  // One coarse step of length dt, on all levels.
  void step(double dt);

  // Regrids and rebalances if it is time to. Call it before a step.
  void adapt();

  double stable_dt() const;  // after measure()
  const Totals& totals() const { return totals_; }
  const Floored& floored() const { return floored_; }
  double time() const { return time_; }
  std::int64_t step_count() const { return step_; }
  std::int64_t cell_updates() const { return cell_updates_; }  // of leaf cells, on this rank
  std::int64_t own_leaf_cells() const;
  std::int64_t bytes_per_block() const {  // that migrate with it
    return mesh_.layout().stride_slot * static_cast<std::int64_t>(sizeof(double));
  }
  mesh::Mesh& mesh() { return mesh_; }
  const mesh::Mesh& mesh() const { return mesh_; }
  const AmrOptions& options() const { return options_; }
  Timers& timers() { return timers_; }
  const BlockMeter& meter() const { return meter_; }
  // Whether the last adapt() changed the mesh, or moved blocks.
  bool regridded() const { return regridded_; }
  bool rebalanced() const { return rebalanced_; }
  // What planners decided in it; level -1 stands for all levels.
  struct Placement {
    int level;
    PlacementReport report;
  };
  const std::vector<Placement>& placements() const { return placements_; }
  gravity::Gravity* gravity() { return gravity_.get(); }  // null without self-gravity
  const gravity::Gravity* gravity() const { return gravity_.get(); }

  // For restart: the state of the mesh is set by the caller.
  void set_time(double time, std::int64_t step);
  void set_floored(const Floored& floored) { floored_ = floored; }
  // Moves blocks so that every rank carries its share of the cost. True if any moved.
  bool rebalance();

 private:
  void advance(int level, double dt, double begin, double end);
  void advance_finer(int level, double dt);
  void sweep_stage(int level, int stage, double dt, double theta);
  hydro::SweepResult sweep_tiles(const hydro::SweepArguments& arguments, int level, int begin,
                                 int end);
  void adapt_gravity();
  void finish_kicks(int coarsest);
  double level_limit(int level, double courant) const;           // longest stable step of a level
  double fastest_signal(int level, const double* blocks) const;  // on this rank
  bool regrid();
  std::vector<std::vector<CostItem>> block_costs();
  std::vector<std::vector<int>> balance_each_level(const std::vector<std::vector<CostItem>>& costs);
  std::vector<std::vector<int>> balance_all_levels(const std::vector<std::vector<CostItem>>& costs);
  std::vector<int> owners_of(const std::vector<CostItem>& blocks, int level);
  double communication_share() const;
  void measure_costs(std::vector<std::vector<CostItem>>& costs) const;
  void set_initial_state(int level);
  std::string describe_cell(int level, int slot, int cell) const;

  const AmrOptions& options_;
  mesh::Mesh mesh_;
  std::unique_ptr<gravity::Gravity> gravity_;
  BlockMeter meter_;
  Timers timers_;
  Totals totals_;
  Floored floored_;
  std::vector<double> fastest_;                // by level: signal speed, over all ranks
  std::vector<std::int64_t> leaf_cells_here_;  // by level, on this rank
  std::vector<LevelTime> level_times_;         // of sweeps since the last balancing
  mesh::DeviceArray<std::uint8_t> bad_tiles_;
  std::vector<double> clocks_, level_dt_;  // by level: time reached, and the last step
  double time_ = 0.0;
  std::int64_t step_ = 0, cell_updates_ = 0;
  bool regridded_ = false, rebalanced_ = false;
  std::vector<Placement> placements_;  // by the last adapt()
};

}  // namespace octant::driver
