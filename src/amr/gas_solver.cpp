#include "amr/gas_solver.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "comm/communicator.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/memory_transfer.hpp"
#include "core/observer.hpp"
#include "hydro/eos/barotropic.hpp"
#include "hydro/restored_cells.hpp"
#include "hydro/sweep_costs.hpp"
#include "hydro/withheld_inflow.hpp"
#include "io/input_files.hpp"
#include "mesh/device.hpp"

namespace octant {

using mesh::LevelFields;

namespace {

// States that stage s of a step writes and reads; the two spare states alternate.
constexpr int stage_target(int stage) { return stage % 2 == 0 ? 1 : 2; }
constexpr int stage_source(int stage) {
  return stage == 0 ? LevelFields::k_now : stage_target(stage - 1);
}

// Times the sweep of tiles [begin, end) of a level until the end of the scope. Ranks without tiles
// take part, because the timing table adds up the same parts on all ranks.
class TileTimer {
 public:
  TileTimer(StepContext& context, const hydro::SweepArguments& arguments, int level, int begin,
            int end)
      : timing_(context.timers.time("sweep", Phase::compute, level)) {
    if (begin == end) return;
    const std::int64_t cells = context.meter.cells(level, begin, end);
    timing_.count(cells);
    // Opens the telemetry region "batches" if the sweep runs in batches of tiles.
    if (arguments.batches) in_batches_.emplace(Phase::compute, "batches", level);
    hydro::record_sweep(context.options.hydro, arguments, cells);
    metering_.emplace(context.meter, level, begin, end);
  }

 private:
  Timers::Scope timing_;
  std::optional<Observed> in_batches_;
  std::optional<SweepTimer> metering_;
};

}  // namespace

GasSolver::GasSolver(StepContext& context, gravity::Gravity* gravity, Validation validation)
    : context_(context),
      mesh_(context.mesh),
      options_(context.options),
      timers_(context.timers),
      gravity_(gravity),
      validation_(validation),
      fastest_(context.levels(), 0.0),
      is_local_(context.levels(), false),
      left_unphysical_cells_(context.levels(), false) {
  if (const std::string& model = options_.execution.model; !model.empty()) {
    const auto measured = read_measured_sweeps(model, reader_on_root(mesh_.communicator()));
    mesh_.communicator().collective_try(
        [&] { schedules_.emplace(measured, Kokkos::DefaultExecutionSpace().concurrency()); });
  }
  if (schedules_ || options_.execution.in_batches())
    batches_ = std::make_unique<hydro::BatchBuffer>(options_.execution.batch_bytes());
}

// --- the stages of a step -----------------------------------------------------------------------

void GasSolver::advance(const LevelStep& step) {
  const int level = step.level;
  const mesh::LevelHalo& halo = mesh_.halo(level);
  if (level < mesh_.finest_level()) mesh_.clear_registers(level + 1);
  if (!options_.hydro.moves) return keep(step);
  const int stages = static_cast<int>(hydro::stages(options_.hydro.integrator).size());
  for (int stage = 0; stage < stages; ++stage) {
    Sweep now = begin_stage(step, stage);
    const int inner = halo.interior_tiles, tiles = halo.tiles.count();
    hydro::LevelSweep sweep(options_.hydro, now.arguments);
    {
      const TileTimer timing(context_, now.arguments, level, 0, inner);
      sweep.start(0, inner);
    }
    finish_ghosts(level, stage_source(stage));
    {
      const TileTimer timing(context_, now.arguments, level, inner, tiles);
      sweep.start(inner, tiles);
    }
    {
      const auto timing = timers_.time("sweep", Phase::compute, level);
      const SweepTimer metering(context_.meter, level, 0, 0);
      now.result = sweep.result();
      close_sweep(now);
    }
    end_stage(now, stage);
  }
}

// Copies the state of gas at rest to the end of the step. Finer levels interpolate between both
// states, and therefore need the ghost cells of the first.
void GasSolver::keep(const LevelStep& step) {
  const int level = step.level;
  start_ghosts(level, LevelFields::k_now, level == 0 ? 1.0 : step.begin, context_.clocks[level]);
  ghosts_started_ = false;
  finish_ghosts(level, LevelFields::k_now);
  LevelFields& fields = mesh_.fields(level);
  mesh::copy_variables(mesh_.cells(level), mesh_.layout(), 0, fields.blocks(LevelFields::k_now),
                       fields.blocks(stage_target(0)));
  fields.commit(stage_target(0));
}

// Starts a stage and its ghost-cell exchange.
GasSolver::Sweep GasSolver::begin_stage(const LevelStep& step, int stage) {
  const hydro::Stage& weights = hydro::stages(options_.hydro.integrator)[stage];
  const int level = step.level, source = stage_source(stage);
  const double theta = level == 0 ? 1.0 : step.begin + weights.time * (step.end - step.begin);
  const double time = context_.clocks[level] + weights.time * step.dt;
  if (!ghosts_started_) start_ghosts(level, source, theta, time);
  ghosts_started_ = false;
  return {.level = level,
          .source = source,
          .theta = theta,
          .time = time,
          .stage = &weights,
          .arguments = sweep_arguments(step, stage),
          .result = {}};
}

void GasSolver::end_stage(Sweep sweep, int stage) {
  const hydro::Stage& weights = *sweep.stage;
  withhold_inflow(sweep.arguments, weights, sweep.level, false);
  LevelFields& fields = mesh_.fields(sweep.level);
  if (weights.last) fields.commit(stage_target(stage));
  if (weights.last && stage == 0) sweep.source = fields.old();
  pending_ = sweep;
  if (!can_defer_validation(sweep.level, weights.last)) validate_sweep();
}

hydro::SweepArguments GasSolver::sweep_arguments(const LevelStep& step, int stage) {
  const hydro::Stage& weights = hydro::stages(options_.hydro.integrator)[stage];
  const int level = step.level;
  const mesh::TileSet& tiles = mesh_.halo(level).tiles;
  if (static_cast<int>(bad_tiles_.extent(0)) < tiles.count())
    bad_tiles_ = mesh::uninitialised<std::uint8_t>("bad tiles", tiles.count());
  const bool in_batches = !schedules_ || schedules_->in_batches(tiles.count());
  const auto& lower = mesh_.geometry().lower();
  LevelFields& fields = mesh_.fields(level);
  return {.tiles = tiles,
          .current = mesh_.pointers(level, stage_source(stage)),
          .old = fields.blocks(LevelFields::k_now),
          .next = fields.blocks(stage_target(stage)),
          .a0 = weights.old_weight,
          .a1 = weights.new_weight,
          .ends_step = weights.last,
          .dt = step.dt,
          .dx = mesh_.geometry().cell_size(level),
          .lower = {lower[0], lower[1], lower[2]},
          .flux_weight = weights.flux_weight * step.dt,
          .registers = mesh_.registers(level),
          .bad_tiles = bad_tiles_.data(),
          .mass_flow = gravity_ ? gravity_->mass_flow(level) : nullptr,
          .face_flow = gravity_ ? gravity_->face_flow(level) : mesh::FaceFlow{},
          .energy_taken = gravity_ ? gravity_->energy_taken(level) : nullptr,
          .tile_cycles = context_.meter.tile_cycles(level),
          .batches = in_batches ? batches_.get() : nullptr};
}

// --- ghost cells --------------------------------------------------------------------------------

// Starts filling the ghost cells of state `source` of a level at `time`, at fraction `theta`
// between the coarser level's two states. If the last sweep awaits validation, the exchange
// overlaps with the reduction that validates it, and is repeated after a repair.
void GasSolver::start_ghosts(int level, int source, double theta, double time) {
  const auto fill = [&] {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.set_inflow_time(level, time);
    mesh_.start_ghosts(level, source, theta);
  };
  ghosts_started_ = true;
  if (!pending_) return fill();
  PendingMaxima worst(mesh_.communicator(), pending_->worst());
  fill();
  {
    const auto timing = timers_.time("validation of a sweep", Phase::collective, pending_->level);
    apply_validation(worst.wait());
  }
  if (!pending_) return;
  mesh_.finish_ghosts(level, source);
  redo_after_ghosts(level);
  fill();
}

void GasSolver::finish_ghosts(int level, int source) {
  const auto timing = timers_.time("ghost data", Phase::other, level);
  mesh_.finish_ghosts(level, source);
}

// --- the next finer level -----------------------------------------------------------------------

void GasSolver::begin_finer_level(const LevelStep& coarse) { refresh_halo(coarse.level); }

void GasSolver::refresh_halo(int level) {
  const auto timing = timers_.time("ghost data", Phase::other, level);
  mesh_.set_inflow_time(level, context_.clocks[level]);
  mesh_.refresh_halo(level, LevelFields::k_now);
}

void GasSolver::begin_substep(const LevelStep& step) {
  if (pending_ && pending_->level == step.level)
    start_ghosts(step.level, LevelFields::k_now, step.begin, context_.clocks[step.level]);
}

void GasSolver::end_finer_level(const LevelStep& coarse) {
  if (pending_) validate_sweep();
  const int level = coarse.level;
  give_back_inflow(level, mesh_.fields(level).blocks(LevelFields::k_now));
  const auto timing = timers_.time("level coupling", Phase::other, level + 1);
  mesh_.synchronise(level + 1, gravity_ ? gravity_->face_flow(level) : mesh::FaceFlow{});
  restore_unphysical_cells(level);
  if (options_.hydro.is_barotropic()) close_leaf_cells(level);
}

// --- barotropic gas -----------------------------------------------------------------------------

// Sets the energy of barotropic gas in the present state of the leaf cells of a level. Refined
// cells keep the mean of their finer cells, which is their state after derefinement.
void GasSolver::close_leaf_cells(int level) {
  hydro::close_energy(options_.hydro, mesh_.layout(),
                      mesh_.fields(level).blocks(LevelFields::k_now), mesh_.leaf_cells(level),
                      mesh_.geometry().cell_volume(level), exchanged_);
}

// Sets the energy of barotropic gas in the new state of a sweep, and the signal speed.
void GasSolver::close_sweep(Sweep& sweep) {
  if (!options_.hydro.is_barotropic()) return;
  const hydro::SweepArguments& arguments = sweep.arguments;
  // Weight of a stage's state in the state at the end of the step.
  const double share = arguments.flux_weight / (arguments.a1 * arguments.dt);
  sweep.result.fastest =
      hydro::close_energy(options_.hydro, mesh_.layout(), arguments.next, mesh_.cells(sweep.level),
                          share * mesh_.geometry().cell_volume(sweep.level), exchanged_);
}

void GasSolver::close_energies(const LevelStep& /*coarse*/) {
  if (!options_.hydro.is_barotropic()) return;
  const auto timing = timers_.time("equation of state", Phase::compute);
  for (int level = 0; level <= mesh_.finest_level(); ++level) close_leaf_cells(level);
  reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(&exchanged_, 1));
  exchanged_energy_ += exchanged_.to_double();
  exchanged_ = {};
}

// --- signal speeds ------------------------------------------------------------------------------

void GasSolver::measure_signals(int coarsest) {
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) measure_signal(level);
}

void GasSolver::measure_signal(int level) {
  fastest_[level] = fastest_signal(level, mesh_.fields(level).blocks(LevelFields::k_now));
  is_local_[level] = true;
}

void GasSolver::reduce_signals(std::span<double> others) {
  std::vector<double> most(others.begin(), others.end());
  most.insert(most.end(), fastest_.begin(), fastest_.end());
  if (gravity_) most.insert(most.end(), gravity_->strongest().begin(), gravity_->strongest().end());
  mesh_.communicator().max_in_place(std::span(most));
  std::copy_n(most.begin(), others.size(), others.begin());
  const auto reduced = std::span<const double>(most).subspan(others.size());
  std::ranges::copy(reduced.first(fastest_.size()), fastest_.begin());
  if (gravity_) gravity_->set_strongest(reduced.subspan(fastest_.size()));
  is_local_.assign(is_local_.size(), false);
}

// Returns the longest step with v dt + g dt^2 / 2 <= courant dx, for signals of speed v and the
// strongest acceleration g of gravity and hydro.acceleration.
double GasSolver::max_dt(int level, double courant) const {
  if (!options_.hydro.enabled || !options_.hydro.moves)
    return std::numeric_limits<double>::infinity();
  const double distance = courant * mesh_.geometry().cell_size(level);
  // Signal speed |vx| + |vy| + |vz| + 3 (c + c_r), with the speed c_r of radiation-pressure waves.
  const double wave = level < std::ssize(radiation_waves_) ? radiation_waves_[level] : 0.0;
  const double v = fastest_[level] + 3.0 * wave;
  const auto& [x, y, z] = options_.hydro.acceleration;
  const double g = std::hypot(x, y, z) + (gravity_ ? gravity_->strongest()[level] : 0.0);
  if (g == 0.0) return distance / v;
  return 2.0 * distance / (v + std::sqrt(v * v + 2.0 * g * distance));
}

GasSolver::Measured GasSolver::measure() {
  const mesh::Geometry& geometry = mesh_.geometry();
  Measured gas;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::CellRange& cells = mesh_.cells(level);
    const double* blocks = mesh_.fields(level).blocks(LevelFields::k_now);
    const auto [fastest, broken] = hydro::measure_gas(options_.hydro, mesh_.layout(), blocks, cells,
                                                      geometry.cell_volume(level), gas.sums);
    fastest_[level] = fastest;
    is_local_[level] = true;
    if (options_.hydro.eos.kind == hydro::EquationOfState::table)
      gas.outside_table +=
          hydro::cells_outside_table(options_.hydro, mesh_.layout(), blocks, cells);
    if (broken && gas.unphysical.empty())
      gas.unphysical = describe_cell(
          level, hydro::cells_with_invalid_state(mesh_.layout(), blocks, cells).front());
  }
  return gas;
}

std::string GasSolver::describe_cell(int level, const mesh::Cell& cell) const {
  const mesh::BlockLayout& layout = mesh_.layout();
  const int N = layout.block_size;
  const auto corner =
      mesh_.geometry().origin(level, morton_decode(mesh_.blocks(level).key(cell.slot)));
  const double dx = mesh_.geometry().cell_size(level);
  Kokkos::View<const double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
      mesh_.fields(level).blocks(LevelFields::k_now) + cell.slot * layout.stride_slot,
      layout.stride_slot);
  const auto values = on_host(TransferKind::lists, block);
  const int i = cell.index % N, j = cell.index / N % N, k = cell.index / N / N;
  std::string text = fmt::format("the gas is unphysical on level {} at ({}, {}, {}):", level,
                                 corner[0] + (i + 0.5) * dx, corner[1] + (j + 0.5) * dx,
                                 corner[2] + (k + 0.5) * dx);
  for (int n = 0; n < layout.variables; ++n)
    text += fmt::format(" {} = {}", mesh_.variables()[n].name,
                        values(n * layout.stride_variable + cell.index));
  return text + "; try a smaller time.cfl or a more diffusive hydro.riemann or hydro.limiter";
}

// --- validation and repair ----------------------------------------------------------------------

// Returns true if ranks may continue before unphysical cells on other ranks are known. In runs of
// ideal gas alone, nothing reads them before start_ghosts(), end_finer_level() or
// finish_validation().
bool GasSolver::can_defer_validation(int level, bool ends_step) const {
  if (validation_ == Validation::with_particles) return ends_step;
  if (validation_ == Validation::at_once || options_.hydro.is_barotropic()) return false;
  if (ends_step && mesh_.finest_level() == 0) return true;
  return mesh_.communicator().size() > 1 && !left_unphysical_cells_[level];
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

void GasSolver::validate_with_particles(bool any_bad_tiles) {
  if (!pending_ || validation_ != Validation::with_particles) return;
  fastest_[pending_->level] = pending_->result.fastest;
  is_local_[pending_->level] = true;
  if (any_bad_tiles) repair_sweep();
  pending_.reset();
}

// Applies the maximum signal speed and number of bad tiles over all ranks. Clears the pending sweep
// if it left no unphysical cells.
void GasSolver::apply_validation(std::span<const double> worst) {
  const int level = pending_->level;
  fastest_[level] = worst[0];
  is_local_[level] = false;
  left_unphysical_cells_[level] = worst[1] > 0.0;
  if (!left_unphysical_cells_[level]) pending_.reset();
}

bool GasSolver::finish_validation(std::int64_t bad_tiles) {
  if (!pending_) return false;
  if (bad_tiles > 0) repair_sweep();
  pending_.reset();
  return bad_tiles > 0;
}

void GasSolver::repair_sweep() {
  Sweep sweep = *std::exchange(pending_, std::nullopt);
  give_back_inflow(sweep.level, sweep.arguments.next);
  {
    const auto timing = timers_.time("repair", Phase::compute, sweep.level);
    repair(mesh_, sweep.level, options_.hydro, sweep.arguments, floored_);
    close_sweep(sweep);
  }
  withhold_inflow(sweep.arguments, *sweep.stage, sweep.level, true);
  const auto timing = timers_.time("repair", Phase::compute, sweep.level);
  fastest_[sweep.level] =
      mesh_.communicator().max(fastest_signal(sweep.level, sweep.arguments.next));
  is_local_[sweep.level] = false;
}

// Repairs the last sweep after a ghost exchange on level `under_way` has overwritten the ghost
// cells of the sweep.
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
  const mesh::Geometry& geometry = mesh_.geometry();
  const auto restored = hydro::restore_refluxed_cells(
      options_.hydro, mesh_.layout(), mesh_.corrections(level + 1), geometry.cell_size(level),
      fields.blocks(fields.old()), fields.blocks(LevelFields::k_now));
  const double volume = geometry.cell_volume(level);
  for (const hydro::RestoredCells& cells : restored) {
    if (cells.cells == 0) continue;
    restored_.cells += cells.cells;
    restored_.mass += volume * cells.mass;
    restored_.energy += volume * cells.energy;
    const auto corner = geometry.origin(level, morton_decode(mesh_.blocks(level).key(cells.slot)));
    for (int d = 0; d < 3; ++d) {
      const int e = (d + 1) % 3, f = (d + 2) % 3;
      restored_.angular_momentum[d] +=
          volume * (cells.angular_momentum[d] + corner[e] * cells.momentum[f] -
                    corner[f] * cells.momentum[e]);
    }
  }
}

void GasSolver::add_restored(std::int64_t cells) {
  if (cells > 0) {
    const auto& turn = restored_.angular_momentum;
    ReproducibleSum gained[] = {restored_.mass, restored_.energy, turn[0], turn[1], turn[2]};
    reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(gained));
    const double mass = gained[0].to_double(), energy = gained[1].to_double();
    floored_.cells += cells;
    floored_.mass += mass;
    floored_.energy += energy;
    for (int d = 0; d < 3; ++d) floored_.angular_momentum[d] += gained[2 + d].to_double();
    log::warn(
        "restored {} unphysical cells at coarse-fine boundaries to their pre-step state; mass "
        "{:.3g} and energy {:.3g} added",
        cells, mass, energy);
  }
  restored_ = {};
}

}  // namespace octant
