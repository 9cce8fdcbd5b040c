// The AMR half of Octant: gas and dark matter on the mesh, advanced in time. This class is the
// algorithm (amr_step.cpp); outputs and run control are in run_amr.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "decomp/cost.hpp"
#include "decomp/partition.hpp"
#include "decomp/planner.hpp"
#include "driver/block_meter.hpp"
#include "driver/energy_budget.hpp"
#include "driver/event_log.hpp"
#include "driver/matter.hpp"
#include "driver/outflow.hpp"
#include "driver/repair.hpp"
#include "driver/run_options.hpp"
#include "driver/schedule_model.hpp"
#include "driver/timers.hpp"
#include "gravity/gravity.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/stage_boundary.hpp"
#include "hydro/sweep.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

// Totals over the leaf cells of the domain, in code units; the same bits on any number of ranks.
struct Totals {
  // Of the gas.
  double mass = 0, momentum[3] = {0, 0, 0}, total_energy = 0, kinetic_energy = 0;
  double absolute_momentum = 0;
  std::vector<particles::ParticleTotals> particles;  // by kind
  double potential_energy = 0;                       // of all that attracts
  std::vector<std::int64_t> blocks, leaf_cells;      // by level
  std::vector<double> integrals;                     // of output.integrals

  Totals(int levels, std::size_t kinds)
      : particles(kinds), blocks(levels, 0), leaf_cells(levels, 0) {}
  double internal_energy() const { return total_energy - kinetic_energy; }
  // Of all kinds of particles together, added in their order.
  double particle_mass() const;
  double particle_kinetic_energy() const;
};

// What a run carries on beside its fields and particles.
struct RunState {
  double time = 0.0;
  std::int64_t step = 0;
  InitialScales scales;
  Floored floored;
  Outflow outflow;
  EnergyBudget energy;
  std::vector<subgrid::Ledger> ledgers;  // in the order of the processes
};

class AmrSimulation {
 public:
  // Collective, as all functions are that change the state.
  // Floors that the options leave open are set in them, as soon as the initial state is known.
  AmrSimulation(const Communicator& communicator, AmrOptions& options);

  // Bytes of the base grid's fields in all, the least that a run of these options needs.
  static double least_bytes(const AmrOptions& options);

  // Sets the problem's initial state, refining until the mesh no longer changes.
  void initialise();

  // Measures the state, if that is not known since the last step: fills totals() and finds the
  // longest stable step. Throws RunError, naming level, position and values, if a density or energy
  // is NaN or not positive.
  void measure();
  // The caller has changed gas or particles, but not where they are.
  void measure_anew() { measured_ = false; }

  // One coarse step of length dt, on all levels.
  void step(double dt);

  // Regrids and rebalances if it is time to. Call it before a step.
  void adapt();

  double stable_dt() const;  // after measure()
  const Totals& totals() const { return totals_; }
  const Floored& floored() const { return floored_; }
  const Outflow& outflow() const { return outflow_; }
  const EnergyBudget& energy() const { return energy_; }
  const std::vector<subgrid::Ledger>& ledgers() const { return ledgers_; }
  double time() const { return time_; }
  double scale_factor() const;  // 1 where nothing expands
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

  EventLog<subgrid::StarBirth>& births() { return births_; }
  EventLog<subgrid::HoleMerger>& mergers() { return mergers_; }
  Matter& matter() { return matter_; }
  const Matter& matter() const { return matter_; }

  // A restart: the caller has set the mesh, its fields, the particles and gravity's fields.
  RunState state();  // adds up what ranks have counted since the state was measured
  void resume(const RunState& state);
  // A start from another code's output: the caller has set the mesh, its gas and the particles.
  void begin_from(double time, std::int64_t step);

 private:
  // Of the gas in this rank's leaf cells, and where it is broken, if it is.
  struct MeasuredGas {
    hydro::GasSums sums;
    std::string broken;
  };

  // While it lives, the time of a part of a level's step, and that among what its blocks cost.
  struct Work {
    Timers::Scope timing;
    PartTimer metering;
  };
  Work work(const char* name, Share share, int level, Phase phase = Phase::compute) {
    return {timers_.time(name, phase, level), meter_.time(name, share, level)};
  }

  // amr_simulation.cpp
  void set_initial_state(int level);
  InitialScales measure_scales();
  void check_dimensions();
  void update_density(int coarsest);
  BlockCounts particle_counts() const;

  // amr_step.cpp
  void advance(int level, double dt, double begin, double end);
  void advance_finer(int level, double dt);
  void finish_step(int coarsest, double time);
  void bring_home(int coarsest);
  void kick(int level, double dt, gravity::Half half);
  void drift(int level, double dt);
  void solve_gravity(int coarsest, double time);
  void advance_gas(int level, double dt, double begin, double end);
  void start_coupling(int level);
  void finish_coupling(int level);
  void restore_broken(int level);
  bool withholds_inflow(int level) const;
  hydro::CoarseFineBoundary boundary_to_finer(int level);
  void withhold_inflow(const hydro::SweepArguments& arguments, const hydro::Stage& stage, int level,
                       bool is_repaired);
  void give_back_inflow(int level, double* next);
  void start_ghosts(int level, int source, double theta, double time);
  hydro::BatchBuffer* batches_for(int tiles) const;
  void sweep_stage(int level, int stage, double dt, double theta);
  bool may_stay_unjudged(int level, bool ends_step) const;
  void judge_sweep();
  void take_verdict(std::span<const double> worst);
  void repair_sweep();
  void repair_behind(int under_way);
  double fastest_signal(int level, const double* blocks) const;  // on this rank
  void sweep_tiles(hydro::LevelSweep& sweep, const hydro::SweepArguments& arguments, int level,
                   int begin, int end);
  hydro::SweepResult finish_tiles(const hydro::LevelSweep& sweep, int level);

  // amr_processes.cpp
  void act(int coarsest);
  void act_around_step(double time, double dt);
  void interact(int coarsest);
  void follow_gas(int coarsest);
  void measure_signals(int coarsest);
  subgrid::GasLevel gas_level(int level, double time, double coarse_time);
  void settle_ledgers();
  double added_energy() const;
  void measure_process_limits();

  // amr_measure.cpp
  void measure_cells();
  std::vector<std::int64_t> count_cells();
  bool repair_last_sweep(std::int64_t bad_tiles);
  void collect_outflow();
  void collect_particle_outflow();
  double own_potential_of_base() const;
  MeasuredGas measure_gas();
  void count_restored(std::int64_t cells);
  double potential_energy();
  void measure_integrals();
  using SumsOfKinds = std::vector<particles::Particles::MassSums>;
  SumsOfKinds sums_in_potential(int coarsest);
  std::vector<double> potential_energies(std::initializer_list<SumsOfKinds> states, double time);
  void measure_limits();
  void measure_matter_limits();
  double signal_limit(int level, double courant) const;  // longest step for the gas of a level
  std::string describe_cell(int level, const mesh::Cell& cell) const;

  // amr_adapt.cpp
  bool regrid();
  void check_jumps();
  void flag_cells(int level, const mesh::DeviceArray<std::uint64_t>& masks);
  void flag_massive_cells(int level, int buffer, const mesh::DeviceArray<std::uint64_t>& masks);
  int finest_allowed() const;
  void follow_mesh();

  // amr_balance.cpp
  bool rebalance();  // true if blocks moved
  std::vector<std::vector<CostItem>> block_costs();
  void measure_costs(std::vector<std::vector<CostItem>>& costs) const;
  std::vector<std::vector<int>> balance_each_level(const std::vector<std::vector<CostItem>>& costs);
  std::vector<std::vector<int>> balance_all_levels(const std::vector<std::vector<CostItem>>& costs);
  std::vector<int> owners_of(const std::vector<CostItem>& blocks, int level, placement::Room& room);
  placement::Room room_for_blocks() const;
  double communication_share() const;

  AmrOptions& options_;
  mesh::Mesh mesh_;
  std::unique_ptr<gravity::Gravity> gravity_;
  Matter matter_;
  EventLog<subgrid::StarBirth> births_;
  EventLog<subgrid::HoleMerger> mergers_;
  BlockMeter meter_;
  Timers timers_;
  Totals totals_;
  EnergyBudget energy_;
  Floored floored_;
  Outflow outflow_;
  std::array<ReproducibleSum, Outflow::terms> flown_out_;  // on this rank, in this step
  std::vector<subgrid::Ledger> ledgers_;                   // in the order of options_.processes
  struct {
    std::int64_t cells = 0;
    ReproducibleSum mass, energy;
  } restored_;                                 // on this rank, since the state was measured
  std::vector<double> fastest_;                // by level: signal speed, over all ranks
  std::vector<double> limits_;                 // by level: longest step for all but signals
  std::vector<std::int64_t> leaf_cells_here_;  // by level, on this rank
  std::vector<LevelTime> level_times_;         // of sweeps since the last balancing
  mesh::DeviceArray<std::uint8_t> bad_tiles_;
  std::optional<ScheduleModel> schedules_;       // none: all levels have the same schedule
  std::unique_ptr<hydro::BatchBuffer> batches_;  // null: no level's tiles are swept in batches
  // The last sweep, until it is known whether it broke cells on any rank; and where its ghosts come
  // from: the state that it read, as it is called now, and how they were filled.
  struct Unjudged {
    int level, source;
    double theta, time;
    const hydro::Stage* stage;
    hydro::SweepArguments arguments;
    double fastest;  // on this rank
    int bad_tiles;

    std::vector<double> worst() const { return {fastest, static_cast<double>(bad_tiles)}; }
  };
  std::optional<Unjudged> unjudged_;
  std::vector<bool> broke_cells_;           // by level: whether its last sweep did, on any rank
  bool ghosts_started_ = false;             // of the next sweep
  bool measured_ = false;                   // nothing has changed since
  std::optional<double> potential_energy_;  // of this state, once it has been found
  // The gas's, while it is not known what a regrid has made of it.
  std::optional<double> energy_before_regrid_;
  bool interacted_ = false;                // gas has changed since gravity was solved for
  std::vector<double> clocks_, level_dt_;  // by level: time reached, and the last step
  std::vector<std::int64_t> level_steps_;  // by level: begun in this coarse step
  double time_ = 0.0, middle_of_step_ = 0.0;
  std::int64_t step_ = 0, cell_updates_ = 0;
  bool regridded_ = false, rebalanced_ = false;
  std::vector<Placement> placements_;  // by the last adapt()
  // Amounts withheld from cells at coarse-fine boundaries until refluxing, for each level.
  std::vector<mesh::DeviceArray<double>> withheld_;
};

}  // namespace octant::driver
