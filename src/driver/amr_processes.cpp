// Processes: what acts on the cells of a level between the sweep and the second half of the kick.
#include <algorithm>

#include "driver/amr_simulation.hpp"

namespace octant::driver {

// For processes that act at `time`, in a coarse step whose middle is at `coarse_time`.
subgrid::Moment AmrSimulation::moment(double time, double coarse_time) const {
  const auto* const universe = options_.universe.get();
  const double a = universe ? universe->scale_factor(time) : 1.0;
  return {.units = options_.units(a),
          .scale_factor = a,
          .background_redshift =
              universe ? cosmology::redshift(universe->scale_factor(coarse_time)) : 0.0,
          .newton_constant = gravity_ ? options_.newton_constant(time) : 0.0,
          .finest_cell = mesh_.geometry().cell_size(finest_allowed())};
}

// All levels from `coarsest` on have arrived at one time: on each of them all processes act, in
// their order, for the step that the level has made. A finer level goes on from there and must know
// how fast its signals have become; after a coarse step, measure() finds that out.
void AmrSimulation::act(int coarsest) {
  if (options_.processes.empty()) return;
  const int finest = mesh_.finest_level();
  for (int level = coarsest; level <= finest; ++level) {
    const subgrid::GasLevel cells(mesh_, level, options_.hydro.gas(),
                                  moment(clocks_[level] - 0.5 * level_dt_[level], middle_of_step_));
    for (std::size_t n = 0; n < ledgers_.size(); ++n) {
      const subgrid::Process& process = *options_.processes[n];
      const auto working = work(process.name(), Share::leaf_cells, level);
      process.advance(cells, level_dt_[level], ledgers_[n]);
    }
  }
  mesh_.restrict_all(coarsest);
  if (coarsest == 0) return;
  for (int level = coarsest; level <= finest; ++level)
    fastest_[level] = fastest_signal(level, mesh_.fields(level).blocks(mesh::LevelFields::k_now));
  mesh_.communicator().max_in_place(std::span(fastest_).subspan(coarsest, finest + 1 - coarsest));
}

void AmrSimulation::settle_ledgers() {
  for (subgrid::Ledger& ledger : ledgers_) ledger.settle(mesh_.communicator());
}

void AmrSimulation::measure_process_limits() {
  if (options_.processes.empty()) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const subgrid::GasLevel cells(mesh_, level, options_.hydro.gas(), moment(time_, time_));
    for (const auto& process : options_.processes)
      limits_[level] = std::min(limits_[level], process->longest_step(cells));
  }
  mesh_.communicator().min_in_place(std::span(limits_));
}

}  // namespace octant::driver
