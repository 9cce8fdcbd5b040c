#include "amr/amr_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "amr/initial_pressures.hpp"
#include "amr/mesh_adaptation.hpp"
#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "hydro/diagnostics.hpp"

namespace octant {

using mesh::LevelFields;

namespace {

// Tasks of a coarse step. Tasks of the same `When` run in this order.
const Task k_step[] = {
    // when, task, required physics, function, data it reads, overlapping communication
    {When::coarse_begins, "clocks of all levels", k_any, &StepContext::begin_coarse_step, "time"},
    {When::coarse_begins, "processes around the step, first half", k_processes,
     &ProcessStep::act_before, "gas"},
    {When::coarse_begins, "emission of photons", k_radiation | k_processes,
     &ProcessStep::set_emission, "positions and ages of stars"},
    {When::level_advances, "kick, first half", k_gravity, &GravityStep::kick_first_half,
     "acceleration at the beginning of the step"},
    {When::level_advances, "drift", k_particles, &ParticleStep::drift, "velocities"},
    {When::level_advances, "gas", k_gas, &GasSolver::advance, "gas, ghost cells",
     "ghost cells during the sweep of inner tiles"},
    {When::level_advances, "blocks of particles", k_particles, &ParticleStep::find_blocks,
     "positions", "validation of the last sweep"},
    {When::level_advances, "radiation", k_radiation, &RadiationStep::advance,
     "radiation, gas, ghost cells"},
    {When::level_advances, "clock of the level", k_any, &StepContext::count_step,
     "length of the step"},
    {When::finer_begins, "halo of the coarser level", k_gas, &GasSolver::begin_finer_level,
     "gas of the coarser level"},
    {When::substep_begins, "first ghost cells", k_gas, &GasSolver::begin_substep,
     "gas of the finer level", "validation of the last sweep"},
    {When::finer_ends, "refluxing and restriction", k_gas, &GasSolver::end_finer_level,
     "flux registers, gas of the finer level"},
    {When::coarse_advanced, "processes around the step, second half", k_processes,
     &ProcessStep::act_after, "gas"},
    {When::coarse_advanced, "time", k_any, &StepContext::advance_time, "length of the step"},
    {When::levels_meet, "clocks of finer levels", k_any, &StepContext::synchronise_clocks,
     "clock of the level"},
    {When::levels_meet, "processes", k_processes, &ProcessStep::act, "gas"},
    {When::levels_meet, "deposit", k_gravity | k_particles, &ParticleStep::deposit, "positions"},
    {When::levels_meet, "potential", k_gravity, &GravityStep::solve,
     "density of gas and particles, potential of the coarser level"},
    {When::levels_meet, "kick, second half", k_gravity, &GravityStep::kick_second_half,
     "acceleration at the end of the step"},
    {When::levels_meet, "restriction", k_gravity | k_gas, &GravityStep::restrict_gas,
     "gas of finer levels"},
    {When::levels_meet, "redistribution of particles", k_particles, &ParticleStep::redistribute,
     "positions"},
    {When::levels_meet, "processes on gas and particles", k_processes, &ProcessStep::interact,
     "gas, particles"},
    {When::coarse_ends, "number of steps", k_any, &StepContext::end_coarse_step, ""},
    {When::coarse_ends, "budgets", k_any, &Measurement::sum_budgets,
     "changes by processes, work of gravity"},
    {When::coarse_ends, "equation of state", k_barotropic, &GasSolver::close_energies, "gas"},
    {When::coarse_ends, "deposit", k_particles, &ParticleStep::deposit_all, "positions"},
    {When::coarse_ends, "strongest acceleration", k_gravity | k_processes,
     &ProcessStep::remeasure_gravity, "gas, potential"},
    {When::coarse_ends, "costs of blocks", k_any, &Measurement::count_costs, "times of all tasks"},
    {When::coarse_ends, "validation of the last sweep", k_gas, &Measurement::validate, "gas"},
    {When::coarse_ends, "outflow", k_any, &Measurement::collect_outflow,
     "fluxes through the boundaries, lost particles"},
};

// Returns the physics of a run as flags of Contents.
unsigned contents_of(const AmrOptions& options, bool has_particles) {
  return (options.hydro.enabled ? k_gas : 0U) |
         (options.hydro.is_barotropic() ? k_barotropic : 0U) |
         (options.radiation.is_active() ? k_radiation : 0U) |
         (options.gravity.enabled ? k_gravity : 0U) | (has_particles ? k_particles : 0U) |
         (options.processes.empty() ? 0U : k_processes);
}

// --- initial conditions of the gas ---------------------------------------------------------------

// Sets the problem's initial state in all cells of a level, and adds its leaf cells to `pressures`.
void set_initial_gas(StepContext& context, int level, InitialPressures& pressures) {
  const AmrOptions& options = context.options;
  mesh::Mesh& mesh = context.mesh;
  if (!options.hydro.enabled) return;
  const auto timing = context.timers.time("initial state");
  const mesh::BlockLayout& layout = mesh.layout();
  const int cells = layout.block_size * layout.block_size * layout.block_size;
  std::vector<double> values(layout.stride_slot, 1.0);
  const auto host = host_view(values);
  const int spin = options.hydro.spin(), N = layout.block_size;
  const double dx = mesh.geometry().cell_size(level);
  const auto with_spin = [&](const problems::Position& centre, problems::GasState gas) {
    problems::add_spin(*options.problem, spin, centre, dx, gas);
    return gas;
  };
  const bool limits_pressures = pressures.are_limited();
  const auto store = [&](int slot, int cell, const problems::GasState& gas) {
    auto centre = mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
    const int index[3] = {cell % N, cell / N % N, cell / N / N};
    int octant = 0;
    for (int d = 0; d < 3; ++d) {
      centre[d] += (index[d] + 0.5) * dx;
      octant |= (2 * index[d] >= N ? 1 : 0) << d;
    }
    const bool is_leaf = (mesh.blocks(level).refined(slot) >> octant & 1) == 0;
    if (limits_pressures && is_leaf) pressures.add(gas, centre);
    problems::store_state(spin < 0 ? gas : with_spin(centre, gas), options.hydro, centre,
                          values.data() + cell, layout.stride_variable);
    if (cell + 1 < cells) return;
    const Kokkos::View<double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
        mesh.fields(level).blocks(LevelFields::k_now) + slot * layout.stride_slot, values.size());
    copy_to_device(TransferKind::fields, block, host);
  };
  if (options.given_state)
    problems::evaluate_level(mesh, level, options.hydro, options.given_state, store);
  else options.problem->initial_level(mesh, level, store);
}

// Measures the scales of the gas in the leaf cells of all levels: the mean densities of mass and
// total energy, each rounded to a power of two. They are 1 without gas, or for gas without mass and
// energy. Collective.
InitialScales measure_scales(const StepContext& context) {
  const hydro::HydroOptions& gas = context.options.hydro;
  const mesh::Mesh& mesh = context.mesh;
  if (!gas.enabled) return {};
  double volume = 1.0;
  for (int d = 0; d < 3; ++d) volume *= mesh.geometry().upper()[d] - mesh.geometry().lower()[d];
  hydro::GasSums sums;
  for (int level = 0; level <= mesh.finest_level(); ++level)
    hydro::measure_gas(gas, mesh.layout(), mesh.fields(level).blocks(LevelFields::k_now),
                       mesh.cells(level), mesh.geometry().cell_volume(level), sums);
  reproducible_sum(mesh.communicator(), std::span<ReproducibleSum>(sums));
  const auto nearest_power_of_two_of_mean = [&](const ReproducibleSum& sum) {
    const double mean = sum.to_double() / volume;
    if (!(mean > 0.0) || !std::isfinite(mean)) return 1.0;
    int exponent = 0;
    const double mantissa = std::frexp(mean, &exponent);  // in [1/2, 1)
    return std::ldexp(1.0, mantissa < std::numbers::sqrt2 / 2.0 ? exponent - 1 : exponent);
  };
  return {nearest_power_of_two_of_mean(sums[hydro::k_mass_sum]),
          nearest_power_of_two_of_mean(sums[hydro::k_total_energy_sum])};
}

// Throws InputError if the gas varies along an axis that hydro.dimensions excludes. Collective.
void check_dimensions(const StepContext& context) {
  const hydro::HydroOptions& gas = context.options.hydro;
  const mesh::Mesh& mesh = context.mesh;
  if (!gas.enabled || gas.dimensions == 3) return;
  mesh.communicator().collective_try([&] {
    for (int level = 0; level <= mesh.finest_level(); ++level) {
      const mesh::CellRange cells = mesh.cells(level);
      const auto found = hydro::varying_cells(gas, mesh.layout(),
                                              mesh.fields(level).blocks(LevelFields::k_now), cells);
      if (found.empty()) continue;
      const mesh::Cell& cell = found.front();
      auto place = mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(cell.slot)));
      for (int d = 0; d < 3; ++d)
        place[d] += (cells.coordinate(cell.index, d) + 0.5) * cells.cell_size;
      throw InputError(
          "hydro.dimensions = {}: the gas state in the cell at x = {}, y = {}, z = {} on level {} "
          "differs from that of its neighbours along {}",
          gas.dimensions, place[0], place[1], place[2], level,
          gas.dimensions == 2 ? "z" : "y or z");
    }
  });
}

}  // namespace

namespace {

GasSolver::Validation validation_of_sweeps(const AmrOptions& options, bool has_particles) {
  if (has_particles) return GasSolver::Validation::with_particles;
  const bool is_alone =
      !options.gravity.enabled && options.processes.empty() && !options.radiation.is_active();
  return is_alone ? GasSolver::Validation::deferred : GasSolver::Validation::at_once;
}

}  // namespace

AmrSimulation::AmrSimulation(const Communicator& communicator, AmrOptions& options)
    : context_(communicator, options),
      matter_(context_.mesh, options),
      gravity_(context_, matter_),
      gas_(context_, gravity_.solver(), validation_of_sweeps(options, matter_.has_particles())),
      radiation_(context_, gas_, processes_),
      particles_(context_, matter_, gravity_, gas_),
      processes_(context_, gas_, gravity_, matter_),
      measurement_(context_, matter_, gas_, radiation_, gravity_, particles_, processes_),
      balance_(context_, matter_),
      loop_(context_, k_step, contents_of(options, matter_.has_particles()),
            {&context_, &gas_, &radiation_, &gravity_, &particles_, &processes_, &measurement_},
            [this](int level, double courant) { return longest_step(level, courant); }) {}

// Returns the longest step of a level in which no signal crosses more than `courant` cells. The
// reduction of signals includes the masses of particles, which the next deposit needs.
double AmrSimulation::longest_step(int level, double courant) {
  if (context_.options.hydro.enabled && gas_.signals_are_local(level)) {
    std::vector<double> masses = matter_.deposit_reduction_terms();
    gas_.reduce_signals(masses);
    matter_.set_deposit_maxima(masses);
  }
  return std::min(gas_.max_dt(level, courant), radiation_.longest_step(level));
}

std::string describe_step(const AmrOptions& options) {
  return describe_step(k_step, contents_of(options, !particle_kinds(options).empty()),
                       options.mesh.max_level, options.time.subcycle);
}

void AmrSimulation::initialise() {
  const auto timing = context_.timers.time("initial state");
  AmrOptions& options = context_.options;
  mesh::Mesh& mesh = context_.mesh;
  context_.time = options.problem->begin(mesh.communicator());
  std::optional<InitialPressures> pressures(std::in_place, options.hydro);
  set_initial_gas(context_, 0, *pressures);
  options.set_scales(measure_scales(context_));
  for (const particles::Kind& kind : options.problem->particle_kinds())
    matter_.kind(kind.name)->add(
        options.problem->initial_particles(kind.name, mesh.communicator()));
  balance_.rebalance();
  // Makes one more round than levels: the last may only derefine cells that were flagged on
  // interpolated states.
  for (int round = 0; round <= mesh.geometry().max_level(); ++round) {
    mesh.restrict_all();
    particles_.deposit_from(0);
    if (!regrid(context_, matter_, gravity_.solver())) break;
    pressures.emplace(options.hydro);
    for (int level = 0; level <= mesh.finest_level(); ++level)
      set_initial_gas(context_, level, *pressures);
    balance_.rebalance();
  }
  pressures->report(mesh.communicator());
  mesh.restrict_all();
  gas_.close_energies({});
  gas_.resume_exchange(0.0);
  check_dimensions(context_);
  radiation_.check_initial_state();
  if (context_.faces) context_.faces->initialise();
  follow_mesh(true);
  options.problem->end_of_beginning();
}

void AmrSimulation::step(double dt) {
  measurement_.invalidate();
  gravity_.invalidate_energy();
  gravity_.report_costs();  // costs before the step, which are not part of the step's costs
  loop_.set_coarse_step(dt);
  loop_.advance(0);
}

void AmrSimulation::adapt() {
  const AmrOptions& options = context_.options;
  const auto is_due = [&](int interval) { return interval > 0 && context_.step % interval == 0; };
  balance_.clear_placements();
  const bool may_regrid =
      context_.mesh.geometry().max_level() > 0 && is_due(options.refine.interval);
  if (may_regrid) measurement_.before_regrid();
  regridded_ = may_regrid && regrid(context_, matter_, gravity_.solver());
  rebalanced_ = context_.step > 0 &&
                (is_due(options.balance.interval) || balance_.exceeds_threshold()) &&
                balance_.rebalance();
  if (regridded_) gas_.close_energies({});
  if (regridded_ || rebalanced_) {
    measurement_.invalidate();
    follow_mesh(regridded_);
  }
  measurement_.after_adapt(regridded_);
}

void AmrSimulation::follow_mesh(bool regridded) {
  gravity_.invalidate_energy();
  particles_.deposit_from(0);
  gravity_.follow_mesh(regridded);
}

void AmrSimulation::resume(const RunState& state) {
  AmrOptions& options = context_.options;
  options.problem->begin(context_.mesh.communicator());
  options.problem->end_of_beginning();
  context_.time = state.time;
  context_.step = state.step;
  options.set_scales(state.scales);
  gas_.resume(state.floored);
  gas_.resume_exchange(state.exchanged_energy);
  measurement_.resume(state.outflow);
  gravity_.energy() = state.energy;
  processes_.resume(state.ledgers);
  check_dimensions(context_);
  const bool moved = balance_.rebalance();
  matter_.choose_force_levels(0);
  particles_.deposit_from(0);
  gravity_.resume(moved);
}

void AmrSimulation::begin_from(double time, std::int64_t step) {
  AmrOptions& options = context_.options;
  options.problem->begin(context_.mesh.communicator());
  context_.time = time;
  context_.step = step;
  options.set_scales(measure_scales(context_));
  gas_.close_energies({});
  gas_.resume_exchange(0.0);
  check_dimensions(context_);
  balance_.rebalance();
  if (context_.faces) context_.faces->initialise();
  matter_.choose_force_levels(0);
  follow_mesh(true);
  options.problem->end_of_beginning();
}

RunState AmrSimulation::state() {
  gas_.add_restored(context_.mesh.communicator().sum(gas_.restored_cells()));
  return {.time = context_.time,
          .step = context_.step,
          .scales = context_.options.scales,
          .floored = gas_.floored(),
          .exchanged_energy = gas_.exchanged_energy(),
          .outflow = measurement_.outflow(),
          .energy = gravity_.energy(),
          .ledgers = processes_.ledgers()};
}

std::int64_t AmrSimulation::own_leaf_cells() const {
  const auto& counts = context_.leaf_cells;
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

}  // namespace octant
