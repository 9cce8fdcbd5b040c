// Processes in the time step: on the leaf cells of a level between the sweep and the second half
// kick, and on gas and particles together after it. Ledgers and event logs of the processes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "amr/gas_solver.hpp"
#include "amr/gravity_step.hpp"
#include "amr/level_loop.hpp"
#include "amr/matter.hpp"
#include "amr/step_context.hpp"
#include "comm/communicator.hpp"
#include "subgrid/process.hpp"

namespace octant {

// Event logs of processes: Parquet files with a row for each event of a run, such as
// stars_formed.parquet for the formation of star particles.
// `Event` is StarBirth or HoleMerger; process_step.cpp defines the columns of the files.
template <class Event>
class EventLog {
 public:
  // Adds this rank's events of a coarse step.
  void add(const std::vector<Event>& events, std::int64_t step, double time, double scale_factor);

  // Updates the file in a directory, with all events so far in the order of time and ids. A run
  // without events has no file. Throws RunError on all ranks if writing fails. Collective.
  void write(const Communicator& communicator, const std::string& directory);

  // Continues the file in this directory after a restart: keeps events from coarse steps before
  // `step`, since later steps are repeated. Collective.
  void go_on(const Communicator& communicator, const std::string& directory, std::int64_t step);

 private:
  struct Row {
    Event event;
    std::int64_t step;
    double time, scale_factor;
  };
  static constexpr auto k_all_rows = std::numeric_limits<std::int64_t>::max();
  void write_rows(const std::string& path, std::vector<Row> rows) const;
  void merge(const std::vector<std::string>& parts, const std::string& path);

  std::vector<Row> rows_;  // new rows of this rank since the last writing of the file
  std::string earlier_;    // file with all earlier rows; "": none
  std::int64_t rows_of_earlier_ = k_all_rows;  // number of its valid rows, from the start
};

extern template class EventLog<subgrid::StarBirth>;
extern template class EventLog<subgrid::HoleMerger>;

// Processes in the tasks of a step. All functions are collective unless they are const.
class ProcessStep : public StepPart {
 public:
  static constexpr PartNumber k_part = PartNumber::processes;

  ProcessStep(StepContext& context, GasSolver& gas, GravityStep& gravity, Matter& matter);

  // --- tasks
  // Applies processes that act around coarse steps on all levels, for the first half of a coarse
  // step.
  void act_before(const LevelStep& step);
  // Applies the same processes for the second half of a coarse step.
  void act_after(const LevelStep& step);
  // Sets the photon emission fields for a coarse step.
  void set_emission(const LevelStep& step);
  // Applies all other processes in their order, on the level of the step and all finer levels, each
  // over the last step of the level.
  void act(const LevelStep& step);
  // Applies interactions of gas and particles on the same levels.
  void interact(const LevelStep& step);
  // Sums the ledgers over all ranks.
  void sum_ledgers(const LevelStep& step);
  // Recomputes the sources of gravity if interact() changed the gas.
  void remeasure_gravity(const LevelStep& step);

  // --- within the radiation's step
  // Applies absorption and emission of photons by processes on a level, over a substep `dt` with
  // midpoint `time`. `photons` is the state after transport; the result is the present state.
  void react(int level, double time, double dt, const double* photons);

  // --- between steps
  // Returns the gas of a level for processes at `time`, in a coarse step with midpoint
  // `coarse_time`.
  subgrid::GasLevel gas_level(int level, double time, double coarse_time);
  // Reduces the time-step limits of levels to those of the processes on this rank. Local.
  void limit_steps(std::vector<double>& limits);
  // Energy added by all processes since the start of the run.
  double added_energy() const;
  // Ledgers of the processes, in their order.
  const std::vector<subgrid::Ledger>& ledgers() const { return ledgers_; }
  // Sets the ledgers after a restart.
  void resume(const std::vector<subgrid::Ledger>& ledgers) { ledgers_ = ledgers; }
  // Appends new events to the event logs in a directory.
  void write_logs(const std::string& directory);
  // Continues the event logs in a directory after a restart.
  void continue_logs(const std::string& directory);

 private:
  void act_around_step(double time, double dt);
  subgrid::SyncPoint sync_point(int coarsest, double time);
  void follow_gas(int coarsest);

  StepContext& context_;
  mesh::Mesh& mesh_;
  const AmrOptions& options_;
  GasSolver& gas_;
  GravityStep& gravity_;
  Matter& matter_;
  std::vector<subgrid::Ledger> ledgers_;  // in the order of AmrOptions::processes
  EventLog<subgrid::StarBirth> births_;
  EventLog<subgrid::HoleMerger> mergers_;
  bool changed_gas_ = false;  // true if processes changed the gas since the last gravity solve
};

}  // namespace octant
