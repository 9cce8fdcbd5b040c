// One step of all levels, coarse ones first (Martel & Shapiro's supercomoving variables make it the
// same in an expanding box, where only the strength of gravity changes).
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "comm/pending_maxima.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "core/observer.hpp"
#include "driver/amr_simulation.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/restore.hpp"
#include "hydro/sweep_costs.hpp"
#include "mesh/device.hpp"

namespace octant::driver {

using mesh::LevelFields;

namespace {

// The state that stage s of a step writes, and the one that it reads: spares take turns.
constexpr int stage_target(int stage) { return stage % 2 == 0 ? 1 : 2; }
constexpr int stage_source(int stage) {
  return stage == 0 ? LevelFields::k_now : stage_target(stage - 1);
}

// A fine level may grow faster than was foreseen; beyond this Courant number its steps are halved.
constexpr double k_largest_courant = 0.98;
// But not into more pieces of the coarser step than this: such a flow is broken.
constexpr int k_most_pieces = 256;

// How long the force that acts at time `now` would have to act to do what it really does until
// now + dt, or since then if dt is negative. In an expanding box it grows: as a D where linear
// perturbations make it, in steps that are not short beside the age of the universe (the idea of
// Feng et al. 2016). In shorter ones, of bound matter, this is dt. Simpson's rule.
double acting_time(const cosmology::Universe& universe, double now, double dt) {
  const auto strength = [&](double time) {
    const double a = universe.scale_factor(time);
    return a * universe.expansion().growth(a).first;
  };
  const double whole = strength(now) + 4.0 * strength(now + 0.5 * dt) + strength(now + dt);
  return std::abs(dt) / 6.0 * whole / strength(now);
}

}  // namespace

void AmrSimulation::step(double dt) {
  std::fill(clocks_.begin(), clocks_.end(), time_);
  std::fill(level_steps_.begin(), level_steps_.end(), 0);
  measured_ = false;
  potential_energy_.reset();
  middle_of_step_ = time_ + 0.5 * dt;
  interacted_ = false;
  meter_.begin_step();
  act_around_step(time_ + 0.25 * dt, 0.5 * dt);
  advance(0, dt, 0.0, 1.0);
  act_around_step(time_ + 0.75 * dt, 0.5 * dt);
  time_ += dt;
  finish_step(0, time_);
  ++step_;
  settle_ledgers();
  matter_.choose_serving_levels(0);  // of those that have just come into being, too
  update_density(0);                 // particles have changed level
  if (interacted_ && gravity_) gravity_->resume();
  meter_.end_step(particle_counts());
  if (unjudged_) measure();
  collect_outflow();
}

// Takes what the step's fluxes, repaired ones included, brought through the domain's boundaries.
void AmrSimulation::collect_outflow() {
  const mesh::Geometry& geometry = mesh_.geometry();
  const bool is_endless = geometry.periodic(0) && geometry.periodic(1) && geometry.periodic(2);
  if (is_endless) return;
  collect_particle_outflow();
  if (!options_.hydro.enabled) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    PotentialsOfStep potentials;
    if (gravity_) {
      potentials.before = gravity_->stored().field(level, gravity::Field::previous_potential);
      potentials.after = gravity_->stored().field(level, gravity::Field::potential);
    }
    driver::collect_outflow(mesh_, level, options_.hydro.spin(), potentials, flown_out_);
  }
  reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(flown_out_));
  for (int n = 0; n < Outflow::terms; ++n) outflow_.amount[n] += flown_out_[n].to_double();
  flown_out_ = {};
}

// Takes what particles that have left the domain in this step brought with them. Their potential is
// that of all that stayed, without the share of their own clouds (see potential_energies()).
void AmrSimulation::collect_particle_outflow() {
  std::function<particles::VectorField(int)> potentials;
  if (gravity_)
    potentials = [&](int level) -> particles::VectorField {
      const auto [data, stride] = gravity_->stored().field(level, gravity::Field::potential);
      return {data, stride, 0};
    };
  particles::Particles::collect_outflow(matter_.kinds(), potentials, own_potential_of_base());
}

// Advances a level by dt, from `begin` to `end` of the coarser level's step, and all finer ones
// with it; what is missing is the second half of its kick.
void AmrSimulation::advance(int level, double dt, double begin, double end) {
  kick(level, 0.5 * dt, gravity::Half::first);
  drift(level, dt);
  if (options_.hydro.enabled) advance_gas(level, dt, begin, end);
  cell_updates_ += leaf_cells_here_[level];
  meter_.count_update(level);
  clocks_[level] += dt;
  level_dt_[level] = dt;
  ++level_steps_[level];
  if (level < mesh_.finest_level()) advance_finer(level, dt);
}

void AmrSimulation::advance_finer(int level, double dt) {
  start_coupling(level);
  // Pieces of the coarse step; powers of two, so that fractions are exact.
  int pieces = options_.time.subcycle ? 2 : 1;
  for (double done = 0.0; done < 1.0; done += 1.0 / pieces) {
    // The next step begins with these ghosts, however long it is.
    if (unjudged_ && unjudged_->level == level + 1)
      start_ghosts(level + 1, LevelFields::k_now, done, clocks_[level + 1]);
    const double longest = signal_limit(level + 1, k_largest_courant);
    while (dt / pieces > longest && pieces <= k_most_pieces) pieces *= 2;
    if (pieces > k_most_pieces)
      throw RunError(
          "step {}, time {}: the signal speed on level {} grew by more than a factor of {} within "
          "one step of level {}; try a smaller time.cfl, a more diffusive hydro.riemann or "
          "hydro.limiter, or, for nearly empty cells, a hydro.density_floor",
          step_, time_, level + 1, k_most_pieces / 2, level);
    advance(level + 1, dt / pieces, done, done + 1.0 / pieces);
    if (done + 1.0 / pieces < 1.0) finish_step(level + 1, clocks_[level + 1]);
  }
  finish_coupling(level);
}

// Ends the step of all levels that have arrived at the time of level `coarsest`: processes act on
// the gas, the kicks' second halves follow, with the forces that the new densities exert, particles
// change level, and processes act on gas and particles together. Coarser levels are still under
// way, and their potentials are extrapolated.
void AmrSimulation::finish_step(int coarsest, double time) {
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) clocks_[level] = time;
  act(coarsest);
  if (gravity_) {
    update_density(coarsest);
    solve_gravity(coarsest, time);
    for (int level = coarsest; level <= mesh_.finest_level(); ++level)
      kick(level, 0.5 * level_dt_[level], gravity::Half::second);
    if (options_.hydro.enabled) {
      const auto timing = timers_.time("level coupling", Phase::other, coarsest);
      mesh_.restrict_all(coarsest);
    }
  }
  if (!matter_.has_particles()) return;
  bring_home(coarsest);
  interact(coarsest);
}

// Particles change level, and with it the size of their clouds. Half of what that does to the
// potential energy shows in the potential that there is; the other half is in the next solution,
// which after a coarse step follow_mesh() finds, if the mesh changes. On the finest level there is
// no other to change to, and each has found its block when it drifted.
void AmrSimulation::bring_home(int coarsest) {
  if (coarsest == mesh_.finest_level()) return;
  const auto working = work("particles", Share::particles_onwards, coarsest);
  const bool counts = gravity_ && options_.universe;
  const SumsOfKinds before = counts ? sums_in_potential(coarsest) : SumsOfKinds{};
  SumsOfKinds after = before;
  auto sums = after.begin();
  for (particles::Particles& kind : matter_.kinds())
    kind.synchronise(coarsest, counts && kind.kind().has_mass ? &*sums++ : nullptr);
  if (!counts) return;
  const auto energies = potential_energies({before, after}, clocks_[coarsest]);
  const double change = energies[1] - energies[0];
  energy_.resolution += coarsest == 0 ? change : 2.0 * change;
  energy_.unsolved = coarsest == 0 ? change : 0.0;
}

// --- gravity and particles ---------------------------------------------------------------------

// Accelerates gas and particles of a level for half a step, by the force at its beginning or
// at its end.
void AmrSimulation::kick(int level, double half_step, gravity::Half half) {
  if (!gravity_) return;
  const double sign = half == gravity::Half::first ? 1.0 : -1.0;
  const double dt = options_.universe
                        ? acting_time(*options_.universe, clocks_[level], sign * half_step)
                        : half_step;
  if (options_.hydro.enabled) {
    const auto working = work("gravity", Share::blocks, level);
    gravity_->kick(level, dt, half);
  }
  if (!matter_.has_particles()) return;
  const auto working = work("particles", Share::particles, level);
  const auto acceleration = [&](int of) -> particles::VectorField {
    const auto [x, stride] = gravity_->stored().acceleration(of);
    return {x.data, x.stride, stride};
  };
  matter_.kick(level, acceleration(level), acceleration(std::max(level - 1, 0)), dt);
}

void AmrSimulation::drift(int level, double dt) {
  if (!matter_.has_particles()) return;
  const auto working = work("particles", Share::particles, level);
  const auto gas = [&](int of) -> particles::VectorField {
    const mesh::BlockLayout& layout = mesh_.layout();
    return {mesh_.fields(of).blocks(LevelFields::k_now) +
                std::int64_t{hydro::k_mass} * layout.stride_variable,
            layout.stride_slot, layout.stride_variable};
  };
  for (particles::Particles& kind : matter_.kinds()) {
    if (kind.kind().motion == particles::Motion::flows)
      kind.carry(level, gas(level), gas(std::max(level - 1, 0)));
    kind.drift(level, dt);
  }
}

// On all levels from `coarsest` on.
void AmrSimulation::solve_gravity(int coarsest, double time) {
  if (options_.universe) {
    gravity_->set_constant(options_.universe->newton_constant(time));
    gravity_->set_scale_factor(options_.universe->scale_factor(time));
  }
  mesh_.forget_ghosts();
  for (int level = coarsest; level <= mesh_.finest_level();) {
    const auto working = work("gravity", Share::blocks, level, Phase::other);
    const gravity::LevelRange levels = gravity_->solved_with(level);
    const auto report = gravity_->solve(levels, time);
    log::debug("gravity: levels {} to {} at time {:.8g}: {} cycles, residual {:.2g} -> {:.2g}",
               levels.first, levels.last, time, report.cycles, report.first_residual,
               report.residual);
    level = levels.last + 1;
  }
}

// --- gas ---------------------------------------------------------------------------------------

void AmrSimulation::advance_gas(int level, double dt, double begin, double end) {
  if (level < mesh_.finest_level()) mesh_.clear_registers(level + 1);
  const auto stages = hydro::stages(options_.hydro.integrator);
  for (int s = 0; s < std::ssize(stages); ++s)
    sweep_stage(level, s, dt, level == 0 ? 1.0 : begin + stages[s].time * (end - begin));
}

// Before and after the finer level's steps: what it interpolates from, and what it gives back.
void AmrSimulation::start_coupling(int level) {
  if (!options_.hydro.enabled) return;
  const auto timing = timers_.time("ghost data", Phase::other, level);
  mesh_.set_inflow_time(level, clocks_[level]);
  mesh_.refresh_halo(level, LevelFields::k_now);
}

void AmrSimulation::finish_coupling(int level) {
  if (!options_.hydro.enabled) return;
  if (unjudged_) judge_sweep();
  give_back_inflow(level, mesh_.fields(level).blocks(LevelFields::k_now));
  const auto timing = timers_.time("level coupling", Phase::other, level + 1);
  mesh_.synchronise(level + 1, gravity_ ? gravity_->face_flow(level) : mesh::FaceFlow{});
  restore_broken(level);
}

// A thin cell beside a finer level may be left with less than nothing: the fine cells drew upon
// what flowed into it by the coarse fluxes, which the correction takes away again. It is
// mended by what it was before the step; what that adds counts as added by floors.
void AmrSimulation::restore_broken(int level) {
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

// True if cells of a level beside finer ones withhold inflow from later stages of a Runge-Kutta
// step and from finer levels.
bool AmrSimulation::withholds_inflow(int level) const {
  const bool has_stages = hydro::stages(options_.hydro.integrator).size() > 1;
  return has_stages && level < mesh_.finest_level();
}

hydro::CoarseFineBoundary AmrSimulation::boundary_to_finer(int level) {
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

void AmrSimulation::withhold_inflow(const hydro::SweepArguments& arguments,
                                    const hydro::Stage& stage, int level, bool is_repaired) {
  if (!withholds_inflow(level)) return;
  const auto timing = timers_.time("level coupling", Phase::other, level + 1);
  hydro::withhold_inflow(options_.hydro, mesh_.layout(), arguments, stage, boundary_to_finer(level),
                         is_repaired);
}

void AmrSimulation::give_back_inflow(int level, double* next) {
  if (!withholds_inflow(level)) return;
  const auto timing = timers_.time("level coupling", Phase::other, level + 1);
  hydro::give_back_inflow(mesh_.layout(), boundary_to_finer(level), next);
}

// Begins to fill the ghosts of a level's state `source`, which is of that time, `theta` of the way
// between the coarser level's two. If the last sweep is still to be judged, they are filled on
// trust while ranks find out about it.
void AmrSimulation::start_ghosts(int level, int source, double theta, double time) {
  const auto fill = [&] {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.set_inflow_time(level, time);
    mesh_.start_ghosts(level, source, theta);
  };
  ghosts_started_ = true;
  if (!unjudged_) return fill();
  PendingMaxima worst(mesh_.communicator(), unjudged_->worst());
  fill();
  {
    const auto timing = timers_.time("verdict on a sweep", Phase::collective, unjudged_->level);
    take_verdict(worst.wait());
  }
  if (!unjudged_) return;
  mesh_.finish_ghosts(level, source);
  repair_behind(level);
  fill();
}

// Repairs the last sweep after ghosts of level `under_way` have replaced those it read.
void AmrSimulation::repair_behind(int under_way) {
  const int level = unjudged_->level;
  {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.set_inflow_time(level, unjudged_->time);
    mesh_.fill_ghosts(level, unjudged_->source, unjudged_->theta);
  }
  repair_sweep();
  if (level < under_way) start_coupling(level);
}

// Where a level of so many tiles on this rank is swept in batches; null: its tiles one by one.
hydro::BatchBuffer* AmrSimulation::batches_for(int tiles) const {
  return schedules_ && !schedules_->in_batches(tiles) ? nullptr : batches_.get();
}

void AmrSimulation::sweep_stage(int level, int stage, double dt, double theta) {
  const hydro::Stage& weights = hydro::stages(options_.hydro.integrator)[stage];
  const mesh::LevelHalo& halo = mesh_.halo(level);
  LevelFields& fields = mesh_.fields(level);
  const int source = stage_source(stage), target = stage_target(stage), tiles = halo.tiles.count();
  const double time = clocks_[level] + weights.time * dt;
  if (!ghosts_started_) start_ghosts(level, source, theta, time);
  ghosts_started_ = false;
  if (static_cast<int>(bad_tiles_.extent(0)) < tiles)
    bad_tiles_ = mesh::uninitialised<std::uint8_t>("bad tiles", tiles);

  const auto& lower = mesh_.geometry().lower();
  hydro::SweepArguments arguments{
      .tiles = halo.tiles,
      .current = mesh_.pointers(level, source),
      .old = fields.blocks(LevelFields::k_now),
      .next = fields.blocks(target),
      .a0 = weights.old_weight,
      .a1 = weights.new_weight,
      .ends_step = weights.last,
      .dt = dt,
      .dx = mesh_.geometry().cell_size(level),
      .lower = {lower[0], lower[1], lower[2]},
      .flux_weight = weights.flux_weight * dt,
      .registers = mesh_.registers(level),
      .bad_tiles = bad_tiles_.data(),
      .mass_flow = gravity_ ? gravity_->mass_flow(level) : nullptr,
      .face_flow = gravity_ ? gravity_->face_flow(level) : mesh::FaceFlow{},
      .energy_taken = gravity_ ? gravity_->energy_taken(level) : nullptr,
      .tile_cycles = meter_.tile_cycles(level),
      .batches = batches_for(tiles)};
  hydro::LevelSweep sweep(options_.hydro, arguments);
  Clock clock;
  sweep_tiles(sweep, arguments, level, 0, halo.interior_tiles);
  double seconds = clock.seconds();
  {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.finish_ghosts(level, source);
  }
  clock.restart();
  sweep_tiles(sweep, arguments, level, halo.interior_tiles, tiles);
  const hydro::SweepResult result = finish_tiles(sweep, level);
  seconds += clock.seconds();
  level_times_[level].nanoseconds += static_cast<std::int64_t>(1e9 * seconds);
  level_times_[level].cells += leaf_cells_here_[level];
  withhold_inflow(arguments, weights, level, false);
  if (weights.last) fields.commit(target);

  unjudged_ = {.level = level,
               .source = weights.last && stage == 0 ? fields.old() : source,
               .theta = theta,
               .time = time,
               .stage = &weights,
               .arguments = arguments,
               .fastest = result.fastest,
               .bad_tiles = result.bad_tiles};
  if (!may_stay_unjudged(level, weights.last)) judge_sweep();
}

// Whether ranks go on before they know whether a sweep broke cells. They may where gas is all there
// is: nothing reads its state before start_ghosts(), finish_coupling() or, if nothing else follows
// in a step, measure().
bool AmrSimulation::may_stay_unjudged(int level, bool ends_step) const {
  if (gravity_ || matter_.has_particles() || !options_.processes.empty()) return false;
  if (ends_step && mesh_.finest_level() == 0) return true;
  return mesh_.communicator().size() > 1 && !broke_cells_[level];
}

// Finds out whether the last sweep broke cells on any rank, and repairs them.
void AmrSimulation::judge_sweep() {
  std::vector<double> worst = unjudged_->worst();
  {
    const auto timing = timers_.time("wait for all ranks", Phase::collective, unjudged_->level);
    mesh_.communicator().max_in_place(std::span(worst));
  }
  take_verdict(worst);
  if (unjudged_) repair_sweep();
}

// Of all ranks, the fastest signal and the largest number of bad tiles. A sweep that broke none is
// done with.
void AmrSimulation::take_verdict(std::span<const double> worst) {
  const int level = unjudged_->level;
  fastest_[level] = worst[0];
  broke_cells_[level] = worst[1] > 0.0;
  if (!broke_cells_[level]) unjudged_.reset();
}

void AmrSimulation::repair_sweep() {
  const Unjudged sweep = *std::exchange(unjudged_, std::nullopt);
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

double AmrSimulation::fastest_signal(int level, const double* blocks) const {
  return hydro::fastest_signal(options_.hydro, mesh_.layout(), blocks, mesh_.cells(level));
}

void AmrSimulation::sweep_tiles(hydro::LevelSweep& sweep, const hydro::SweepArguments& arguments,
                                int level, int begin, int end) {
  // Timed on idle ranks as well: the table of times adds up the same parts on all ranks.
  const auto timing = timers_.time("sweep", Phase::compute, level);
  if (begin == end) return;
  const std::int64_t cells = meter_.cells(level, begin, end);
  timing.count(cells);
  std::optional<Observed> in_batches;  // by which telemetry tells one schedule from the other
  if (arguments.batches) in_batches.emplace(Phase::compute, "batches", level);
  hydro::announce_sweep(options_.hydro, arguments, cells);
  meter_.start(sweep, level, begin, end);
}

// Waits for the sweeps of a level.
hydro::SweepResult AmrSimulation::finish_tiles(const hydro::LevelSweep& sweep, int level) {
  const auto timing = timers_.time("sweep", Phase::compute, level);
  return meter_.result(sweep, level);
}

}  // namespace octant::driver
