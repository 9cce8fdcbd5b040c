// Gas update of one level: Runge-Kutta stages, ghost cells, validation and repair, and the
// coarse-fine boundary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "amr/level_loop.hpp"
#include "amr/repair.hpp"
#include "amr/schedule_model.hpp"
#include "amr/step_context.hpp"
#include "comm/reproducible_sum.hpp"
#include "gravity/gravity.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/sweep.hpp"
#include "hydro/withheld_inflow.hpp"

namespace octant {

// Gas update of all levels. All functions are collective unless they are const.
class GasSolver : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::gas;

  // Sums over the leaf cells on this rank, and a description of the first unphysical cell, if any.
  struct Measured {
    hydro::GasSums sums;
    std::string unphysical;
    std::int64_t outside_table = 0;  // leaf cells outside the table of the equation of state
  };

  // When ranks learn whether a sweep left unphysical cells on any rank.
  enum class Validation {
    at_once,         // before anything else reads the gas
    deferred,        // during the next exchange of ghost cells: no other part reads the gas
    with_particles,  // with the messages of particles that move: validate_with_particles() follows
  };

  // `gravity` may be null.
  GasSolver(StepContext& context, gravity::Gravity* gravity, Validation validation);

  // --- tasks
  // Advances the gas of a level. Resets its flux registers at the boundary to the next finer level.
  void advance(const LevelStep& step);
  // Prepares the coarse state for ghost interpolation; called before all substeps of the next finer
  // level.
  void begin_finer_level(const LevelStep& coarse);
  // Fills the ghost cells of the initial state of a substep; called before each substep.
  void begin_substep(const LevelStep& step);
  // Refluxes and restricts; called after all substeps of the next finer level.
  void end_finer_level(const LevelStep& coarse);

  // Sets the energy of barotropic gas on all levels, and adds up the exchanged energy.
  void close_energies(const LevelStep& coarse);
  // Sets the energy of barotropic gas in the leaf cells of a level. Local.
  void close_leaf_cells(int level);

  // --- within the step
  // Measures signal speeds on levels >= `coarsest` on this rank after processes changed the gas.
  void measure_signals(int coarsest);
  // Sets the speeds of the fastest radiation-pressure waves by level, which increase signal speeds.
  void set_radiation_waves(std::vector<double> speeds) { radiation_waves_ = std::move(speeds); }
  // Measures the signal speed on one level on this rank.
  void measure_signal(int level);
  // Validates the last sweep of a step, given whether any rank has pending_bad_tiles(), and repairs
  // unphysical cells. Does nothing unless validation is `with_particles`.
  void validate_with_particles(bool any_bad_tiles);
  // Returns the longest step in which a signal crosses at most `courant` cells. Signals must be
  // those of all ranks: call reduce_signals() before.
  double max_dt(int level, double courant) const;

  // --- between steps

  // Measures leaf cells and signal speeds of this rank.
  Measured measure();
  // True if the signal speed of a level, or the acceleration by gravity, is that of this rank only.
  // Equal on all ranks.
  bool signals_are_local(int level) const {
    return is_local_[level] || (gravity_ && gravity_->strongest_is_local());
  }
  // Reduces the signal speeds and the accelerations by gravity over all ranks. The same reduction
  // replaces each of `others` by its maximum. Collective.
  void reduce_signals(std::span<double> others);
  // True if the last sweep of the step was not yet validated: unphysical cells on other ranks are
  // unknown.
  bool awaits_validation() const { return pending_.has_value(); }
  // Number of tiles on this rank with unphysical cells after the sweep that awaits validation.
  int pending_bad_tiles() const { return pending_ ? pending_->result.bad_tiles : 0; }
  // Validates the last sweep, given the sum of pending_bad_tiles() over all ranks. Repairs
  // unphysical cells, and returns true if there were any.
  bool finish_validation(std::int64_t bad_tiles);

  // Number of cells on this rank restored to older states since the last add_restored().
  std::int64_t restored_cells() const { return restored_.cells; }
  // Adds the amounts that restored cells gained on all ranks to those of floors, given the sum of
  // restored_cells() over ranks. Collective.
  void add_restored(std::int64_t cells);
  // Amounts that floors have added since the start of the run.
  const Floored& floored() const { return floored_; }
  // Sets floored() after a restart.
  void resume(const Floored& floored) { floored_ = floored; }
  // Energy that barotropic gas has gained, or lost if negative, by exchange with its surroundings
  // since the start of the run, at the last close_energies().
  double exchanged_energy() const { return exchanged_energy_; }
  // Sets exchanged_energy() after a restart.
  void resume_exchange(double energy) { exchanged_energy_ = energy; }
  // Adds energy to floored().
  void add_floor_energy(double energy) { floored_.energy += energy; }

 private:
  // Sweep that awaits validation, with the origin of its ghost cells: the present index of the
  // state from which it was computed, and the parameters of the ghost exchange.
  struct Sweep {
    int level, source;
    double theta, time;
    const hydro::Stage* stage;
    hydro::SweepArguments arguments;
    hydro::SweepResult result;  // on this rank

    std::vector<double> worst() const {
      return {result.fastest, static_cast<double>(result.bad_tiles)};
    }
  };

  // Stages of a step, and ghost cells.
  void keep(const LevelStep& step);
  Sweep begin_stage(const LevelStep& step, int stage);
  void end_stage(Sweep sweep, int stage);
  hydro::SweepArguments sweep_arguments(const LevelStep& step, int stage);
  void start_ghosts(int level, int source, double theta, double time);
  void finish_ghosts(int level, int source);
  void refresh_halo(int level);
  std::string describe_cell(int level, const mesh::Cell& cell) const;

  // Validation and repair of sweeps, and the coarse-fine boundary.
  bool can_defer_validation(int level, bool ends_step) const;
  void validate_sweep();
  void apply_validation(std::span<const double> worst);
  void repair_sweep();
  void redo_after_ghosts(int under_way);
  double fastest_signal(int level, const double* blocks) const;  // on this rank
  bool withholds_inflow(int level) const;
  hydro::RefluxedLevel boundary_to_finer(int level);
  void withhold_inflow(const hydro::SweepArguments& arguments, const hydro::Stage& stage, int level,
                       bool is_repaired);
  void give_back_inflow(int level, double* next);
  void restore_unphysical_cells(int level);
  void close_sweep(Sweep& sweep);

  StepContext& context_;
  mesh::Mesh& mesh_;
  const AmrOptions& options_;
  Timers& timers_;
  gravity::Gravity* gravity_;
  Validation validation_;
  std::vector<double> fastest_;          // by level: signal speed, over all ranks
  std::vector<bool> is_local_;           // by level: the signal speed is that of this rank alone
  std::vector<double> radiation_waves_;  // by level; empty without radiation
  mesh::DeviceArray<std::uint8_t> bad_tiles_;
  std::optional<ScheduleModel> schedules_;       // empty: the same schedule for all levels
  std::unique_ptr<hydro::BatchBuffer> batches_;  // null: no level uses batches of tiles
  std::optional<Sweep> pending_;                 // last sweep, unless validated
  std::vector<bool>
      left_unphysical_cells_;    // by level: the last sweep left unphysical cells on any rank
  bool ghosts_started_ = false;  // for the next sweep
  // Inflow withheld from cells at coarse-fine boundaries until refluxing, by level.
  std::vector<mesh::DeviceArray<double>> withheld_;
  struct {
    std::int64_t cells = 0;
    ReproducibleSum mass, energy, angular_momentum[3];
  } restored_;  // on this rank, since the state was measured
  Floored floored_;
  ReproducibleSum exchanged_;  // on this rank, since the last close_energies()
  double exchanged_energy_ = 0.0;
};

}  // namespace octant
