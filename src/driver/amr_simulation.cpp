#include "driver/amr_simulation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/dual_energy.hpp"
#include "hydro/integrator.hpp"
#include "hydro/interpolation.hpp"
#include "hydro/refinement.hpp"
#include "mesh/device.hpp"

namespace octant::driver {

using mesh::LevelFields;

namespace {

std::vector<mesh::Variable> conserved_variables(const hydro::HydroOptions& options) {
  std::vector<mesh::Variable> variables{
      {"density"}, {"momentum_x", 0}, {"momentum_y", 1}, {"momentum_z", 2}, {"total_energy"}};
  if (options.has_dual_energy()) variables.push_back({"entropy"});
  for (int n = 0; n < options.scalars; ++n) variables.push_back({fmt::format("scalar_{}", n)});
  return variables;
}

mesh::FieldSetup field_setup(const AmrOptions& options) {
  return {.variables = conserved_variables(options.hydro),
          .ghosts = options.hydro.ghosts(),
          .spares = options.hydro.scheme == hydro::Scheme::muscl_hancock ? 1 : 2};
}

std::vector<double> conserved(const problems::GasState& gas, const hydro::HydroOptions& options) {
  const auto& v = gas.velocity;
  const double kinetic = 0.5 * gas.density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  std::vector<double> u{gas.density, gas.density * v[0], gas.density * v[1], gas.density * v[2],
                        gas.pressure / (options.gamma - 1.0) + kinetic};
  if (options.has_dual_energy())
    u.push_back(gas.pressure / std::pow(gas.density, options.gamma - 1.0));
  for (int n = 0; n < options.scalars; ++n)
    u.push_back(n < static_cast<int>(gas.scalars.size()) ? gas.density * gas.scalars[n] : 0.0);
  return u;
}

// The state that stage s of a step writes, and the one that it reads: spares take turns.
constexpr int stage_target(int stage) { return stage % 2 == 0 ? 1 : 2; }
constexpr int stage_source(int stage) {
  return stage == 0 ? LevelFields::k_now : stage_target(stage - 1);
}

// A fine level may grow faster than was foreseen; beyond this Courant number its steps are halved.
constexpr double k_largest_courant = 0.98;
// But not into more pieces of the coarser step than this: such a flow is broken.
constexpr int k_most_pieces = 256;

}  // namespace

AmrSimulation::AmrSimulation(const Communicator& communicator, const AmrOptions& options)
    : options_(options),
      mesh_(mesh::Geometry(options.mesh), communicator, options.comm, field_setup(options),
            hydro::make_interpolation()),
      gravity_(options.gravity.enabled
                   ? std::make_unique<gravity::Gravity>(options.gravity, mesh_, options.comm)
                   : nullptr),
      meter_(mesh_, SyntheticLoad(options.debug.synthetic_load), options.slowness),
      fastest_(options.mesh.max_level + 1, 0.0),
      leaf_cells_here_(options.mesh.max_level + 1, 0),
      level_times_(options.mesh.max_level + 1),
      clocks_(options.mesh.max_level + 1, 0.0),
      level_dt_(options.mesh.max_level + 1, 0.0) {
  for (int axis = 0; axis < 3; ++axis)
    for (int side = 0; side < 2; ++side)
      if (mesh_.geometry().boundary(axis, side) == mesh::Boundary::inflow)
        mesh_.set_inflow(2 * axis + side,
                         conserved(options.problem->inflow_state(axis, side), options.hydro));
}

void AmrSimulation::set_initial_state(int level) {
  const auto timing = timers_.time("initial state");
  const mesh::Geometry& geometry = mesh_.geometry();
  const mesh::BlockLayout& layout = mesh_.layout();
  const mesh::TreeLevel& blocks = mesh_.blocks(level);
  const int N = layout.block_size;
  const double dx = geometry.cell_size(level);
  std::vector<double> values(layout.stride_slot, 1.0);
  Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(values.data(),
                                                                               values.size());
  for (const int slot : blocks.own()) {
    const auto corner = geometry.origin(level, morton_decode(blocks.key(slot)));
    for (int c = 0; c < N * N * N; ++c) {
      const problems::Position centre{corner[0] + (c % N + 0.5) * dx,
                                      corner[1] + (c / N % N + 0.5) * dx,
                                      corner[2] + (c / N / N + 0.5) * dx};
      const auto u = conserved(options_.problem->initial_state(centre, dx), options_.hydro);
      for (std::size_t n = 0; n < u.size(); ++n) values[n * layout.stride_variable + c] = u[n];
    }
    Kokkos::View<double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
        mesh_.fields(level).blocks(LevelFields::k_now) + slot * layout.stride_slot, values.size());
    Kokkos::deep_copy(block, host);
  }
}

void AmrSimulation::initialise() {
  set_initial_state(0);
  rebalance();
  // One more round than levels: the last one may only derefine what interpolated states asked for.
  for (int round = 0; round <= mesh_.geometry().max_level(); ++round) {
    mesh_.restrict_all();
    if (!regrid()) break;
    for (int level = 0; level <= mesh_.finest_level(); ++level) set_initial_state(level);
    rebalance();
  }
  mesh_.restrict_all();
  if (gravity_) adapt_gravity();
}

void AmrSimulation::set_time(double time, std::int64_t step) {
  time_ = time;
  step_ = step;
}

// --- measurement -------------------------------------------------------------------------------

void AmrSimulation::measure() {
  const auto timing = timers_.time("measure", Phase::compute);
  const mesh::Geometry& geometry = mesh_.geometry();
  enum { k_mass_sum, k_momentum_sum, k_total_sum = 4, k_kinetic_sum, k_absolute_sum, k_sums };
  std::vector<ReproducibleSum> sums(k_sums);
  std::string broken;
  totals_.blocks.assign(geometry.max_level() + 1, 0);
  totals_.leaf_cells.assign(geometry.max_level() + 1, 0);
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::TreeLevel& blocks = mesh_.blocks(level);
    std::vector<std::uint8_t> refined;
    for (const int slot : blocks.own()) refined.push_back(blocks.refined(slot));
    const auto measured = hydro::measure_blocks(options_.hydro, mesh_.layout(),
                                                mesh_.fields(level).blocks(LevelFields::k_now),
                                                blocks.own(), refined);
    const double volume = geometry.cell_volume(level);
    fastest_[level] = 0.0;
    for (std::size_t n = 0; n < measured.size(); ++n) {
      const hydro::BlockTotals& t = measured[n];
      sums[k_mass_sum] += t.mass * volume;
      for (int d = 0; d < 3; ++d) sums[k_momentum_sum + d] += t.momentum[d] * volume;
      sums[k_total_sum] += t.total_energy * volume;
      sums[k_kinetic_sum] += t.kinetic_energy * volume;
      sums[k_absolute_sum] += t.absolute_momentum * volume;
      fastest_[level] = std::max(fastest_[level], t.fastest);
      totals_.leaf_cells[level] += t.leaf_cells;
      if (t.broken_cell >= 0 && broken.empty())
        broken = describe_cell(level, blocks.own()[n], t.broken_cell);
    }
    totals_.blocks[level] = blocks.count();
  }
  mesh_.communicator().agree([&] {
    if (!broken.empty()) throw RunError("step {}, time {}: {}", step_, time_, broken);
  });
  leaf_cells_here_ = totals_.leaf_cells;
  reproducible_sum(mesh_.communicator(), std::span<ReproducibleSum>(sums));
  mesh_.communicator().max_in_place(std::span<double>(fastest_));
  mesh_.communicator().sum_in_place(std::span<std::int64_t>(totals_.blocks));
  mesh_.communicator().sum_in_place(std::span<std::int64_t>(totals_.leaf_cells));
  totals_.mass = sums[k_mass_sum].to_double();
  for (int d = 0; d < 3; ++d) totals_.momentum[d] = sums[k_momentum_sum + d].to_double();
  totals_.total_energy = sums[k_total_sum].to_double();
  totals_.kinetic_energy = sums[k_kinetic_sum].to_double();
  totals_.absolute_momentum = sums[k_absolute_sum].to_double();
  if (gravity_) totals_.potential_energy = gravity_->potential_energy();
}

std::string AmrSimulation::describe_cell(int level, int slot, int cell) const {
  const mesh::BlockLayout& layout = mesh_.layout();
  const int N = layout.block_size;
  const auto corner = mesh_.geometry().origin(level, morton_decode(mesh_.blocks(level).key(slot)));
  const double dx = mesh_.geometry().cell_size(level);
  Kokkos::View<const double*, mesh::DeviceSpace, Kokkos::MemoryUnmanaged> block(
      mesh_.fields(level).blocks(LevelFields::k_now) + slot * layout.stride_slot,
      layout.stride_slot);
  const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, block);
  std::string text =
      fmt::format("the gas is not physical on level {} at ({}, {}, {}):", level,
                  corner[0] + (cell % N + 0.5) * dx, corner[1] + (cell / N % N + 0.5) * dx,
                  corner[2] + (cell / N / N + 0.5) * dx);
  for (int n = 0; n < layout.variables; ++n)
    text += fmt::format(" {} = {}", mesh_.variables()[n].name,
                        values(n * layout.stride_variable + cell));
  return text + "; try a smaller time.cfl or a more diffusive hydro.riemann or hydro.limiter";
}

// A signal that falls with the strongest acceleration g shall not cross more than `courant` cells:
// v dt + g dt^2 / 2 = courant dx.
double AmrSimulation::level_limit(int level, double courant) const {
  const double distance = courant * mesh_.geometry().cell_size(level), v = fastest_[level];
  if (!gravity_) return distance / v;
  return 2.0 * distance / (v + std::sqrt(v * v + 2.0 * gravity_->strongest(level) * distance));
}

std::int64_t AmrSimulation::own_leaf_cells() const {
  return std::accumulate(leaf_cells_here_.begin(), leaf_cells_here_.end(), std::int64_t{0});
}

double AmrSimulation::stable_dt() const {
  double dt = level_limit(0, options_.time.cfl);
  for (int level = 1; level <= mesh_.finest_level(); ++level)
    dt = std::min(
        dt, level_limit(level, options_.time.cfl) * (options_.time.subcycle ? 1 << level : 1));
  return dt;
}

// --- time step ---------------------------------------------------------------------------------

void AmrSimulation::step(double dt) {
  std::fill(clocks_.begin(), clocks_.end(), time_);
  meter_.begin_step();
  advance(0, dt, 0.0, 1.0);
  meter_.end_step();
  time_ += dt;
  ++step_;
  if (gravity_) finish_kicks(0);
}

// Advances a level by dt, from `begin` to `end` of the coarser level's step, and all finer ones
// with it.
void AmrSimulation::advance(int level, double dt, double begin, double end) {
  const bool has_finer = level < mesh_.finest_level();
  if (has_finer) mesh_.clear_registers(level + 1);
  if (gravity_) {
    const auto timing = timers_.time("gravity", Phase::other, level);
    gravity_->kick(level, 0.5 * dt);
  }

  const auto stages = hydro::stages(options_.hydro.scheme);
  for (int s = 0; s < static_cast<int>(stages.size()); ++s)
    sweep_stage(level, s, dt, level == 0 ? 1.0 : begin + stages[s].time * (end - begin));
  mesh_.fields(level).commit(stage_target(static_cast<int>(stages.size()) - 1));
  if (options_.hydro.has_dual_energy())
    hydro::synchronise_dual_energy(options_.hydro, mesh_.halo(level).tiles,
                                   mesh_.fields(level).blocks(LevelFields::k_now));
  cell_updates_ += leaf_cells_here_[level];
  meter_.count_update(level);
  clocks_[level] += dt;
  level_dt_[level] = dt;

  if (!has_finer) return;
  advance_finer(level, dt);
  const auto timing = timers_.time("level coupling", Phase::other, level + 1);
  mesh_.synchronise(level + 1);
}

void AmrSimulation::advance_finer(int level, double dt) {
  {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.refresh_halo(level, LevelFields::k_now);
  }
  // Pieces of the coarse step; powers of two, so that fractions are exact.
  int pieces = options_.time.subcycle ? 2 : 1;
  for (double done = 0.0; done < 1.0; done += 1.0 / pieces) {
    const double longest = level_limit(level + 1, k_largest_courant);
    while (dt / pieces > longest && pieces <= k_most_pieces) pieces *= 2;
    if (pieces > k_most_pieces)
      throw RunError(
          "step {}, time {}: signals on level {} became more than {} times as fast within one step "
          "of level {}; try a smaller time.cfl or a more diffusive hydro.riemann or hydro.limiter",
          step_, time_, level + 1, k_most_pieces / 2, level);
    advance(level + 1, dt / pieces, done, done + 1.0 / pieces);
    if (gravity_ && done + 1.0 / pieces < 1.0) finish_kicks(level + 1);
  }
}

// The second half of the kicks of all levels that have arrived at the time of level `coarsest`,
// with the forces that their new densities exert; coarser levels are still under way, and their
// potentials are extrapolated.
void AmrSimulation::finish_kicks(int coarsest) {
  const auto timing = timers_.time("gravity");
  const double time = coarsest == 0 ? time_ : clocks_[coarsest];
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    clocks_[level] = time;
    const auto report = gravity_->solve(level, time);
    log::debug("gravity: level {} at time {:.8g}: {} cycles, residual {:.2g} -> {:.2g}", level,
               time, report.cycles, report.first_residual, report.residual);
    gravity_->kick(level, 0.5 * level_dt_[level]);
  }
  mesh_.restrict_all(coarsest);
}

void AmrSimulation::sweep_stage(int level, int stage, double dt, double theta) {
  const hydro::Stage& weights = hydro::stages(options_.hydro.scheme)[stage];
  const mesh::LevelHalo& halo = mesh_.halo(level);
  LevelFields& fields = mesh_.fields(level);
  const int source = stage_source(stage), tiles = halo.tiles.count();
  if (static_cast<int>(bad_tiles_.extent(0)) < tiles)
    bad_tiles_ = mesh::uninitialised<std::uint8_t>("bad tiles", tiles);

  hydro::SweepArguments arguments{.tiles = halo.tiles,
                                  .current = mesh_.pointers(level, source),
                                  .old = fields.blocks(LevelFields::k_now),
                                  .next = fields.blocks(stage_target(stage)),
                                  .a0 = weights.old_weight,
                                  .a1 = weights.new_weight,
                                  .dt = dt,
                                  .dx = mesh_.geometry().cell_size(level),
                                  .flux_weight = weights.flux_weight * dt,
                                  .registers = mesh_.registers(level),
                                  .bad_tiles = bad_tiles_.data()};
  {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.start_ghosts(level, source, theta);
  }
  Clock clock;
  const auto interior = sweep_tiles(arguments, level, 0, halo.interior_tiles);
  double seconds = clock.seconds();
  {
    const auto timing = timers_.time("ghost data", Phase::other, level);
    mesh_.finish_ghosts(level, source);
  }
  clock.restart();
  const auto border = sweep_tiles(arguments, level, halo.interior_tiles, tiles);
  seconds += clock.seconds();
  level_times_[level].nanoseconds += static_cast<std::int64_t>(1e9 * seconds);
  level_times_[level].cells += leaf_cells_here_[level];

  double worst[2] = {std::max(interior.fastest, border.fastest),
                     static_cast<double>(interior.bad_tiles + border.bad_tiles)};
  {
    const auto timing = timers_.time("wait for all ranks", Phase::collective, level);
    mesh_.communicator().max_in_place(std::span<double>(worst));
  }
  fastest_[level] = worst[0];
  if (worst[1] == 0.0) return;
  const auto timing = timers_.time("repair", Phase::compute, level);
  repair(mesh_, level, options_.hydro, arguments, floored_);
  fastest_[level] = mesh_.communicator().max(fastest_signal(level, arguments.next));
}

double AmrSimulation::fastest_signal(int level, const double* blocks) const {
  const auto own = mesh_.blocks(level).own();
  const std::vector<std::uint8_t> all_leaves(own.size(), 0);
  double fastest = 0.0;
  for (const auto& block :
       hydro::measure_blocks(options_.hydro, mesh_.layout(), blocks, own, all_leaves))
    fastest = std::max(fastest, block.fastest);
  return fastest;
}

hydro::SweepResult AmrSimulation::sweep_tiles(const hydro::SweepArguments& arguments, int level,
                                              int begin, int end) {
  // Timed on idle ranks as well: the table of times adds up the same parts on all ranks.
  const auto timing = timers_.time("sweep", Phase::compute, level);
  if (begin == end) return {};
  timing.count(meter_.cells(level, begin, end));
  return meter_.sweep(options_.hydro, arguments, level, begin, end);
}

// --- adaptation --------------------------------------------------------------------------------

void AmrSimulation::adapt() {
  const auto is_due = [&](int interval) { return interval > 0 && step_ % interval == 0; };
  placements_.clear();
  regridded_ = mesh_.geometry().max_level() > 0 && is_due(options_.refine.interval) && regrid();
  rebalanced_ = step_ > 0 && is_due(options_.balance.interval) && rebalance();
  if (gravity_ && (regridded_ || rebalanced_)) adapt_gravity();
}

// Takes potentials along and solves for those of new blocks.
void AmrSimulation::adapt_gravity() {
  const auto timing = timers_.time("gravity");
  const int first_changed = gravity_->adapt_to_mesh();
  for (int level = first_changed; level <= mesh_.finest_level(); ++level)
    gravity_->solve(level, time_);
}

bool AmrSimulation::regrid() {
  const auto timing = timers_.time("regrid", Phase::regrid);
  const mesh::Geometry& geometry = mesh_.geometry();
  const int buffer = std::min(options_.refine.buffer, geometry.octant_size());
  mesh::FlagMasks flags(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level)
    flags[level].assign(mesh_.blocks(level).slots(), 0);
  for (int level = 0; level <= mesh_.finest_level() && level < geometry.max_level(); ++level) {
    const auto flagging = timers_.time("flag cells", Phase::regrid, level);
    mesh_.fill_ghosts(level, LevelFields::k_now, 1.0);
    const mesh::DeviceArray<std::uint64_t> masks("flags", mesh_.blocks(level).slots());
    hydro::flag_cells(options_.hydro, mesh_.halo(level).tiles,
                      mesh_.pointers(level, LevelFields::k_now), options_.criteria(level), buffer,
                      masks);
    options_.problem->flag_cells(mesh_, level, masks);
    options_.refine.region.flag_cells(mesh_, level, masks);
    Kokkos::View<std::uint64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(
        flags[level].data(), flags[level].size());
    Kokkos::deep_copy(host, masks);
  }
  return mesh_.regrid(flags);
}

bool AmrSimulation::rebalance() {
  const auto timing = timers_.time("rebalance", Phase::rebalance);
  const Communicator& communicator = mesh_.communicator();
  if (communicator.size() == 1) return false;
  const auto costs = block_costs();
  std::vector<std::vector<int>> owners =
      options_.balance.by_level() ? balance_each_level(costs) : balance_all_levels(costs);
  bool moves = false;
  for (const auto& level : owners)
    for (const int owner : level) moves = moves || owner != communicator.rank();
  if (!communicator.any(moves)) return false;
  meter_.migrate(owners);
  mesh_.migrate(owners);
  return true;
}

// By level, the cost of every own block: its memory, corrected by the time that this rank took per
// cell (eq. 4-6 and 12 of the paper that decomp/cost.hpp names).
std::vector<std::vector<CostItem>> AmrSimulation::block_costs() {
  const mesh::Geometry& geometry = mesh_.geometry();
  const MemoryWeights weights = memory_weights(geometry.block_size(), mesh_.layout().variables);
  const auto factors =
      time_factors(options_.balance.time_alpha, level_times_, reduction_over(mesh_.communicator()));
  std::vector<std::vector<CostItem>> costs(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level) {
    const double cost = memory_cost(weights) * factors[level] *
                        options_.balance.substeps(level, options_.time.subcycle);
    for (const int slot : mesh_.blocks(level).own())
      costs[level].push_back({morton_decode(mesh_.blocks(level).key(slot)), level, cost});
    level_times_[level] = {};
  }
  if (options_.balance.cost == "measured") measure_costs(costs);
  return costs;
}

// Replaces costs by the measured ones; blocks of which nothing is known get their level's mean.
void AmrSimulation::measure_costs(std::vector<std::vector<CostItem>>& costs) const {
  constexpr double k_units = 1024.0;  // per nanosecond, for sums of integers
  std::vector<std::int64_t> sums(2 * costs.size(), 0);
  for (std::size_t level = 0; level < costs.size(); ++level)
    for (CostItem& block : costs[level]) {
      block.cost = meter_.smoothed(block.level, morton_encode(block.coordinates));
      sums[2 * level] += std::llround(k_units * block.cost);
      sums[2 * level + 1] += block.cost > 0.0 ? 1 : 0;
    }
  mesh_.communicator().sum_in_place(std::span<std::int64_t>(sums));
  double mean = 1.0;  // of the coarser level where this one has none
  for (std::size_t level = 0; level < costs.size(); ++level) {
    const auto known = static_cast<double>(sums[2 * level + 1]);
    if (known > 0.0) mean = static_cast<double>(sums[2 * level]) / (k_units * known);
    for (CostItem& block : costs[level])
      if (block.cost == 0.0) block.cost = mean;
  }
}

// Who shall own these blocks of a level, or of all levels (-1).
std::vector<int> AmrSimulation::owners_of(const std::vector<CostItem>& blocks, int level) {
  const Communicator& communicator = mesh_.communicator();
  const auto decomposition = decomposition_of(options_.balance.decomposition);
  const DomainShape domain{mesh_.geometry().extent(0)};
  if (!options_.balance.is_planned()) return partition(decomposition, communicator, domain, blocks);
  const PlacementChoice choice{
      .policy = options_.balance.policy,
      .cplx_x = options_.balance.cplx_x,
      .curve = decomposition == Decomposition::morton ? Curve::morton : Curve::hilbert,
      .ranks_per_node = options_.ranks_per_node,
      .communication = communication_share()};
  PlannedPlacement planned = plan_placement(choice, communicator, domain, blocks);
  if (communicator.is_root()) placements_.push_back({level, planned.report});
  return planned.owners;
}

// How long ranks spend on ghost data, in units of their sweeps.
double AmrSimulation::communication_share() const {
  const double sweeping = timers_.seconds("sweep"), talking = timers_.seconds("ghost data");
  return sweeping > 0.0 ? talking / sweeping : 0.0;
}

// With sub-cycling ranks meet after every sub-step of every level: each must be balanced by itself.
std::vector<std::vector<int>> AmrSimulation::balance_each_level(
    const std::vector<std::vector<CostItem>>& costs) {
  std::vector<std::vector<int>> owners(costs.size());
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    owners[level] = owners_of(costs[level], level);
  return owners;
}

// For equal memory: children stay with their parents where the walls allow it.
std::vector<std::vector<int>> AmrSimulation::balance_all_levels(
    const std::vector<std::vector<CostItem>>& costs) {
  std::vector<CostItem> all;
  for (const auto& level : costs) all.insert(all.end(), level.begin(), level.end());
  const auto together = owners_of(all, -1);
  std::vector<std::vector<int>> owners;
  auto next = together.begin();
  for (const auto& level : costs) {
    owners.emplace_back(next, next + static_cast<std::ptrdiff_t>(level.size()));
    next += static_cast<std::ptrdiff_t>(level.size());
  }
  return owners;
}

}  // namespace octant::driver
