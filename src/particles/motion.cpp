// Kicks, advection with the gas, drifts, and exact sums over masses.
#include <algorithm>
#include <numeric>
#include <utility>

#include "core/observer.hpp"
#include "mesh/exact_sums.hpp"
#include "mesh/launch.hpp"
#include "particles/cloud.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

namespace {

KOKKOS_FORCEINLINE_FUNCTION double between(double a, double b, double weight) {
  return a + weight * (b - a);
}

// Eight cells around a particle, with their values of a field.
struct CellsAround {
  const double* cell[8];
  std::int64_t stride[8];
  double weight[3];

  // Interpolates component d axis by axis; a constant is reproduced to the last bit.
  KOKKOS_FORCEINLINE_FUNCTION double interpolated(int d) const {
    double g[4];
    for (int c = 0; c < 4; ++c)
      g[c] = between(cell[2 * c][d * stride[2 * c]], cell[2 * c + 1][d * stride[2 * c + 1]],
                     weight[0]);
    return between(between(g[0], g[1], weight[1]), between(g[2], g[3], weight[1]), weight[2]);
  }
};

// Field around all particles of a level.
struct FieldAround {
  LevelFrame frame;
  ParticleColumns p;
  decltype(Neighbourhood::blocks) blocks;
  decltype(Neighbourhood::locations) locations;
  CellArrays<const double> fields;

  KOKKOS_FORCEINLINE_FUNCTION CellsAround at(std::int32_t home, const double (&x)[3]) const {
    const Cloud cloud = cloud_of(frame, blocks(home), x);
    CellsAround around;
    for (int d = 0; d < 3; ++d) around.weight[d] = cloud.weight[d];
    find_cells(cloud, home, locations.data(), fields, frame.block_size, around.cell, around.stride);
    return around;
  }
  KOKKOS_FORCEINLINE_FUNCTION CellsAround at(int n) const {
    return at(p.home[n], {p.position[0][n], p.position[1][n], p.position[2][n]});
  }
};

// Field of the next coarser level around the particles assigned to it.
struct CoarseFieldAround {
  LevelFrame coarse;
  ParticleColumns p;
  decltype(Neighbourhood::blocks) blocks;
  decltype(Neighbourhood::coarse_locations) locations;
  CellArrays<const double> fields;

  KOKKOS_FORCEINLINE_FUNCTION CellsAround at(std::int32_t home, const double (&x)[3]) const {
    const Cloud cloud = coarse_cloud_of(coarse, blocks(home), x);
    CellsAround around;
    for (int d = 0; d < 3; ++d) around.weight[d] = cloud.weight[d];
    find_coarse_cells(cloud, home, locations.data(), fields, coarse.block_size, around.cell,
                      around.stride);
    return around;
  }
  KOKKOS_FORCEINLINE_FUNCTION CellsAround at(int n) const {
    return at(p.home[n], {p.position[0][n], p.position[1][n], p.position[2][n]});
  }
};

CoarseFieldAround coarse_field_around(const mesh::Geometry& geometry, int level,
                                      const ParticleSet& set, const Neighbourhood& near,
                                      const FieldNearby& field) {
  return {LevelFrame(geometry, std::max(level - 1, 0)), set.columns(), near.blocks,
          near.coarse_locations, field.cells};
}

// Field at a particle: that of its own level, or of the coarser level to which it is assigned.
struct ForceLevelField {
  FieldAround own;
  CoarseFieldAround coarser;

  KOKKOS_FORCEINLINE_FUNCTION double at(int n) const {
    return own.p.uses_coarser_level[n] != 0 ? coarser.at(n).interpolated(0)
                                            : own.at(n).interpolated(0);
  }
  KOKKOS_FORCEINLINE_FUNCTION double at(const MassChange& change) const {
    return change.uses_coarser_level != 0 ? coarser.at(change.home, change.position).interpolated(0)
                                          : own.at(change.home, change.position).interpolated(0);
  }
};

FieldAround field_around(const LevelFrame& frame, const ParticleSet& set, const Neighbourhood& near,
                         const FieldNearby& field) {
  return {frame, set.columns(), near.blocks, near.locations, field.cells};
}

ForceLevelField force_level_field(const mesh::Geometry& geometry, int level, const ParticleSet& set,
                                  const Neighbourhood& near, const FieldNearby& own,
                                  const FieldNearby& coarser) {
  return {field_around(LevelFrame(geometry, level), set, near, own),
          coarse_field_around(geometry, level, set, near, coarser)};
}

// Cost: reads a home, a position, a mass and one cell; writes a product.
constexpr KernelCost k_product_cost{56.0, 35.0};

// Number of terms up to which the host adds faster than kernels for exact parts are launched.
constexpr std::int64_t k_max_host_terms = 2048;

// Computes the terms of all particles of a level: masses times the field, then squared masses of
// particles assigned to their own level, and of the others.
void find_terms(const ForceLevelField& around, std::int64_t count,
                const DeviceArray<double>& terms) {
  mesh::for_items(
      {"mass times field", k_product_cost}, count, KOKKOS_LAMBDA(int n) {
        // A particle without a home is skipped; its error is reported later.
        const double mass = around.own.p.mass[n];
        const bool uses_coarser_level = around.own.p.uses_coarser_level[n] != 0;
        terms(n) = around.own.p.home[n] < 0 ? 0.0 : mass * around.at(n);
        terms(count + n) = uses_coarser_level ? 0.0 : mass * mass;
        terms(2 * count + n) = uses_coarser_level ? mass * mass : 0.0;
      });
}

// Multiplies `count` changes of a level's masses, from `first` on, by the field there.
void multiply(const DeviceArray<const MassChange>& changes, std::int64_t first, std::int64_t count,
              const ForceLevelField& around, const DeviceArray<double>& products) {
  mesh::for_items(
      {"mass times field", k_product_cost}, count, KOKKOS_LAMBDA(std::int64_t n) {
        const MassChange& change = changes(first + n);
        const double field = change.home < 0 ? 0.0 : around.at(change);
        products(first + n) = change.sign * (change.mass * field);
      });
}

// Test for particles so near to the end of their level that the coarser level's potential
// accelerates them.
struct NearEnd {
  ParticleColumns p;
  decltype(Neighbourhood::blocks) blocks;
  LevelFrame frame;

  KOKKOS_FORCEINLINE_FUNCTION bool operator()(int n) const {
    const HomeBlock& home = blocks(p.home[n]);
    double from_first[3];
    for (int d = 0; d < 3; ++d)
      from_first[d] = frame.in_cells(d, p.position[d][n]) - static_cast<double>(home.first_cell[d]);
    return home.is_near_end(from_first, frame.block_size);
  }
};

// Returns the rows of particles whose force level must change.
RowList other_force_level(const NearEnd& near_end, int count) {
  return select_rows(
      count,
      KOKKOS_LAMBDA(int n) { return near_end(n) != (near_end.p.uses_coarser_level[n] != 0); });
}

// Sets the force levels; returns true if some particles are assigned to the coarser level.
bool set_force_level(const NearEnd& near_end, int count) {
  int any = 0;
  record_kernel_work("choose force levels", count, {29.0, 12.0});
  Kokkos::parallel_reduce(
      "choose force levels", count,
      KOKKOS_LAMBDA(int n, int& found) {
        const int near = near_end(n) ? 1 : 0;
        near_end.p.uses_coarser_level[n] = static_cast<std::uint8_t>(near);
        found = near > found ? near : found;
      },
      Kokkos::Max<int>(any));
  return any > 0;
}

}  // namespace

FieldNearby Particles::fetch(int level, const VectorField& here, const VectorField& coarser,
                             int components) {
  const Neighbourhood& near = *levels_[level].neighbourhood;
  FieldNearby field{
      .cells = {},
      .ghosts = mesh::uninitialised<double>("ghost values", components * near.around.ghosts())};
  auto& source = field.cells.source;
  source[k_here] = {here.data, here.stride_slot, here.stride_component, 1};
  source[k_coarser] = {coarser.data, coarser.stride_slot, coarser.stride_component, 1};
  near.around.fetch(field.cells, components, field.ghosts.data(), levels_[level].fields);
  source[k_ghost] = {field.ghosts.data(), components, 1, components};
  return field;
}

FieldNearby Particles::fetch_coarser(int level, const VectorField& coarser, int components) {
  const Neighbourhood& near = *levels_[level].neighbourhood;
  FieldNearby field{
      .cells = {},
      .ghosts = mesh::uninitialised<double>("ghost values", components * near.coarse.ghosts())};
  if (level == 0) return field;
  auto& source = field.cells.source;
  source[k_coarser] = {coarser.data, coarser.stride_slot, coarser.stride_component, 1};
  near.coarse.fetch(field.cells, components, field.ghosts.data(), levels_[level].coarser_fields);
  source[k_ghost] = {field.ghosts.data(), components, 1, components};
  return field;
}

void Particles::kick(int level, const FieldNearby& force, double dt) {
  const ParticleColumns p = levels_[level].set.columns();
  const FieldAround field = field_around(LevelFrame(mesh_.geometry(), level), levels_[level].set,
                                         *levels_[level].neighbourhood, force);
  // Cost: reads a home, a position, a velocity and one cell's field; writes a velocity. The cloud
  // takes 12 operations, a component 21 to interpolate and 2 to add.
  mesh::for_items(
      {"kick", {100.0, 81.0}}, levels_[level].set.count(), KOKKOS_LAMBDA(int n) {
        if (p.uses_coarser_level[n] != 0) return;
        const CellsAround around = field.at(n);
        for (int d = 0; d < 3; ++d) p.velocity[d][n] += dt * around.interpolated(d);
      });
}

void Particles::kick_by_coarser_level(int level, const FieldNearby& coarser_force, double dt) {
  const Level& l = levels_[level];
  if (!l.any_uses_coarser_level) return;
  const ParticleColumns p = l.set.columns();
  const CoarseFieldAround field =
      coarse_field_around(mesh_.geometry(), level, l.set, *l.neighbourhood, coarser_force);
  // Cost: one byte per particle, because for most particles the kernel only reads this flag.
  mesh::for_items(
      {"kick by coarser level", {1.0, 0.0}}, l.set.count(), KOKKOS_LAMBDA(int n) {
        if (p.uses_coarser_level[n] == 0) return;
        const CellsAround around = field.at(n);
        for (int d = 0; d < 3; ++d) p.velocity[d][n] += dt * around.interpolated(d);
      });
}

void Particles::choose_force_levels(int coarsest) { choose_force_levels(coarsest, nullptr); }

// Chooses the force levels, and records the resulting mass changes unless `changes` is null.
void Particles::choose_force_levels(int coarsest, MassChanges* changes) {
  if (!levels_are_separate_ || (!kind_.has_mass && kind_.motion != Motion::falls)) return;
  for (int level = coarsest + 1; level <= mesh_.finest_level(); ++level) {
    Level& l = levels_[level];
    const NearEnd near_end{l.set.columns(), l.neighbourhood->blocks,
                           LevelFrame(mesh_.geometry(), level)};
    if (changes) {
      const RowList rows = other_force_level(near_end, l.set.count());
      const ReadRows read = l.set.read(rows);
      for (std::size_t n = 0; n < rows.size(); ++n) {
        const bool before = read.uses_coarser_level(n);
        (*changes)[level].push_back(change_of(read[n], read.home(n), before, -1.0));
        (*changes)[level].push_back(change_of(read[n], read.home(n), !before, 1.0));
      }
    }
    l.any_uses_coarser_level = set_force_level(near_end, l.set.count());
  }
}

void Particles::carry(int level, const VectorField& here, const VectorField& coarser) {
  const FieldNearby field = fetch(level, here, coarser, 4);
  const ParticleColumns p = levels_[level].set.columns();
  const FieldAround gas = field_around(LevelFrame(mesh_.geometry(), level), levels_[level].set,
                                       *levels_[level].neighbourhood, field);
  mesh::for_items(
      "carry", levels_[level].set.count(), KOKKOS_LAMBDA(int n) {
        const CellsAround around = gas.at(n);
        const double density = around.interpolated(0);
        for (int d = 0; d < 3; ++d) p.velocity[d][n] = around.interpolated(1 + d) / density;
      });
}

Particles::MassSums Particles::mass_sums(std::vector<FieldNearby> fields,
                                         std::vector<FieldNearby> coarser_fields,
                                         int coarsest) const {
  MassSums sums{.weighted = {},
                .squared = std::vector<ReproducibleSum>(mesh_.finest_level() + 1),
                .coarsest = coarsest,
                .fields = std::move(fields),
                .coarser_fields = std::move(coarser_fields)};
  // Terms of levels with few particles are copied to the host together.
  std::vector<std::int64_t> few(levels_.size(), 0);
  for (int level = coarsest; level <= mesh_.finest_level(); ++level)
    if (const int count = levels_[level].set.count(); count <= k_max_host_terms) few[level] = count;
  const auto terms_of_few = mesh::uninitialised<double>(
      "products", 3 * std::accumulate(few.begin(), few.end(), std::int64_t{0}));
  std::int64_t first = 0;
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    const std::int64_t count = levels_[level].set.count();
    if (count == 0) continue;
    const Level& l = levels_[level];
    const ForceLevelField around =
        force_level_field(mesh_.geometry(), level, l.set, *l.neighbourhood, sums.fields[level],
                          sums.coarser_fields[level]);
    if (few[level] > 0) {
      const std::pair range(first, first + 3 * count);
      find_terms(around, count, Kokkos::subview(terms_of_few, range));
      first += 3 * count;
      continue;
    }
    const auto terms = mesh::uninitialised<double>("products", 3 * count);
    find_terms(around, count, terms);
    mesh::add_terms<3>(
        {&sums.weighted, &sums.squared[level], &sums.squared[std::max(level - 1, 0)]}, count,
        {24.0, 0.0}, KOKKOS_LAMBDA(std::int64_t n) {
          return Kokkos::Array<double, 3>{terms(n), terms(count + n), terms(2 * count + n)};
        });
  }
  if (first == 0) return sums;
  const std::vector<double> host = to_vector(TransferKind::particles, terms_of_few);
  auto term = host.begin();
  for (std::size_t level = 0; level < few.size(); ++level) {
    for (std::int64_t n = 0; n < few[level]; ++n) sums.weighted += *term++;
    for (std::int64_t n = 0; n < few[level]; ++n) sums.squared[level] += *term++;
    for (std::int64_t n = 0; n < few[level]; ++n)
      sums.squared[std::max<std::size_t>(level, 1) - 1] += *term++;
  }
  return sums;
}

void Particles::add_changes(const MassChanges& changes, MassSums& sums) const {
  std::vector<MassChange> all;
  for (const auto& of_level : changes) all.insert(all.end(), of_level.begin(), of_level.end());
  if (all.empty()) return;
  const auto listed = mesh::to_device("mass changes", all, TransferKind::particles);
  const auto products = mesh::uninitialised<double>("products", std::ssize(all));
  std::int64_t first = 0;
  for (std::size_t level = 0; level < changes.size(); ++level) {
    const std::int64_t count = std::ssize(changes[level]);
    if (count == 0) continue;
    const Level& l = levels_[level];
    multiply(listed, first, count,
             force_level_field(mesh_.geometry(), static_cast<int>(level), l.set, *l.neighbourhood,
                               sums.fields[level], sums.coarser_fields[level]),
             products);
    first += count;
  }
  std::size_t n = 0;
  const std::vector<double> terms = to_vector(TransferKind::particles, products);
  for (std::size_t level = 0; level < changes.size(); ++level)
    for (const MassChange& change : changes[level]) {
      sums.weighted += terms[n++];
      sums.squared[level - static_cast<std::size_t>(change.uses_coarser_level)] +=
          change.sign * (change.mass * change.mass);
    }
}

namespace {

// Changes the positions of a level's particles.
void move_set(ParticleSet& set, const mesh::Geometry& geometry, int level, double dt) {
  const ParticleColumns p = set.columns();
  const LevelFrame frame(geometry, level);
  bool reflects[3][2];
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side)
      reflects[d][side] = geometry.boundary(d, side) == mesh::Boundary::reflecting;
  // Cost: reads or writes nine numbers of a particle.
  mesh::for_items(
      {"drift", {72.0, 6.0}}, set.count(), KOKKOS_LAMBDA(int n) {
        for (int d = 0; d < 3; ++d) {
          double x = p.position[d][n] + dt * p.velocity[d][n];
          if (!frame.holds(d, x)) {
            const double lower = frame.lower[d], upper = frame.upper[d], size = upper - lower;
            if (frame.periodic[d]) {
              x -= size * Kokkos::floor((x - lower) / size);
              // coordinates just below the lower end may be rounded up to the upper end
              if (x >= upper) x = lower;
            } else if (reflects[d][x >= upper]) {
              x = 2.0 * (x >= upper ? upper : lower) - x;
              if (x == upper) x = Kokkos::nextafter(upper, lower);
              p.velocity[d][n] = -p.velocity[d][n];
            }
          }
          p.position[d][n] = x;
        }
      });
}

}  // namespace

void Particles::move(std::span<Particles> kinds, int level, double dt) {
  for (Particles& kind : kinds) move_set(kind.set(level), kind.mesh_.geometry(), level, dt);
}

std::vector<double> Particles::crossing_times() const {
  std::vector<double> fastest(levels_.size(), 0.0);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const ParticleColumns p = levels_[l].set.columns();
    record_kernel_work("fastest particle", levels_[l].set.count(), {24.0, 0.0});
    Kokkos::parallel_reduce(
        "fastest particle", levels_[l].set.count(),
        KOKKOS_LAMBDA(int n, double& most) {
          for (int d = 0; d < 3; ++d) {
            const double speed = Kokkos::abs(p.velocity[d][n]);
            most = speed > most ? speed : most;
          }
        },
        Kokkos::Max<double>(fastest[l]));
  }
  // the value is negative on a level without particles
  for (double& speed : fastest) speed = std::max(speed, 0.0);
  std::vector<double> times(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l)
    times[l] = mesh_.geometry().cell_size(static_cast<int>(l)) / fastest[l];
  return times;
}

}  // namespace octant::particles
