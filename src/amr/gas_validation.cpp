// Detection and repair of unphysical cells after a sweep, and prevention of new ones by refluxing.
#include <iterator>
#include <span>
#include <utility>

#include "amr/gas_solver.hpp"
#include "core/log.hpp"
#include "hydro/withheld_inflow.hpp"
#include "mesh/device.hpp"

namespace octant {

using mesh::LevelFields;

// --- validation and repair ----------------------------------------------------------------------

// Returns true if ranks may continue before the reduction that reveals unphysical cells on any
// rank. This requires runs of gas alone, where nothing reads the state before start_ghosts(),
// end_finer() or, at the end of a step, finish_validation().
bool GasSolver::can_defer_validation(int level, bool ends_step) const {
  if (!is_alone_) return false;
  if (ends_step && mesh_.finest_level() == 0) return true;
  return mesh_.communicator().size() > 1 && !broke_cells_[level];
}

// Reduces the result of the last sweep over ranks and repairs unphysical cells.
void GasSolver::validate_sweep() {
  std::vector<double> worst = pending_->worst();
  {
    const auto timing = timers_.time("wait for all ranks", Phase::collective, pending_->level);
    mesh_.communicator().max_in_place(std::span(worst));
  }
  apply_validation(worst);
  if (pending_) repair_sweep();
}

// Applies the maximum signal speed and number of bad tiles over all ranks. Clears the pending sweep
// if it left no unphysical cells.
void GasSolver::apply_validation(std::span<const double> worst) {
  const int level = pending_->level;
  fastest_[level] = worst[0];
  broke_cells_[level] = worst[1] > 0.0;
  if (!broke_cells_[level]) pending_.reset();
}

bool GasSolver::finish_validation(std::int64_t bad_tiles) {
  if (!pending_) return false;
  if (bad_tiles > 0) repair_sweep();
  pending_.reset();
  return bad_tiles > 0;
}

void GasSolver::repair_sweep() {
  const Sweep sweep = *std::exchange(pending_, std::nullopt);
  give_back_inflow(sweep.level, sweep.arguments.next);
  {
    const auto timing = timers_.time("repair", Phase::compute, sweep.level);
    repair(mesh_, sweep.level, options_.hydro, sweep.arguments, floored_);
  }
  withhold_inflow(sweep.arguments, *sweep.stage, sweep.level, true);
  const auto timing = timers_.time("repair", Phase::compute, sweep.level);
  fastest_[sweep.level] =
      mesh_.communicator().max(fastest_signal(sweep.level, sweep.arguments.next));
}

// Repairs the last sweep after a ghost exchange on level `under_way` has overwritten its ghost
// cells.
void GasSolver::redo_after_ghosts(int under_way) {
  const int level = pending_->level;
  {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.set_inflow_time(level, pending_->time);
    mesh_.fill_ghosts(level, pending_->source, pending_->theta);
  }
  repair_sweep();
  if (level < under_way) refresh_halo(level);
}

double GasSolver::fastest_signal(int level, const double* blocks) const {
  return hydro::fastest_signal(options_.hydro, mesh_.layout(), blocks, mesh_.cells(level));
}

// --- the coarse-fine boundary -------------------------------------------------------------------

// Returns true if coarse cells next to finer ones withhold inflow from later Runge-Kutta stages and
// from finer levels.
bool GasSolver::withholds_inflow(int level) const {
  const bool has_stages = hydro::stages(options_.hydro.integrator).size() > 1;
  return has_stages && level < mesh_.finest_level();
}

hydro::RefluxedLevel GasSolver::boundary_to_finer(int level) {
  const mesh::Mesh::CoarseFluxes fluxes = mesh_.coarse_fluxes(level + 1);
  const std::int64_t values = hydro::withheld_values(mesh_.layout(), fluxes.registers);
  if (std::ssize(withheld_) <= level) withheld_.resize(level + 1);
  mesh::DeviceArray<double>& withheld = withheld_[level];
  if (static_cast<std::int64_t>(withheld.size()) < values)
    withheld = mesh::uninitialised<double>("withheld inflow", values);
  return {.corrections = mesh_.corrections(level + 1),
          .coarse_fluxes = fluxes.values,
          .inverse_cell_size = 1.0 / mesh_.geometry().cell_size(level),
          .withheld = withheld.data()};
}

void GasSolver::withhold_inflow(const hydro::SweepArguments& arguments, const hydro::Stage& stage,
                                int level, bool is_repaired) {
  if (!withholds_inflow(level)) return;
  const auto timing = timers_.time("level coupling", Phase::other, level + 1);
  hydro::withhold_inflow(options_.hydro, mesh_.layout(), arguments, stage, boundary_to_finer(level),
                         is_repaired);
}

void GasSolver::give_back_inflow(int level, double* next) {
  if (!withholds_inflow(level)) return;
  const auto timing = timers_.time("level coupling", Phase::other, level + 1);
  hydro::give_back_inflow(mesh_.layout(), boundary_to_finer(level), next);
}

// Refluxing may leave negative density or energy in rarefied cells next to a finer level: fine
// cells drew on the inflow by coarse fluxes, which the correction removes. Restores such cells to
// their pre-step state; the added mass and energy are counted with those of floors.
void GasSolver::restore_unphysical_cells(int level) {
  LevelFields& fields = mesh_.fields(level);
  const auto restored =
      hydro::restore_broken_cells(options_.hydro, mesh_.layout(), mesh_.corrections(level + 1),
                                  fields.blocks(fields.old()), fields.blocks(LevelFields::k_now));
  const double volume = mesh_.geometry().cell_volume(level);
  for (const hydro::RestoredCells& cells : restored) {
    restored_.cells += cells.cells;
    restored_.mass += volume * cells.mass;
    restored_.energy += volume * cells.energy;
  }
}

void GasSolver::take_restored(std::int64_t cells) {
  if (cells > 0) {
    ReproducibleSum gained[] = {restored_.mass, restored_.energy};
    reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(gained));
    const double mass = gained[0].to_double(), energy = gained[1].to_double();
    floored_.cells += cells;
    floored_.mass += mass;
    floored_.energy += energy;
    log::warn(
        "restored {} unphysical cells at coarse-fine boundaries to their pre-step state; mass "
        "{:.3g} and energy {:.3g} added",
        cells, mass, energy);
  }
  restored_ = {};
}

}  // namespace octant
