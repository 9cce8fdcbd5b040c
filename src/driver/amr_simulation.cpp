#include "driver/amr_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/residency.hpp"
#include "gravity/transfer_table.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/gas_interpolation.hpp"

namespace octant::driver {

using mesh::LevelFields;

namespace {

std::vector<mesh::Variable> stored_variables(const hydro::HydroOptions& gas) {
  std::vector<mesh::Variable> variables;
  for (const hydro::GasVariable& variable : gas.variables())
    variables.push_back({variable.stored_field().name, variable.vector_axis});
  return variables;
}

mesh::FieldSetup field_setup(const AmrOptions& options) {
  return {.variables = stored_variables(options.hydro),
          .ghosts = options.hydro.ghosts(),
          .spares = options.hydro.integrator == hydro::Integrator::muscl_hancock ? 1 : 2};
}

// Stores what the problem lets in.
mesh::Inflow::States enter_gas(const AmrOptions& options, int boundary, const Lattice& centres) {
  return [&gas = options.hydro, cells = centres.points(),
          states = options.problem->inflow_states(boundary / 2, boundary % 2, centres)](
             double time, double* values) {
    states(time, [&](std::int64_t cell, const problems::GasState& state) {
      problems::store_state(state, gas, values + cell, cells);
    });
  };
}

}  // namespace

AmrSimulation::AmrSimulation(const Communicator& communicator, AmrOptions& options)
    : options_(options),
      mesh_(mesh::Geometry(options.mesh), communicator, options.comm, field_setup(options),
            hydro::make_interpolation(options.hydro)),
      gravity_(options.gravity.enabled
                   ? std::make_unique<gravity::Gravity>(options.gravity, mesh_, options.comm,
                                                        options.execution.in_batches()
                                                            ? gravity::FourierSchedule::device
                                                            : gravity::FourierSchedule::host)
                   : nullptr),
      matter_(mesh_, options),
      meter_(mesh_, SyntheticLoad(options.debug.synthetic_load), options.slowness,
             options.balance.cost == BalanceCost::measured),
      totals_(options.mesh.max_level + 1, matter_.kinds().size()),
      fastest_(options.mesh.max_level + 1, 0.0),
      limits_(options.mesh.max_level + 1, std::numeric_limits<double>::infinity()),
      leaf_cells_here_(options.mesh.max_level + 1, 0),
      level_times_(options.mesh.max_level + 1),
      broke_cells_(options.mesh.max_level + 1, false),
      clocks_(options.mesh.max_level + 1, 0.0),
      level_dt_(options.mesh.max_level + 1, 0.0),
      level_steps_(options.mesh.max_level + 1, 0) {
  if (!options.execution.model.empty())
    communicator.agree([&] {
      schedules_.emplace(read_measured_sweeps(options.execution.model),
                         Kokkos::DefaultExecutionSpace().concurrency());
    });
  if (schedules_ || options.execution.in_batches())
    batches_ = std::make_unique<hydro::BatchBuffer>(options.execution.batch_bytes());
  for (const auto& process : options.processes)
    ledgers_.emplace_back(process->name(), process->accounts());
  for (const auto& process : options.processes) process->begin(communicator);
  energy_.counts_spared =
      options.universe && gravity_ && options.hydro.enabled && !options.processes.empty();
  if (gravity_ && options.universe)
    gravity_->set_work_on_flow(energy_.counts_spared ? gravity::WorkOnFlow::counted
                                                     : gravity::WorkOnFlow::ignored);
  if (gravity_ && options.gravity.work == gravity::Work::potential)
    gravity_->set_work_on_flow(gravity::WorkOnFlow::climbed);
  if (gravity_) gravity_->set_frame(options.hydro.frame);
  if (gravity_ && !options.gravity.transfer.empty())
    gravity_->set_transfer(gravity::TransferTable(
        options.gravity.transfer, options.universe ? options.universe->options().box : 1.0));
  if (gravity_) gravity_->set_attracting([this](int level) { return matter_.density(level); });
  matter_.serve_levels_apart(gravity_ && gravity_->solves_single_levels());
  if (!options.problem) return;
  mesh_.set_inflow({.states =
                        [&options = std::as_const(options)](int boundary, const Lattice& centres) {
                          return enter_gas(options, boundary, centres);
                        },
                    .moves = options.problem->inflow_moves()});
}

double AmrSimulation::least_bytes(const AmrOptions& options) {
  const mesh::FieldSetup setup = field_setup(options);
  double doubles = 0.0;
  if (options.hydro.enabled)
    doubles += static_cast<double>(setup.variables.size()) * (1 + setup.spares);
  if (options.gravity.enabled) doubles += gravity::k_fields;
  const auto& cells = options.mesh.base_cells;
  return sizeof(double) * doubles * cells[0] * cells[1] * cells[2];
}

void AmrSimulation::set_initial_state(int level) {
  if (!options_.hydro.enabled) return;
  const auto timing = timers_.time("initial state");
  const mesh::BlockLayout& layout = mesh_.layout();
  const int cells = layout.block_size * layout.block_size * layout.block_size;
  std::vector<double> values(layout.stride_slot, 1.0);
  const auto host = host_view(values);
  const int spin = options_.hydro.spin(), N = layout.block_size;
  const double dx = mesh_.geometry().cell_size(level);
  const auto with_spin = [&](int slot, int cell, problems::GasState gas) {
    auto centre = mesh_.geometry().origin(level, morton_decode(mesh_.blocks(level).key(slot)));
    const int index[3] = {cell % N, cell / N % N, cell / N / N};
    for (int d = 0; d < 3; ++d) centre[d] += (index[d] + 0.5) * dx;
    problems::add_spin(*options_.problem, spin, centre, dx, gas);
    return gas;
  };
  options_.problem->initial_level(
      mesh_, level, [&](int slot, int cell, const problems::GasState& gas) {
        problems::store_state(spin < 0 ? gas : with_spin(slot, cell, gas), options_.hydro,
                              values.data() + cell, layout.stride_variable);
        if (cell + 1 < cells) return;
        const Kokkos::View<double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
            mesh_.fields(level).blocks(LevelFields::k_now) + slot * layout.stride_slot,
            values.size());
        copy_to_device(Cargo::fields, block, host);
      });
}

void AmrSimulation::initialise() {
  const auto timing = timers_.time("initial state");
  time_ = options_.problem->begin(mesh_.communicator());
  set_initial_state(0);
  options_.set_scales(measure_scales());
  for (const particles::Kind& kind : options_.problem->particle_kinds())
    matter_.kind(kind.name)->add(options_.problem->initial_particles(kind.name));
  rebalance();
  // One more round than levels: the last one may only derefine what interpolated states asked for.
  for (int round = 0; round <= mesh_.geometry().max_level(); ++round) {
    mesh_.restrict_all();
    update_density(0);
    if (!regrid()) break;
    for (int level = 0; level <= mesh_.finest_level(); ++level) set_initial_state(level);
    rebalance();
  }
  mesh_.restrict_all();
  check_dimensions();
  follow_mesh();
  options_.problem->end_of_beginning();
}

// Of the leaf cells of all levels. Ones without gas, or where it has neither mass nor energy.
InitialScales AmrSimulation::measure_scales() {
  if (!options_.hydro.enabled) return {};
  double volume = 1.0;
  for (int d = 0; d < 3; ++d) volume *= mesh_.geometry().upper()[d] - mesh_.geometry().lower()[d];
  hydro::GasSums sums;
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    hydro::measure_gas(options_.hydro, mesh_.layout(),
                       mesh_.fields(level).blocks(LevelFields::k_now), mesh_.cells(level),
                       mesh_.geometry().cell_volume(level), sums);
  reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(sums));
  const auto power_of_two = [&](const ReproducibleSum& sum) {
    const double mean = sum.to_double() / volume;
    if (!(mean > 0.0) || !std::isfinite(mean)) return 1.0;
    int exponent = 0;
    const double mantissa = std::frexp(mean, &exponent);  // from 1/2 to 1
    return std::ldexp(1.0, mantissa < std::numbers::sqrt2 / 2.0 ? exponent - 1 : exponent);
  };
  return {power_of_two(sums[hydro::k_mass_sum]), power_of_two(sums[hydro::k_total_energy_sum])};
}

// Where hydro.dimensions says that the gas does not change along an axis, the state that a run
// begins with must not.
void AmrSimulation::check_dimensions() {
  const int dimensions = options_.hydro.dimensions;
  if (!options_.hydro.enabled || dimensions == 3) return;
  mesh_.communicator().agree([&] {
    for (int level = 0; level <= mesh_.finest_level(); ++level) {
      const mesh::CellRange cells = mesh_.cells(level);
      const auto found = hydro::varying_cells(
          options_.hydro, mesh_.layout(), mesh_.fields(level).blocks(LevelFields::k_now), cells);
      if (found.empty()) continue;
      const mesh::Cell& cell = found.front();
      auto place =
          mesh_.geometry().origin(level, morton_decode(mesh_.blocks(level).key(cell.slot)));
      for (int d = 0; d < 3; ++d)
        place[d] += (cells.coordinate(cell.index, d) + 0.5) * cells.cell_size;
      throw InputError(
          "hydro.dimensions = {}: the gas at x = {}, y = {}, z = {} on level {} is not that of its "
          "neighbours along {}",
          dimensions, place[0], place[1], place[2], level, dimensions == 2 ? "z" : "y or z");
    }
  });
}

void AmrSimulation::resume(const RunState& state) {
  options_.problem->begin(mesh_.communicator());
  options_.problem->end_of_beginning();
  time_ = state.time;
  step_ = state.step;
  options_.set_scales(state.scales);
  floored_ = state.floored;
  outflow_ = state.outflow;
  energy_ = state.energy;
  ledgers_ = state.ledgers;
  check_dimensions();
  const bool moved = rebalance();
  matter_.choose_serving_levels(0);
  update_density(0);
  if (!gravity_) return;
  if (moved) gravity_->adapt_to_mesh();
  gravity_->set_constant(options_.newton_constant(time_));
  gravity_->resume();
}

void AmrSimulation::begin_from(double time, std::int64_t step) {
  options_.problem->begin(mesh_.communicator());
  time_ = time;
  step_ = step;
  options_.set_scales(measure_scales());
  check_dimensions();
  rebalance();
  matter_.choose_serving_levels(0);
  follow_mesh();
  options_.problem->end_of_beginning();
}

RunState AmrSimulation::state() {
  count_restored(mesh_.communicator().sum(restored_.cells));
  return {.time = time_,
          .step = step_,
          .scales = options_.scales,
          .floored = floored_,
          .outflow = outflow_,
          .energy = energy_,
          .ledgers = ledgers_};
}

std::int64_t AmrSimulation::own_leaf_cells() const {
  return std::accumulate(leaf_cells_here_.begin(), leaf_cells_here_.end(), std::int64_t{0});
}

double AmrSimulation::scale_factor() const {
  return options_.universe ? options_.universe->scale_factor(time_) : 1.0;
}

// Deposits particles where levels from `coarsest` on need their density.
void AmrSimulation::update_density(int coarsest) {
  const auto working = work("particles", Share::particles_onwards, coarsest);
  matter_.update_density(coarsest);
}

// Of all kinds, by level and own block.
BlockCounts AmrSimulation::particle_counts() const {
  BlockCounts counts;
  for (int level = 0; level <= mesh_.geometry().max_level(); ++level) {
    const auto own = mesh_.blocks(level).own();
    auto& of_level = counts.emplace_back(own.size(), 0);
    for (const particles::Particles& kind : matter_.kinds()) {
      const auto by_slot = kind.counts_by_slot(level);
      for (std::size_t n = 0; n < own.size(); ++n) of_level[n] += by_slot[own[n]];
    }
  }
  return counts;
}

}  // namespace octant::driver
