// Processes: what acts on the cells of a level between the sweep and the second half of the kick.
#include <algorithm>

#include "driver/amr_simulation.hpp"

namespace octant::driver {

// All levels from `coarsest` on have arrived at one time: on each of them all processes act, in
// their order, for the step that the level has made. A finer level goes on from there and must know
// how fast its signals have become; after a coarse step, measure() finds that out.
void AmrSimulation::act(int coarsest) {
  if (options_.processes.empty()) return;
  const int finest = mesh_.finest_level();
  for (int level = coarsest; level <= finest; ++level) {
    const subgrid::GasLevel cells(mesh_, level, options_.hydro.gas());
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
    const subgrid::GasLevel cells(mesh_, level, options_.hydro.gas());
    for (const auto& process : options_.processes)
      limits_[level] = std::min(limits_[level], process->longest_step(cells));
  }
  mesh_.communicator().min_in_place(std::span(limits_));
}

}  // namespace octant::driver
