#include "amr/step_context.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "amr/memory_cost.hpp"
#include "hydro/gas_interpolation.hpp"

namespace octant {

namespace {

mesh::FieldSetup field_setup(const AmrOptions& options) {
  mesh::FieldSetup setup{
      .variables = {}, .ghosts = options.hydro.ghosts(), .spares = gas_states(options) - 1};
  for (const hydro::GasVariable& variable : options.hydro.variables())
    setup.variables.push_back(variable.stored_field());
  setup.others = static_cast<int>(options.hydro.separate.size());
  setup.spin = {.first = static_cast<std::int16_t>(options.hydro.spin()),
                .momentum = hydro::k_momentum_x};
  return setup;
}

// Returns a function that stores the inflow states of the problem.
mesh::Inflow::States inflow_states(const AmrOptions& options, int boundary,
                                   const Lattice& centres) {
  return [&gas = options.hydro, centres,
          states = options.problem->inflow_states(boundary / 2, boundary % 2, centres)](
             double time, double* values) {
    states(time, [&](std::int64_t cell, const problems::GasState& state) {
      problems::store_state(state, gas, centres.position(cell), values + cell, centres.points());
    });
  };
}

}  // namespace

StepContext::StepContext(const Communicator& communicator, AmrOptions& options)
    : options(options),
      mesh(mesh::Geometry(options.mesh), communicator, options.comm, field_setup(options),
           hydro::make_interpolation(options.hydro)),
      meter(mesh, SyntheticLoad(options.debug.synthetic_load), options.slowness,
            options.balance.cost == BalanceCost::measured),
      clocks(levels(), 0.0),
      level_dt(levels(), 0.0),
      level_steps(levels(), 0),
      leaf_cells(levels(), 0),
      all_leaf_cells(levels(), 0) {
  if (auto fields = options.face_fields(); !fields.empty())
    faces = std::make_unique<mesh::FaceFields>(mesh, options.comm, std::move(fields));
  if (!options.problem) return;
  mesh.set_inflow({.states =
                       [&options = std::as_const(options)](int boundary, const Lattice& centres) {
                         return inflow_states(options, boundary, centres);
                       },
                   .moves = options.problem->inflow_moves()});
}

StepContext::CycleCounting::CycleCounting(StepContext& context, const std::string& name,
                                          const CostKind& kind, int level)
    : context_(context), level_(level) {
  for (int l = level_; l <= context_.mesh.finest_level(); ++l)
    context_.mesh.count_cycles(l, context_.meter.block_cycles(name, kind, l).data());
}

StepContext::CycleCounting::~CycleCounting() {
  for (int l = level_; l <= context_.mesh.finest_level(); ++l)
    context_.mesh.count_cycles(l, nullptr);
}

double StepContext::scale_factor() const {
  return options.universe ? options.universe->scale_factor(time) : 1.0;
}

int StepContext::finest_allowed() const {
  const int finest = mesh.geometry().max_level();
  if (!options.refine.holdback) return finest;
  const double a = scale_factor();
  int closed = 0;
  while (closed < finest && a < 0.5 * std::cbrt(4.0) / static_cast<double>(1 << closed)) ++closed;
  return finest - closed;
}

// --- tasks ---------------------------------------------------------------------------------------

void StepContext::begin_coarse_step(const LevelStep& level_step) {
  std::fill(clocks.begin(), clocks.end(), time);
  std::fill(level_steps.begin(), level_steps.end(), 0);
  middle_of_step = time + 0.5 * level_step.dt;
  meter.begin_step();
}

void StepContext::count_step(const LevelStep& level_step) {
  const int level = level_step.level;
  cell_updates += leaf_cells[level];
  all_cell_updates += all_leaf_cells[level];
  meter.count_update(level);
  clocks[level] += level_step.dt;
  level_dt[level] = level_step.dt;
  ++level_steps[level];
}

void StepContext::advance_time(const LevelStep& level_step) { time += level_step.dt; }

void StepContext::synchronise_clocks(const LevelStep& level_step) {
  for (int level = level_step.level + 1; level <= mesh.finest_level(); ++level)
    clocks[level] = clocks[level_step.level];
}

void StepContext::end_coarse_step(const LevelStep& /*level_step*/) { ++step; }

double base_grid_bytes(const AmrOptions& options) {
  const auto& cells = options.mesh.base_cells;
  return 1.0 * sizeof(double) * numbers_per_cell(options) * cells[0] * cells[1] * cells[2];
}

}  // namespace octant
