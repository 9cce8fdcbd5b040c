#include "amr/gravity_step.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "comm/reproducible_sum.hpp"
#include "core/log.hpp"
#include "gravity/green_function.hpp"
#include "io/input_files.hpp"

namespace octant {

namespace {

// Self-potential of a cloud in -G m / dx, averaged over positions in a cell: from the Green's
// function of the 7-point Laplacian at the distances of eight cells (Glasser & Zucker 1977).
constexpr double k_self_potential = 1.5961;

// Effective duration of a kick with the force at time `now` over now .. now + dt (dt may be
// negative). In an expanding box the force grows as a D for linear perturbations, which matters for
// steps that are not short compared with the age of the universe (following Feng et al. 2016). For
// short steps the duration is |dt|. The integral is evaluated by Simpson's rule.
double effective_kick_duration(const cosmology::Universe& universe, double now, double dt) {
  const auto strength = [&](double time) {
    const double a = universe.scale_factor(time);
    return a * universe.expansion().growth(a).first;
  };
  const double whole = strength(now) + 4.0 * strength(now + 0.5 * dt) + strength(now + dt);
  return std::abs(dt) / 6.0 * whole / strength(now);
}

// Appends the sums of all kinds in the order in which GravityStep::particle_energy() reads them.
void append(const GravityStep::SumsOfKinds& kinds, std::vector<ReproducibleSum>& sums) {
  for (const auto& kind : kinds) {
    sums.push_back(kind.weighted);
    sums.insert(sums.end(), kind.squared.begin(), kind.squared.end());
  }
}

std::unique_ptr<gravity::Gravity> make_solver(const AmrOptions& options, mesh::Mesh& mesh) {
  if (!options.gravity.enabled) return nullptr;
  return std::make_unique<gravity::Gravity>(options.gravity, mesh, options.comm,
                                            options.execution.in_batches()
                                                ? gravity::FourierSchedule::device
                                                : gravity::FourierSchedule::host);
}

}  // namespace

GravityStep::GravityStep(StepContext& context, Matter& matter)
    : context_(context),
      mesh_(context.mesh),
      matter_(matter),
      solver_(make_solver(context.options, context.mesh)) {
  const AmrOptions& options = context.options;
  energy_.counts_withheld =
      options.universe && solver_ && options.hydro.enabled && !options.processes.empty();
  matter_.set_separate_levels(solver_ && solver_->solves_single_levels());
  if (!solver_) return;
  gravity::EnergyUpdate update{.work = options.gravity.work,
                               .counts_withheld = energy_.counts_withheld};
  if (options.universe) update.heat_fraction = 0.0;
  solver_->set_energy_update(update);
  solver_->set_frame(options.hydro.frame);
  if (!options.gravity.transfer.empty())
    solver_->set_transfer(gravity::TransferTable(
        options.gravity.transfer, options.universe ? options.universe->options().box : 1.0,
        reader_on_root(mesh_.communicator())));
  solver_->set_attracting([this](int level) { return matter_.density(level); });
}

// --- tasks --------------------------------------------------------------------------------------

void GravityStep::kick_first_half(const LevelStep& step) {
  kick(step.level, 0.5 * step.dt, gravity::Half::first);
}

void GravityStep::kick_second_half(const LevelStep& step) {
  for (int level = step.level; level <= mesh_.finest_level(); ++level)
    kick(level, 0.5 * context_.level_dt[level], gravity::Half::second);
}

void GravityStep::restrict_gas(const LevelStep& step) {
  const auto timing = context_.timers.time("level coupling", Phase::other, step.level);
  mesh_.restrict_all(step.level);
}

void GravityStep::solve(const LevelStep& step) {
  solve_levels(step.level, context_.clocks[step.level]);
}

// Kicks gas and particles of a level for half a step, with the force at its start or end.
void GravityStep::kick(int level, double half_step, gravity::Half half) {
  const AmrOptions& options = context_.options;
  const double sign = half == gravity::Half::first ? 1.0 : -1.0;
  const double dt =
      options.universe
          ? effective_kick_duration(*options.universe, context_.clocks[level], sign * half_step)
          : half_step;
  if (options.hydro.enabled) {
    const auto working = context_.work("gravity", cost::gravity, level);
    solver_->kick(level, dt, half);
  }
  if (!matter_.has_particles()) return;
  const auto working = context_.work("particles", cost::particles, level);
  const auto acceleration = [&](int of) -> particles::VectorField {
    const auto [x, stride] = solver_->stored().acceleration(of);
    return {x.data, x.stride, stride};
  };
  matter_.kick(level, acceleration(level), acceleration(std::max(level - 1, 0)), dt);
}

// Solves for the potential on levels >= `coarsest`.
void GravityStep::solve_levels(int coarsest, double time) {
  const cosmology::Universe* universe = context_.options.universe.get();
  if (universe) {
    solver_->set_constant(universe->newton_constant(time));
    solver_->set_scale_factor(universe->scale_factor(time));
  }
  mesh_.release_ghosts();
  for (int level = coarsest; level <= mesh_.finest_level();) {
    auto working = context_.work("gravity", cost::gravity, level, Phase::other);
    const gravity::LevelRange levels = solver_->solved_with(level);
    const auto report = solver_->solve(levels, time);
    working.metering.leave_out(report.shared_ns);
    log::debug("gravity: levels {} to {} at time {:.8g}: {} cycles, residual {:.2g} -> {:.2g}",
               levels.first, levels.last, time, report.cycles, report.first_residual,
               report.residual);
    level = levels.last + 1;
  }
}

void GravityStep::report_costs() {
  if (!solver_) return;
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    solver_->take_block_cycles(level, context_.meter.block_cycles("gravity", cost::gravity, level));
}

// --- between steps ------------------------------------------------------------------------------

void GravityStep::follow_mesh(bool regridded) {
  if (!solver_) return;
  const int first_changed = [&] {
    const auto timing = context_.timers.time("regrid", Phase::regrid);
    return solver_->adapt_to_mesh();
  }();
  const bool all_change = regridded && !solver_->solves_single_levels();
  solve_levels(all_change ? 0 : first_changed, context_.time);
}

void GravityStep::resume(bool moved) {
  if (!solver_) return;
  if (moved) solver_->adapt_to_mesh();
  solver_->set_constant(context_.options.newton_constant(context_.time));
  solver_->resume();
}

particles::VectorField GravityStep::potential(int level) const {
  const auto [data, stride] = solver_->stored().field(level, gravity::Field::potential);
  return {data, stride, 0};
}

double GravityStep::self_potential_of_base() const {
  return solver_ ? 0.5 * k_self_potential * context_.options.newton_constant(context_.time) /
                       mesh_.geometry().cell_size(0)
                 : 0.0;
}

double GravityStep::potential_energy() {
  JointSums joint(mesh_.communicator());
  add_potential_energy(joint);
  joint.reduce();
  return *potential_energy_;
}

void GravityStep::add_potential_energy(JointSums& joint) {
  if (potential_energy_) return;
  const auto timing = context_.timers.time("measure", Phase::compute);
  std::vector<ReproducibleSum> sums{
      solver_->potential_energy([this](int level) { return matter_.gas_density(level); })};
  if (context_.options.universe) sums.push_back(solver_->unresolved_energy());
  SumsOfKinds particles = sums_in_potential(0);
  append(particles, sums);
  joint.add(sums, {},
            [this, particles = std::move(particles), time = context_.time](
                std::span<const ReproducibleSum> totals, auto /*counts*/) {
              const bool expands = context_.options.universe != nullptr;
              auto of_particles = totals.subspan(expands ? 2 : 1);
              double energy =
                  totals[0].to_double() + particle_energy(particles, time, of_particles);
              if (expands) energy += totals[1].to_double();
              potential_energy_ = energy;
            });
}

// --- the energy budget --------------------------------------------------------------------------

// Returns, by kind, sums of mass times potential over the particles of levels >= `coarsest`. The
// potential is that of the level whose cells contain a particle's whole cloud: its own or, beside a
// coarser level, the coarser one. A sum over leaf cells would miss the parts of coarse clouds in
// refined cells.
GravityStep::SumsOfKinds GravityStep::sums_in_potential(int coarsest) {
  return matter_.mass_sums([this](int level) { return potential(level); }, coarsest);
}

// Potential energy of all particles at `time`, from the totals over ranks of the sums that append()
// has added. Removes them from the front of `totals`. The potential of a cloud includes its
// self-potential, which is larger in smaller cells; it is replaced by the value for cells of the
// base level.
double GravityStep::particle_energy(const SumsOfKinds& kinds, double time,
                                    std::span<const ReproducibleSum>& totals) const {
  const double G = context_.options.newton_constant(time);
  const mesh::Geometry& geometry = mesh_.geometry();
  double energy = 0.0;
  for (const auto& kind : kinds) {
    const auto squared = totals.subspan(1, kind.squared.size());
    energy += 0.5 * totals.front().to_double();
    for (int level = std::max(kind.coarsest, 1); level <= mesh_.finest_level(); ++level)
      energy += 0.5 * k_self_potential * G * squared[level].to_double() *
                (1.0 / geometry.cell_size(level) - 1.0 / geometry.cell_size(0));
    totals = totals.subspan(1 + squared.size());
  }
  return energy;
}

void GravityStep::record_redistribution_energy(int coarsest, SumsOfKinds before,
                                               SumsOfKinds after) {
  for (SumsOfKinds* const kinds : {&before, &after})
    for (auto& kind : *kinds) kind.fields = kind.coarser_fields = {};  // releases memory
  redistributions_.push_back(
      {coarsest, context_.clocks[coarsest], std::move(before), std::move(after)});
}

// The potential at the time of a redistribution contains half of the energy change by the change of
// level. The other half appears in the next solution; after a coarse step this is follow_mesh(), if
// the mesh changes.
void GravityStep::add_budgets(JointSums& joint) {
  for (Redistribution& moved : std::exchange(redistributions_, {})) {
    std::vector<ReproducibleSum> sums;
    append(moved.before, sums);
    append(moved.after, sums);
    joint.add(
        sums, {},
        [this, moved = std::move(moved)](std::span<const ReproducibleSum> totals, auto /*counts*/) {
          const double before = particle_energy(moved.before, moved.time, totals);
          const double change = particle_energy(moved.after, moved.time, totals) - before;
          energy_.resolution += moved.coarsest == 0 ? change : 2.0 * change;
          energy_.unsolved = moved.coarsest == 0 ? change : 0.0;
        });
  }
  if (energy_.counts_withheld)
    joint.add(std::array{solver_->take_withheld_work()}, {}, [this](auto totals, auto /*counts*/) {
      energy_.withheld_work += totals.front().to_double();
    });
}

}  // namespace octant
