// The mesh follows what is in it.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/kernel_work.hpp"
#include "core/residency.hpp"
#include "driver/amr_simulation.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/refinement.hpp"
#include "mesh/flagging.hpp"

namespace octant::driver {

namespace {

// The mass of the heaviest particle of a set on this rank; 0 without particles.
double largest_mass(const particles::ParticleSet& set) {
  const double* mass = set.columns().mass;
  double largest = 0.0;
  announce_kernel("heaviest particle", set.count(), {8.0, 0.0});
  Kokkos::parallel_reduce(
      "heaviest particle", set.count(),
      KOKKOS_LAMBDA(int n, double& most) { most = mass[n] > most ? mass[n] : most; },
      Kokkos::Max<double>(largest));
  return std::max(largest, 0.0);
}

// The number of cells around those with more mass than refine.mass that are refined with them.
// Particles that refine their cells shall be farther from the new level's end than where the
// coarser level serves them (particles::k_margin). The acceleration of a particle by itself falls
// as the fourth power of that distance, but is not small beside other forces where that one
// particle is all the mass: then the buffer is as wide as it can be.
int buffer_of_mass(const AmrOptions& options, const Matter& matter, const mesh::Mesh& mesh,
                   int level) {
  const int octant = mesh.geometry().octant_size(), buffer = options.refine.buffer;
  const auto& thresholds = options.refine.mass;
  if (level >= static_cast<int>(thresholds.size()) || !matter.has_attracting_particles())
    return std::min(buffer, octant);
  double heaviest = 0.0;
  for (const particles::Particles& kind : matter.kinds())
    if (kind.kind().has_mass && !kind.kind().wants_finest_cells)
      for (int l = 0; l <= mesh.finest_level(); ++l)
        heaviest = std::max(heaviest, largest_mass(kind.set(l)));
  heaviest = mesh.communicator().max(heaviest);
  if (heaviest > thresholds[level] * options.mass_unit()) return octant;
  return std::min(std::max(buffer, 2), octant);
}

}  // namespace

using mesh::LevelFields;

void AmrSimulation::adapt() {
  const auto is_due = [&](int interval) { return interval > 0 && step_ % interval == 0; };
  placements_.clear();
  const bool may_regrid = mesh_.geometry().max_level() > 0 && is_due(options_.refine.interval);
  const bool counts = gravity_ && options_.universe && energy_.begun;
  const double before = may_regrid && counts ? potential_energy() : 0.0;
  const bool overwrites = options_.hydro.dual_energy == hydro::DualEnergy::overwrite;
  if (may_regrid && counts && overwrites && !measured_) measure_cells();
  regridded_ = may_regrid && regrid();
  rebalanced_ = step_ > 0 && is_due(options_.balance.interval) && rebalance();
  if (!regridded_) energy_.resolution += energy_.unsolved;
  energy_.unsolved = 0.0;
  if (!regridded_ && !rebalanced_) return;
  measured_ = false;
  follow_mesh();
  if (!regridded_ || !counts) return;
  energy_.resolution += potential_energy() - before;
  if (overwrites) energy_before_regrid_ = totals_.total_energy;
}

// Takes potentials along, and solves for those of new blocks.
void AmrSimulation::follow_mesh() {
  potential_energy_.reset();
  update_density(0);
  if (!gravity_) return;
  const int first_changed = [&] {
    const auto timing = timers_.time("regrid", Phase::regrid);
    return gravity_->adapt_to_mesh();
  }();
  solve_gravity(first_changed, time_);
}

bool AmrSimulation::regrid() {
  const auto timing = timers_.time("regrid", Phase::regrid);
  const mesh::Geometry& geometry = mesh_.geometry();
  for (int level = 0; level <= geometry.max_level(); ++level) mesh_.set_inflow_time(level, time_);
  mesh::FlagMasks flags(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level)
    flags[level].assign(mesh_.blocks(level).slots(), 0);
  const int last = std::min(mesh_.finest_level(), finest_allowed() - 1);
  for (int level = 0; level <= last; ++level) {
    const auto flagging = timers_.time("flag cells", Phase::regrid, level);
    const auto masks = mesh::zeros<std::uint64_t>("flags", mesh_.blocks(level).slots());
    flag_cells(level, masks);
    copy_to_host(Cargo::numbers, host_view(flags[level]), masks);
  }
  if (!mesh_.regrid(flags)) return false;
  check_jumps();
  matter_.adapt_to_mesh();
  return true;
}

// Where the gas does not change along an axis, the size of cells must not.
void AmrSimulation::check_jumps() {
  if (options_.hydro.dimensions == 3) return;
  mesh_.communicator().agree([&] {
    for (int level = 0; level <= mesh_.finest_level(); ++level)
      if (hydro::has_jumps_across(options_.hydro, mesh_.halo(level).tiles))
        throw InputError(
            "step {}, time {}: hydro.dimensions = {}, but refinement changes along {}: see "
            "refine.where and refine.region_*",
            step_, time_, options_.hydro.dimensions,
            options_.hydro.dimensions == 2 ? "z" : "y or z");
  });
}

// The finest level that there may be. With refine.holdback the proper size of the finest cells
// stays about the same: levels open one after the other, the last one at a = 0.79.
int AmrSimulation::finest_allowed() const {
  const int finest = mesh_.geometry().max_level();
  if (!options_.refine.holdback) return finest;
  const double a = options_.universe->scale_factor(time_);
  int closed = 0;
  while (closed < finest && a < 0.5 * std::cbrt(4.0) / static_cast<double>(1 << closed)) ++closed;
  return finest - closed;
}

void AmrSimulation::flag_cells(int level, const mesh::DeviceArray<std::uint64_t>& masks) {
  const int buffer = std::min(options_.refine.buffer, mesh_.geometry().octant_size());
  const auto criteria = options_.criteria(level, time_);
  if (!criteria.empty()) {
    mesh_.fill_ghosts(level, LevelFields::k_now, 1.0);
    hydro::flag_cells(options_.hydro, mesh_.halo(level).tiles,
                      mesh_.pointers(level, LevelFields::k_now), criteria, buffer, masks);
  }
  flag_massive_cells(level, buffer_of_mass(options_, matter_, mesh_, level), masks);
  for (const particles::Particles& kind : matter_.kinds())
    if (kind.kind().wants_finest_cells)
      kind.flag_cells(level, mesh_.geometry().octant_size(), masks);
  options_.problem->flag_cells(mesh_, level, masks);
  options_.refine.region.flag_cells(mesh_, level, masks);
  options_.refine.places.flag_cells(mesh_, level, time_, masks);
}

// Cells that hold more than refine.mass says, of all matter.
void AmrSimulation::flag_massive_cells(int level, int buffer,
                                       const mesh::DeviceArray<std::uint64_t>& masks) {
  if (level >= static_cast<int>(options_.refine.mass.size())) return;
  const double per_volume = options_.mass_unit() / mesh_.geometry().cell_volume(level);
  const mesh::LentField density = matter_.density(level);
  mesh::DenseCells cells{.field = density.field,
                         .threshold = options_.refine.mass[level] * per_volume};
  if (options_.refine.gas_weight != 1.0) {
    cells.weighted = matter_.gas_density(level);
    cells.more_weight = options_.refine.gas_weight - 1.0;
  }
  if (options_.refine.mass_scalar >= 0) {
    const mesh::BlockLayout& layout = mesh_.layout();
    double* gas = mesh_.fields(level).blocks(LevelFields::k_now);
    const auto scalar =
        options_.hydro.place(hydro::passive_scalar_name(options_.refine.mass_scalar));
    cells.whole = {gas, layout.stride_slot};
    cells.share = {gas + std::int64_t{scalar.value()} * layout.stride_variable, layout.stride_slot};
    cells.least_share = options_.refine.mass_scalar_above;
  }
  mesh::flag_dense_cells(mesh_, level, cells, buffer, masks);
}

}  // namespace octant::driver
