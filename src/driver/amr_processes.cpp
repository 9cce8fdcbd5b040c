// Processes: what acts on the cells of a level between the sweep and the second half of the kick,
// and on gas and particles together after it.
#include <algorithm>

#include "driver/amr_simulation.hpp"

namespace octant::driver {

// For processes that act at `time`, in a coarse step whose middle is at `coarse_time`.
subgrid::GasLevel AmrSimulation::gas_level(int level, double time, double coarse_time) {
  const auto* const universe = options_.universe.get();
  const double a = universe ? universe->scale_factor(time) : 1.0;
  subgrid::GasLevel gas(
      mesh_, level, options_.hydro.gas(),
      {.units = options_.units(a),
       .time = time,
       .scale_factor = a,
       .background_redshift =
           universe ? cosmology::redshift(universe->scale_factor(coarse_time)) : 0.0,
       .newton_constant = gravity_ ? options_.newton_constant(time) : 0.0,
       .finest_cell = mesh_.geometry().cell_size(finest_allowed()),
       .coarse_step = step_,
       .step_within = level_steps_[level]});
  for (const auto& process : options_.processes)
    if (const auto floor = process->floor(gas); floor.factor > 0.0) gas.floor = floor;
  return gas;
}

// Processes of this kind act on all levels for `dt`, half a coarse step, whose middle is at `time`.
void AmrSimulation::act_around_step(double time, double dt) {
  bool acted = false;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    for (std::size_t n = 0; n < ledgers_.size(); ++n) {
      const subgrid::Process& process = *options_.processes[n];
      if (!process.acts_around_coarse_steps()) continue;
      const auto working = work(process.name(), Share::leaf_cells, level);
      process.advance(gas_level(level, time, middle_of_step_), dt, ledgers_[n]);
      acted = true;
    }
  }
  if (!acted) return;
  mesh_.restrict_all();
  measure_signals(1);
}

// All levels from `coarsest` on have arrived at one time: on each of them all processes act, in
// their order, for the step that the level has made. A finer level goes on from there and must know
// how fast its signals have become; after a coarse step, measure() finds that out.
void AmrSimulation::act(int coarsest) {
  if (options_.processes.empty()) return;
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    const subgrid::GasLevel gas =
        gas_level(level, clocks_[level] - 0.5 * level_dt_[level], middle_of_step_);
    for (std::size_t n = 0; n < ledgers_.size(); ++n) {
      const subgrid::Process& process = *options_.processes[n];
      if (process.acts_around_coarse_steps()) continue;
      const auto working = work(process.name(), Share::leaf_cells, level);
      process.advance(gas, level_dt_[level], ledgers_[n]);
    }
  }
  follow_gas(coarsest);
}

// The same levels, whose particles are at home.
void AmrSimulation::interact(int coarsest) {
  if (options_.processes.empty()) return;
  const double time = clocks_[coarsest];
  const double a = options_.universe ? options_.universe->scale_factor(time) : 1.0;
  subgrid::Scene scene{.mesh = mesh_,
                       .kinds = matter_.kinds(),
                       .coarsest = coarsest,
                       .time = time,
                       .scale_factor = a,
                       .units = options_.units(a),
                       .seconds = [this](double at) { return options_.seconds(at); },
                       .levels = {},
                       .steps = {}};
  if (coarsest > 0) scene.arrived -= (clocks_[coarsest - 1] - time) / level_dt_[coarsest - 1];
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    scene.levels.push_back(
        gas_level(level, clocks_[level] - 0.5 * level_dt_[level], middle_of_step_));
    scene.steps.push_back(level_dt_[level]);
  }
  bool changed = false;
  for (std::size_t n = 0; n < ledgers_.size(); ++n) {
    const subgrid::Process& process = *options_.processes[n];
    const auto working = work(process.name(), Share::particles_onwards, coarsest);
    changed = process.interact(scene, ledgers_[n]) || changed;
  }
  births_.add(scene.births, step_, scene.time, scene.scale_factor);
  mergers_.add(scene.mergers, step_, scene.time, scene.scale_factor);
  if (changed) follow_gas(coarsest);
  interacted_ = changed;
}

// The gas in leaf cells of levels from `coarsest` on has changed.
void AmrSimulation::follow_gas(int coarsest) {
  mesh_.restrict_all(coarsest);
  if (coarsest > 0) measure_signals(coarsest);
}

// How fast signals have become on levels from `coarsest` on.
void AmrSimulation::measure_signals(int coarsest) {
  const int finest = mesh_.finest_level();
  if (coarsest > finest) return;
  for (int level = coarsest; level <= finest; ++level)
    fastest_[level] = fastest_signal(level, mesh_.fields(level).blocks(mesh::LevelFields::k_now));
  mesh_.communicator().max_in_place(std::span(fastest_).subspan(coarsest, finest + 1 - coarsest));
}

void AmrSimulation::settle_ledgers() {
  for (subgrid::Ledger& ledger : ledgers_) ledger.settle(mesh_.communicator());
  if (energy_.counts_spared) energy_.spared += gravity_->take_spared_work();
  if (gravity_ && options_.gravity.work == gravity::Work::potential)
    floored_.energy += gravity_->take_spared_work();
}

// By all processes, since the run began.
double AmrSimulation::added_energy() const {
  double energy = 0.0;
  for (std::size_t n = 0; n < ledgers_.size(); ++n)
    energy += options_.processes[n]->added_energy(ledgers_[n]);
  return energy;
}

void AmrSimulation::measure_process_limits() {
  if (options_.processes.empty()) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const subgrid::GasLevel gas = gas_level(level, time_, time_);
    for (const auto& process : options_.processes) {
      double& limit = limits_[process->acts_around_coarse_steps() ? 0 : level];
      limit = std::min(limit, process->longest_step(gas));
    }
  }
  mesh_.communicator().min_in_place(std::span(limits_));
}

}  // namespace octant::driver
