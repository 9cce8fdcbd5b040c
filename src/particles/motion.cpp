// Kick, carry and drift; and what masses add up to.
#include <numeric>
#include <utility>

#include "core/kernel_work.hpp"
#include "particles/cloud.hpp"
#include "particles/exact_sums.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

namespace {

KOKKOS_FORCEINLINE_FUNCTION double between(double a, double b, double weight) {
  return a + weight * (b - a);
}

// The eight cells around a particle, and what a field has there.
struct CellsAround {
  const double* cell[8];
  std::int64_t stride[8];
  double weight[3];

  // Component d, along one axis after the other: a constant comes out to the last bit.
  KOKKOS_FORCEINLINE_FUNCTION double interpolated(int d) const {
    double g[4];
    for (int c = 0; c < 4; ++c)
      g[c] = between(cell[2 * c][d * stride[2 * c]], cell[2 * c + 1][d * stride[2 * c + 1]],
                     weight[0]);
    return between(between(g[0], g[1], weight[1]), between(g[2], g[3], weight[1]), weight[2]);
  }
};

// A field around all particles of a level.
struct FieldAround {
  LevelFrame frame;
  ParticleColumns p;
  decltype(Neighbourhood::blocks) blocks;
  decltype(Neighbourhood::places) places;
  CellArrays<const double> fields;

  KOKKOS_FORCEINLINE_FUNCTION CellsAround at(int n) const {
    const std::int32_t home = p.home[n];
    const double x[3] = {p.position[0][n], p.position[1][n], p.position[2][n]};
    const Cloud cloud = cloud_of(frame, blocks(home), x);
    CellsAround around;
    for (int d = 0; d < 3; ++d) around.weight[d] = cloud.weight[d];
    find_cells(cloud, home, places.data(), fields, frame.block_size, around.cell, around.stride);
    return around;
  }
};

// So few terms are added up by the host sooner than kernels are launched that find exact parts.
constexpr std::int64_t k_few_terms = 2048;

// Adds mass times a field, and the square of mass, of some rows, times a sign.
void add_rows(const ParticleColumns& p, const FieldAround& around,
              const std::vector<std::int32_t>& rows, double sign, ReproducibleSum& weighted,
              ReproducibleSum& squared) {
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto chosen = mesh::to_device("rows", rows, Cargo::lists);
  const auto terms = mesh::uninitialised<double>("products", 2 * count);
  // A row, a home, a position, a mass and one cell are read, a product is written.
  announce_kernel("mass times field", count, {56.0, 35.0});
  Kokkos::parallel_for(
      "mass times field", count, KOKKOS_LAMBDA(std::int64_t n) {
        const std::int32_t row = chosen(n);
        // One that has lost its way has no home; the error is on its way.
        const double mass = p.mass[row];
        terms(n) = p.home[row] < 0 ? 0.0 : sign * (mass * around.at(row).interpolated(0));
        terms(count + n) = sign * (mass * mass);
      });
  if (count <= k_few_terms) {
    const std::vector<double> few = to_vector(Cargo::particles, terms);
    for (std::int64_t n = 0; n < count; ++n) weighted += few[n], squared += few[count + n];
    return;
  }
  add_terms(
      weighted, count, {8.0, 0.0}, KOKKOS_LAMBDA(std::int64_t n) { return terms(n); });
  add_terms(
      squared, count, {8.0, 0.0}, KOKKOS_LAMBDA(std::int64_t n) { return terms(count + n); });
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

void Particles::kick(int level, const FieldNearby& force, double dt) {
  const Neighbourhood& near = *levels_[level].neighbourhood;
  const ParticleColumns p = levels_[level].set.columns();
  const FieldAround field{LevelFrame(mesh_.geometry(), level), p, near.blocks, near.places,
                          force.cells};
  // A home, a position, a velocity and one cell's field are read, a velocity is written. The cloud
  // takes 12 operations, a component 21 to interpolate and 2 to add.
  announce_kernel("kick", levels_[level].set.count(), {100.0, 81.0});
  Kokkos::parallel_for(
      "kick", levels_[level].set.count(), KOKKOS_LAMBDA(int n) {
        const CellsAround around = field.at(n);
        for (int d = 0; d < 3; ++d) p.velocity[d][n] += dt * around.interpolated(d);
      });
}

void Particles::carry(int level, const VectorField& here, const VectorField& coarser) {
  const Neighbourhood& near = *levels_[level].neighbourhood;
  const FieldNearby field = fetch(level, here, coarser, 4);
  const ParticleColumns p = levels_[level].set.columns();
  const FieldAround gas{LevelFrame(mesh_.geometry(), level), p, near.blocks, near.places,
                        field.cells};
  Kokkos::parallel_for(
      "carry", levels_[level].set.count(), KOKKOS_LAMBDA(int n) {
        const CellsAround around = gas.at(n);
        const double density = around.interpolated(0);
        for (int d = 0; d < 3; ++d) p.velocity[d][n] = around.interpolated(1 + d) / density;
      });
}

Particles::MassSums Particles::mass_sums(std::vector<FieldNearby> fields, int coarsest) const {
  MassSums sums{.weighted = {},
                .squared = std::vector<ReproducibleSum>(mesh_.finest_level() + 1),
                .coarsest = coarsest,
                .fields = std::move(fields)};
  for (int level = coarsest; level <= mesh_.finest_level(); ++level) {
    std::vector<std::int32_t> all(levels_[level].set.count());
    std::iota(all.begin(), all.end(), 0);
    add_masses(level, all, 1.0, sums);
  }
  return sums;
}

// Adds, or takes away where the sign is -1, some particles of a level.
void Particles::add_masses(int level, const std::vector<std::int32_t>& rows, double sign,
                           MassSums& sums) const {
  if (rows.empty()) return;
  const Neighbourhood& near = *levels_[level].neighbourhood;
  const ParticleColumns p = levels_[level].set.columns();
  const FieldAround around{LevelFrame(mesh_.geometry(), level), p, near.blocks, near.places,
                           sums.fields[level].cells};
  add_rows(p, around, rows, sign, sums.weighted, sums.squared[level]);
}

void Particles::drift(int level, double dt) {
  const ParticleColumns p = levels_[level].set.columns();
  const LevelFrame frame(mesh_.geometry(), level);
  bool reflects[3][2];
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side)
      reflects[d][side] = mesh_.geometry().boundary(d, side) == mesh::Boundary::reflecting;
  announce_kernel("drift", levels_[level].set.count(), {72.0, 6.0});  // 9 numbers
  Kokkos::parallel_for(
      "drift", levels_[level].set.count(), KOKKOS_LAMBDA(int n) {
        for (int d = 0; d < 3; ++d) {
          double x = p.position[d][n] + dt * p.velocity[d][n];
          if (!frame.holds(d, x)) {
            const double lower = frame.lower[d], upper = frame.upper[d], size = upper - lower;
            if (frame.periodic[d]) {
              x -= size * Kokkos::floor((x - lower) / size);
              if (x >= upper) x = lower;  // rounding, from just below the lower end
            } else if (reflects[d][x >= upper]) {
              x = 2.0 * (x >= upper ? upper : lower) - x;
              if (x == upper) x = Kokkos::nextafter(upper, lower);
              p.velocity[d][n] = -p.velocity[d][n];
            }
          }
          p.position[d][n] = x;
        }
      });
  find_homes(level, level);
}

std::vector<double> Particles::crossing_times() const {
  std::vector<double> fastest(levels_.size(), 0.0);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const ParticleColumns p = levels_[l].set.columns();
    announce_kernel("fastest particle", levels_[l].set.count(), {24.0, 0.0});
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
  for (double& speed : fastest) speed = std::max(speed, 0.0);  // a level without particles
  mesh_.communicator().max_in_place(std::span<double>(fastest));
  std::vector<double> times(levels_.size());
  for (std::size_t l = 0; l < levels_.size(); ++l)
    times[l] = mesh_.geometry().cell_size(static_cast<int>(l)) / fastest[l];
  return times;
}

}  // namespace octant::particles
