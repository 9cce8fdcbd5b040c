// The mesh follows what is in it.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/kernel_work.hpp"
#include "core/residency.hpp"
#include "driver/amr_simulation.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/refinement.hpp"
#include "mesh/flagging.hpp"
#include "particles/cloud.hpp"

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

// The number of a set's particles on this rank that are heavier than `least`.
std::int64_t count_heavier(const particles::ParticleSet& set, double least) {
  const double* mass = set.columns().mass;
  std::int64_t count = 0;
  announce_kernel("heavier particles", set.count(), {8.0, 0.0});
  Kokkos::parallel_reduce(
      "heavier particles", set.count(),
      KOKKOS_LAMBDA(int n, std::int64_t& heavier) { heavier += mass[n] > least ? 1 : 0; }, count);
  return count;
}

// The number of cells around those with more mass than refine.mass that are refined with them.
// Particles that refine their cells shall be farther from the new level's end than where the
// coarser level serves them (particles::k_margin).
int buffer_of_mass(const AmrOptions& options, const Matter& matter, const mesh::Mesh& mesh) {
  const int octant = mesh.geometry().octant_size(), buffer = options.refine.buffer;
  return std::min(matter.has_attracting_particles() ? std::max(buffer, 2) : buffer, octant);
}

// Calls body(set) for all sets of particles whose mass, and not their kind, decides about
// refinement.
template <class Body>
void for_sets_with_mass(const Matter& matter, const mesh::Mesh& mesh, const Body& body) {
  for (const particles::Particles& kind : matter.kinds())
    if (kind.kind().has_mass && !kind.kind().wants_finest_cells)
      for (int l = 0; l <= mesh.finest_level(); ++l) body(kind.set(l));
}

// A body is a particle that outweighs refine.mass by itself, and is one of few: at most this many
// particles that do so have more than k_light of the heaviest particle's mass. The acceleration of
// such a particle by itself, which falls as the fourth power of the distance from the level's end,
// is not small beside that by all others. Where a threshold below the mass of all particles refines
// around each of thousands, as in cosmology, it is.
constexpr std::int64_t k_most_bodies = 64;
constexpr double k_light = 0.01;

// The mass that bodies exceed on each level up to `last`; infinity where there are none. The same
// for any number of ranks. Collective.
std::vector<double> least_bodies(const AmrOptions& options, const Matter& matter,
                                 const mesh::Mesh& mesh, int last) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const auto& thresholds = options.refine.mass;
  std::vector<double> least(last + 1, none);
  if (thresholds.empty() || !matter.has_attracting_particles()) return least;
  double heaviest = 0.0;
  for_sets_with_mass(matter, mesh, [&](const particles::ParticleSet& set) {
    heaviest = std::max(heaviest, largest_mass(set));
  });
  heaviest = mesh.communicator().max(heaviest);
  for (int level = 0; level <= last && level < std::ssize(thresholds); ++level) {
    const double above = std::max(thresholds[level] * options.mass_unit(), k_light * heaviest);
    std::int64_t count = 0;
    for_sets_with_mass(matter, mesh, [&](const particles::ParticleSet& set) {
      count += count_heavier(set, above);
    });
    count = mesh.communicator().sum(count);
    if (count > 0 && count <= k_most_bodies) least[level] = above;
  }
  return least;
}

// A body, or a particle whose kind is kept in the finest cells, some time later.
struct HeavyParticle {
  std::array<double, 3> position;
  double mass;
  bool wants_finest_cells;
};

// Appends the particles of a set that are heavier than `least`, after a step of dt.
void append_heavy(const particles::ParticleSet& set, const mesh::Geometry& geometry, double least,
                  double dt, bool wants_finest_cells, std::vector<HeavyParticle>& heavy) {
  const double* mass = set.columns().mass;
  const particles::RowList rows = particles::select_rows(
      set.count(), KOKKOS_LAMBDA(int n) { return mass[n] > least; });
  if (rows.empty()) return;
  const std::size_t first = heavy.size();
  for (const double m : set.reals(particles::k_mass, rows))
    heavy.push_back({{}, m, wants_finest_cells});
  for (int d = 0; d < 3; ++d) {
    const std::vector<double> x = set.reals(particles::k_position + d, rows);
    const std::vector<double> v = set.reals(particles::k_velocity + d, rows);
    const double lower = geometry.lower()[d], size = geometry.upper()[d] - lower;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      double& arrives = heavy[first + n].position[d];
      arrives = x[n] + dt * v[n];
      if (geometry.periodic(d)) arrives -= size * std::floor((arrives - lower) / size);
    }
  }
}

// The octants around a cell of a block that are refined with it.
struct CellFlag {
  Key block;
  std::uint64_t octants;
};

// Appends a flag for each cell in which the particle's cloud has more mass than the threshold.
void append_flags(const HeavyParticle& particle, const particles::LevelFrame& frame,
                  double threshold, int buffer, std::vector<CellFlag>& flags) {
  const int N = frame.block_size;
  BlockCoordinate lower[3];
  double weight[3];
  for (int d = 0; d < 3; ++d) {
    const double centre = frame.in_cells(d, particle.position[d]) - 0.5;
    lower[d] = static_cast<BlockCoordinate>(std::floor(centre));
    weight[d] = centre - std::floor(centre);
  }
  for (int n = 0; n < 8; ++n) {
    double mass = particle.mass;
    bool inside = true;
    BlockCoordinates block;
    unsigned octants[3];
    for (int d = 0; d < 3; ++d) {
      const int upper = n >> d & 1;
      mass *= upper == 1 ? weight[d] : 1.0 - weight[d];
      BlockCoordinate cell = lower[d] + upper;
      if (frame.periodic[d]) cell = (cell + frame.cells[d]) % frame.cells[d];
      inside = inside && cell >= 0 && cell < frame.cells[d];
      block[d] = cell / N;
      octants[d] = mesh::octants_near(static_cast<int>(cell % N), buffer, N / 2);
    }
    if (inside && mass > threshold)
      flags.push_back(
          {morton_encode(block), mesh::octant_mask(octants[0], octants[1], octants[2])});
  }
}

// Flags, on levels up to `last`, the cells that bodies are in, with all octants beside them, and
// those that they and particles of kinds that are kept in the finest cells will be in after a step
// of dt. In the mean over the step the refined region is then as wide ahead of a particle as behind
// it. Otherwise the particle would on average be nearer to the end of its level ahead of it, and
// its acceleration by itself would do work along its path. Collective.
void flag_bodies(const AmrOptions& options, const Matter& matter, const mesh::Mesh& mesh, double dt,
                 int last, mesh::FlagMasks& flags) {
  if (last < 0) return;
  const std::vector<double> least = least_bodies(options, matter, mesh, last);
  const double lightest = *std::min_element(least.begin(), least.end());
  std::vector<HeavyParticle> heavy;
  for (const particles::Particles& kind : matter.kinds()) {
    if (!kind.kind().has_mass) continue;
    const bool finest = kind.kind().wants_finest_cells;
    const double above = finest ? 0.0 : lightest;
    if (std::isinf(above)) continue;
    for (int level = 0; level <= mesh.finest_level(); ++level) {
      const auto append = [&](double later) {
        append_heavy(kind.set(level), mesh.geometry(), above, later, finest, heavy);
      };
      if (!finest) append(0.0);
      if (dt > 0.0) append(dt);
    }
  }
  if (!mesh.communicator().any(!heavy.empty())) return;
  for (int level = 0; level <= last; ++level) {
    const particles::LevelFrame frame(mesh.geometry(), level);
    std::vector<CellFlag> found;
    for (const HeavyParticle& particle : heavy) {
      if (!particle.wants_finest_cells && !(particle.mass > least[level])) continue;
      const double threshold =
          particle.wants_finest_cells ? 0.0 : options.refine.mass[level] * options.mass_unit();
      append_flags(particle, frame, threshold, mesh.geometry().octant_size(), found);
    }
    std::vector<Key> blocks;
    for (const CellFlag& flag : found) blocks.push_back(flag.block);
    std::vector<std::int32_t> owners = mesh.tree().owners(level, blocks);
    std::vector<CellFlag> sent;
    for (std::size_t n = 0; n < found.size(); ++n)
      if (owners[n] >= 0) sent.push_back(found[n]);
    std::erase_if(owners, [](std::int32_t owner) { return owner < 0; });
    for (const CellFlag& flag : route<CellFlag>(mesh.communicator(), owners, sent).items)
      flags[level][mesh.blocks(level).find(flag.block)->slot] |= flag.octants;
  }
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
  double dt = 0.0;  // of the last step
  if (gravity_) {
    const gravity::PotentialTimes times = gravity_->stored().times(0);
    dt = times.now - times.previous;
  }
  flag_bodies(options_, matter_, mesh_, dt, last, flags);
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
  flag_massive_cells(level, buffer_of_mass(options_, matter_, mesh_), masks);
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
