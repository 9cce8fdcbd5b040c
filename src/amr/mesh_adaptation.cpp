#include "amr/mesh_adaptation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "core/observer.hpp"
#include "hydro/diagnostics.hpp"
#include "hydro/refinement.hpp"
#include "mesh/flagging.hpp"
#include "particles/cloud.hpp"

namespace octant {

using mesh::LevelFields;

namespace {

// Number of a set's particles on this rank that are heavier than `least`.
std::int64_t count_heavier(const particles::ParticleSet& set, double least) {
  const double* mass = set.columns().mass;
  std::int64_t count = 0;
  record_kernel_work("heavier particles", set.count(), {8.0, 0.0});
  Kokkos::parallel_reduce(
      "heavier particles", set.count(),
      KOKKOS_LAMBDA(int n, std::int64_t& heavier) { heavier += mass[n] > least ? 1 : 0; }, count);
  return count;
}

// Width in cells of the buffer refined around cells above refine.mass. Particles that refine their
// cells must be farther from the boundary of the new level than the distance within which they are
// assigned to the coarser level (particles::k_margin).
int buffer_of_mass(const AmrOptions& options, const Matter& matter, const mesh::Mesh& mesh) {
  const int octant = mesh.geometry().octant_size(), buffer = options.refine.buffer;
  return std::min(matter.has_attracting_particles() ? std::max(buffer, 2) : buffer, octant);
}

// Returns true if particles of a kind trigger refinement by mass rather than by kind.
bool refines_by_mass(const particles::Particles& kind) {
  return kind.kind().has_mass && !kind.kind().wants_finest_cells;
}

// A body is a particle above the refine.mass threshold that dominates its surroundings: at most
// this many particles above the threshold have more than k_light of the largest mass. The
// self-acceleration of a body, which falls as the fourth power of the distance from the level
// boundary, is not small compared with the acceleration by all other matter. It is small if
// thousands of particles exceed the threshold, as in cosmology.
constexpr std::int64_t k_max_bodies = 64;
constexpr double k_light = 0.01;

// Mass on each level up to `last` above which a particle counts as a body: a single particle that
// dominates its cell. Infinity if there are no such particles. The same for any number of ranks.
// The same reduction tells whether `statement` holds on any rank. Collective.
std::vector<double> body_mass_thresholds(const AmrOptions& options, const Matter& matter,
                                         const mesh::Mesh& mesh, int last, bool& statement) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const auto& thresholds = options.refine.mass;
  std::vector<double> least(last + 1, none);
  if (thresholds.empty() || !matter.has_attracting_particles()) {
    statement = mesh.communicator().any(statement);
    return least;
  }
  double heaviest = 0.0;
  const std::vector<double> largest = matter.largest_masses();
  for (std::size_t n = 0; n < largest.size(); ++n)
    if (refines_by_mass(matter.kinds()[n])) heaviest = std::max(heaviest, largest[n]);
  const auto levels = std::min(std::ssize(least), std::ssize(thresholds));
  std::vector<double> above(levels);
  std::vector<std::int64_t> counts(levels, 0);
  for (std::int64_t level = 0; level < levels; ++level) {
    above[level] = std::max(thresholds[level] * options.mass_unit(), k_light * heaviest);
    for (const particles::Particles& kind : matter.kinds())
      for (int l = 0; refines_by_mass(kind) && l <= mesh.finest_level(); ++l)
        counts[level] += count_heavier(kind.set(l), above[level]);
  }
  counts.push_back(statement ? 1 : 0);
  mesh.communicator().sum_in_place(std::span(counts));
  statement = counts.back() > 0;
  for (std::int64_t level = 0; level < levels; ++level)
    if (counts[level] > 0 && counts[level] <= k_max_bodies) least[level] = above[level];
  return least;
}

// A body, or a particle of a kind kept in the finest cells, at its predicted position.
struct HeavyParticle {
  std::array<double, 3> position;
  double mass;
  bool wants_finest_cells;
};

// Appends the particles of a set that are heavier than `least`, at their positions after dt.
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

// Mask of the octants around a cell that are refined together with the octant of the cell.
struct CellFlag {
  Key block;
  std::uint64_t octants;
};

// Appends a flag for each cell in which the particle's cloud exceeds the mass threshold.
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

// Flags, on levels up to `last`, the cells of bodies with all adjacent octants, and the predicted
// cells after a step of dt of bodies and of kinds kept in the finest cells. The refined region is
// then symmetric about a particle on average over the step. Otherwise the particle would be closer
// to the level boundary ahead of it, and its self-acceleration would do work along its path.
// Collective.
void flag_bodies(const AmrOptions& options, const Matter& matter, const mesh::Mesh& mesh, double dt,
                 int last, mesh::FlagMasks& flags) {
  if (last < 0) return;
  bool any = std::ranges::any_of(matter.kinds(), [](const particles::Particles& kind) {
    return kind.kind().has_mass && kind.kind().wants_finest_cells && kind.count() > 0;
  });
  const std::vector<double> least = body_mass_thresholds(options, matter, mesh, last, any);
  const double lightest = *std::min_element(least.begin(), least.end());
  if (!any && std::isinf(lightest)) return;
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

// Flags cells whose mass of all matter exceeds refine.mass.
void flag_massive_cells(const StepContext& context, const Matter& matter, int level, int buffer,
                        const mesh::DeviceArray<std::uint64_t>& masks) {
  if (level >= static_cast<int>(context.options.refine.mass.size())) return;
  const double per_volume =
      context.options.mass_unit() / context.mesh.geometry().cell_volume(level);
  const mesh::OptionallyOwnedField density = matter.density(level);
  mesh::DenseCells cells{.field = density.field,
                         .threshold = context.options.refine.mass[level] * per_volume};
  if (context.options.refine.gas_weight != 1.0) {
    cells.weighted = matter.gas_density(level);
    cells.more_weight = context.options.refine.gas_weight - 1.0;
  }
  if (context.options.refine.mass_scalar >= 0) {
    const mesh::BlockLayout& layout = context.mesh.layout();
    double* gas = context.mesh.fields(level).blocks(LevelFields::k_now);
    const auto scalar = context.options.hydro.variable_index(
        hydro::passive_scalar_name(context.options.refine.mass_scalar));
    cells.whole = {gas, layout.stride_slot};
    cells.share = {gas + std::int64_t{scalar.value()} * layout.stride_variable, layout.stride_slot};
    cells.least_share = context.options.refine.mass_scalar_above;
  }
  mesh::flag_dense_cells(context.mesh, level, cells, buffer, masks);
}

// Flags cells of a level by all criteria other than bodies.
void flag_cells(StepContext& context, const Matter& matter, int level,
                const mesh::DeviceArray<std::uint64_t>& masks) {
  const int buffer = std::min(context.options.refine.buffer, context.mesh.geometry().octant_size());
  const auto criteria = context.options.criteria(level, context.time);
  if (!criteria.empty()) {
    context.mesh.fill_ghosts(level, LevelFields::k_now, 1.0);
    hydro::flag_cells(context.options.hydro, context.mesh.halo(level).tiles,
                      context.mesh.pointers(level, LevelFields::k_now), criteria, buffer, masks);
  }
  flag_massive_cells(context, matter, level, buffer_of_mass(context.options, matter, context.mesh),
                     masks);
  for (const particles::Particles& kind : matter.kinds())
    if (kind.kind().wants_finest_cells)
      kind.flag_cells(level, context.mesh.geometry().octant_size(), masks);
  context.options.problem->flag_cells(context.mesh, level, masks);
  context.options.refine.region.flag_cells(context.mesh, level, masks);
  context.options.refine.places.flag_cells(context.mesh, level, context.time, masks);
}

// Rejects meshes whose cell size changes along an axis of uniform gas.
void check_level_boundaries(const StepContext& context) {
  if (context.options.hydro.dimensions == 3) return;
  context.mesh.communicator().collective_try([&] {
    for (int level = 0; level <= context.mesh.finest_level(); ++level)
      if (hydro::has_level_change_across(context.options.hydro, context.mesh.halo(level).tiles))
        throw InputError(
            "step {}, time {}: hydro.dimensions = {}, but the refinement level varies along {}: "
            "see refine.where and refine.region_*",
            context.step, context.time, context.options.hydro.dimensions,
            context.options.hydro.dimensions == 2 ? "z" : "y or z");
  });
}

}  // namespace

bool regrid(StepContext& context, Matter& matter, const gravity::Gravity* gravity) {
  const auto timing = context.timers.time("regrid", Phase::regrid);
  const mesh::Geometry& geometry = context.mesh.geometry();
  for (int level = 0; level <= geometry.max_level(); ++level)
    context.mesh.set_inflow_time(level, context.time);
  mesh::FlagMasks flags(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level)
    flags[level].assign(context.mesh.blocks(level).slots(), 0);
  const int last = std::min(context.mesh.finest_level(), context.finest_allowed() - 1);
  for (int level = 0; level <= last; ++level) {
    const auto flagging = context.timers.time("flag cells", Phase::regrid, level);
    const auto masks = mesh::zeros<std::uint64_t>("flags", context.mesh.blocks(level).slots());
    flag_cells(context, matter, level, masks);
    copy_to_host(TransferKind::numbers, host_view(flags[level]), masks);
  }
  double dt = 0.0;  // last step
  if (gravity) {
    const gravity::PotentialTimes times = gravity->stored().times(0);
    dt = times.now - times.previous;
  }
  flag_bodies(context.options, matter, context.mesh, dt, last, flags);
  if (!context.mesh.regrid(flags)) return false;
  check_level_boundaries(context);
  matter.adapt_to_mesh();
  return true;
}

}  // namespace octant
