#include "amr/process_step.hpp"

#include <algorithm>
#include <span>

namespace octant {

ProcessStep::ProcessStep(StepContext& context, GasSolver& gas, GravityStep& gravity, Matter& matter)
    : context_(context),
      mesh_(context.mesh),
      options_(context.options),
      gas_(gas),
      gravity_(gravity),
      matter_(matter) {
  for (const auto& process : options_.processes)
    ledgers_.emplace_back(process->name(), process->accounts());
  for (const auto& process : options_.processes) process->begin(mesh_.communicator());
}

// Returns the gas of a level for processes at `time`, in a coarse step with midpoint `coarse_time`.
subgrid::GasLevel ProcessStep::gas_level(int level, double time, double coarse_time) {
  const auto* const universe = options_.universe.get();
  const double a = universe ? universe->scale_factor(time) : 1.0;
  subgrid::GasLevel gas(
      mesh_, level, options_.hydro.gas(),
      {.units = options_.units(a),
       .time = time,
       .scale_factor = a,
       .background_redshift =
           universe ? cosmology::redshift(universe->scale_factor(coarse_time)) : 0.0,
       .newton_constant = gravity_.solver() ? options_.newton_constant(time) : 0.0,
       .finest_cell = mesh_.geometry().cell_size(context_.finest_allowed()),
       .coarse_step = context_.step,
       .step_within = context_.level_steps[level]});
  for (const auto& process : options_.processes)
    if (const auto floor = process->floor(gas); floor.factor > 0.0) gas.floor = floor;
  return gas;
}

// --- tasks --------------------------------------------------------------------------------------

void ProcessStep::act_before(const LevelStep& step) {
  changed_gas_ = false;
  act_around_step(context_.time + 0.25 * step.dt, 0.5 * step.dt);
}

void ProcessStep::act_after(const LevelStep& step) {
  act_around_step(context_.time + 0.75 * step.dt, 0.5 * step.dt);
}

// Applies processes on all levels for `dt`, half a coarse step with midpoint `time`.
void ProcessStep::act_around_step(double time, double dt) {
  bool acted = false;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    for (std::size_t n = 0; n < ledgers_.size(); ++n) {
      const subgrid::Process& process = *options_.processes[n];
      if (!process.acts_around_coarse_steps()) continue;
      const auto working = context_.counted_work(process.name(), cost::cells, level);
      process.advance(gas_level(level, time, context_.middle_of_step), dt, ledgers_[n]);
      acted = true;
    }
  }
  if (!acted) return;
  mesh_.restrict_all();
  gas_.measure_signals(1);
}

// Applies processes, then measures signal speeds, because finer levels continue from there. After a
// coarse step, the measurement of the state includes them.
void ProcessStep::act(const LevelStep& step) {
  for (int level = step.level; level <= mesh_.finest_level(); ++level) {
    const double dt = context_.level_dt[level];
    subgrid::GasLevel gas =
        gas_level(level, context_.clocks[level] - 0.5 * dt, context_.middle_of_step);
    for (std::size_t n = 0; n < ledgers_.size(); ++n) {
      const subgrid::Process& process = *options_.processes[n];
      if (process.acts_around_coarse_steps()) continue;
      const auto working = context_.counted_work(process.name(), cost::cells, level);
      gas.cells = mesh_.leaf_cells(level);
      process.advance(gas, dt, ledgers_[n]);
    }
  }
  follow_gas(step.level);
}

void ProcessStep::interact(const LevelStep& step) {
  const int coarsest = step.level;
  const double time = context_.clocks[coarsest];
  const double a = options_.universe ? options_.universe->scale_factor(time) : 1.0;
  subgrid::SyncPoint sync{.mesh = mesh_,
                          .kinds = matter_.kinds(),
                          .coarsest = coarsest,
                          .time = time,
                          .scale_factor = a,
                          .units = options_.units(a),
                          .seconds = [this](double at) { return options_.seconds(at); },
                          .levels = {},
                          .steps = {},
                          .faces = context_.faces.get()};
  if (coarsest > 0)
    sync.arrived -= (context_.clocks[coarsest - 1] - time) / context_.level_dt[coarsest - 1];
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    const double dt = context_.level_dt[level];
    sync.levels.push_back(
        gas_level(level, context_.clocks[level] - 0.5 * dt, context_.middle_of_step));
    sync.steps.push_back(dt);
  }
  bool changed = false;
  for (std::size_t n = 0; n < ledgers_.size(); ++n) {
    const subgrid::Process& process = *options_.processes[n];
    const auto working = context_.counted_work(process.name(), cost::interactions, coarsest);
    for (subgrid::GasLevel& level : sync.levels) level.cells = mesh_.leaf_cells(level.number);
    changed = process.interact(sync, ledgers_[n]) || changed;
  }
  births_.add(sync.births, context_.step, sync.time, sync.scale_factor);
  mergers_.add(sync.mergers, context_.step, sync.time, sync.scale_factor);
  if (changed) follow_gas(coarsest);
  changed_gas_ = changed;
}

// Restricts the gas and measures signal speeds after processes changed levels from `coarsest` on.
void ProcessStep::follow_gas(int coarsest) {
  mesh_.restrict_all(coarsest);
  if (coarsest > 0) gas_.measure_signals(coarsest);
}

void ProcessStep::settle(const LevelStep& /*step*/) {
  for (subgrid::Ledger& ledger : ledgers_) ledger.settle(mesh_.communicator());
}

void ProcessStep::remeasure_gravity(const LevelStep& /*step*/) {
  if (changed_gas_) gravity_.solver()->resume();
}

// --- between steps ------------------------------------------------------------------------------

double ProcessStep::added_energy() const {
  double energy = 0.0;
  for (std::size_t n = 0; n < ledgers_.size(); ++n)
    energy += options_.processes[n]->added_energy(ledgers_[n]);
  return energy;
}

void ProcessStep::limit_steps(std::vector<double>& limits) {
  if (options_.processes.empty()) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const subgrid::GasLevel gas = gas_level(level, context_.time, context_.time);
    for (const auto& process : options_.processes) {
      double& limit = limits[process->acts_around_coarse_steps() ? 0 : level];
      limit = std::min(limit, process->longest_step(gas));
    }
  }
  mesh_.communicator().min_in_place(std::span(limits));
}

void ProcessStep::write_logs(const std::string& directory) {
  births_.write(mesh_.communicator(), directory);
  mergers_.write(mesh_.communicator(), directory);
}

void ProcessStep::continue_logs(const std::string& directory) {
  births_.go_on(mesh_.communicator(), directory, context_.step);
  mergers_.go_on(mesh_.communicator(), directory, context_.step);
}

}  // namespace octant
