#include "amr/gravity_step.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "core/log.hpp"
#include "gravity/green_function.hpp"

namespace octant {

namespace {

// Self-potential of a cloud in -G m / dx, averaged over positions in a cell: from the Green's
// function of the 7-point Laplacian at the distances of eight cells (Glasser & Zucker 1977).
constexpr double k_self_potential = 1.5961;

// Effective duration of a kick with the force at time `now` over now .. now + dt (dt may be
// negative). In an expanding box the force grows as a D for linear perturbations, which matters for
// steps that are not short compared with the age of the universe (following Feng et al. 2016). For
// short steps the duration is |dt|. The integral is evaluated by Simpson's rule.
double acting_time(const cosmology::Universe& universe, double now, double dt) {
  const auto strength = [&](double time) {
    const double a = universe.scale_factor(time);
    return a * universe.expansion().growth(a).first;
  };
  const double whole = strength(now) + 4.0 * strength(now + 0.5 * dt) + strength(now + dt);
  return std::abs(dt) / 6.0 * whole / strength(now);
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
        options.gravity.transfer, options.universe ? options.universe->options().box : 1.0));
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
  const double dt = options.universe
                        ? acting_time(*options.universe, context_.clocks[level], sign * half_step)
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

void GravityStep::follow_mesh() {
  if (!solver_) return;
  const int first_changed = [&] {
    const auto timing = context_.timers.time("regrid", Phase::regrid);
    return solver_->adapt_to_mesh();
  }();
  solve_levels(first_changed, context_.time);
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
  if (potential_energy_) return *potential_energy_;
  const auto timing = context_.timers.time("measure", Phase::compute);
  enum { k_gas, k_unresolved, k_count };
  ReproducibleSum sums[k_count];
  sums[k_gas] = solver_->potential_energy([this](int level) { return matter_.gas_density(level); });
  if (context_.options.universe) sums[k_unresolved] = solver_->unresolved_energy();
  const auto particles = potential_energies({sums_in_potential(0)}, context_.time, sums);
  double energy = sums[k_gas].to_double() + particles.front();
  if (context_.options.universe) energy += sums[k_unresolved].to_double();
  potential_energy_ = energy;
  return energy;
}

// --- the energy budget --------------------------------------------------------------------------

// Returns, by kind, sums of mass times potential over the particles of levels >= `coarsest`. The
// potential is that of the level whose cells contain a particle's whole cloud: its own or, beside a
// coarser level, the coarser one. A sum over leaf cells would miss the parts of coarse clouds in
// refined cells.
GravityStep::SumsOfKinds GravityStep::sums_in_potential(int coarsest) {
  return matter_.mass_sums([this](int level) { return potential(level); }, coarsest);
}

// Potential energy of all particles in each of several states at `time`, with one reduction over
// ranks, which also totals `others`. The potential of a cloud includes its self-potential, which is
// larger in smaller cells; it is replaced by the value for cells of the base level.
std::vector<double> GravityStep::potential_energies(std::initializer_list<SumsOfKinds> states,
                                                    double time,
                                                    std::span<ReproducibleSum> others) {
  std::vector<ReproducibleSum> sums(others.begin(), others.end());
  for (const SumsOfKinds& kinds : states)
    for (const auto& kind : kinds) {
      sums.push_back(kind.weighted);
      sums.insert(sums.end(), kind.squared.begin(), kind.squared.end());
    }
  reproducible_sum(mesh_.communicator(), std::span(sums));
  std::copy_n(sums.begin(), others.size(), others.begin());
  const double G = context_.options.newton_constant(time);
  const mesh::Geometry& geometry = mesh_.geometry();
  std::vector<double> energies;
  auto sum = sums.begin() + std::ssize(others);
  for (const SumsOfKinds& kinds : states) {
    double& energy = energies.emplace_back(0.0);
    for (const auto& kind : kinds) {
      energy += 0.5 * (sum++)->to_double();
      for (int level = std::max(kind.coarsest, 1); level <= mesh_.finest_level(); ++level)
        energy += 0.5 * k_self_potential * G * sum[level].to_double() *
                  (1.0 / geometry.cell_size(level) - 1.0 / geometry.cell_size(0));
      sum += std::ssize(kind.squared);
    }
  }
  return energies;
}

// The present potential contains half of the energy change by the change of level. The other half
// appears in the next solution; after a coarse step this is follow_mesh(), if the mesh changes.
void GravityStep::count_redistribution(int coarsest, const SumsOfKinds& before,
                                       const SumsOfKinds& after) {
  const auto energies = potential_energies({before, after}, context_.clocks[coarsest]);
  const double change = energies[1] - energies[0];
  energy_.resolution += coarsest == 0 ? change : 2.0 * change;
  energy_.unsolved = coarsest == 0 ? change : 0.0;
}

}  // namespace octant
