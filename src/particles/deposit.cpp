// The density of particles: clouds in cells, level by level.
#include <cmath>

#include "core/error.hpp"
#include "mesh/cell_loop.hpp"
#include "particles/cloud.hpp"
#include "particles/masses.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

using mesh::uninitialised;

namespace {

double smallest_mass(const ParticleSet& set) {
  const double* mass = set.columns().mass;
  double smallest = std::numeric_limits<double>::infinity();
  if (set.count() > 0)
    Kokkos::parallel_reduce(
        "smallest mass", set.count(),
        KOKKOS_LAMBDA(int n, double& least) { least = mass[n] < least ? mass[n] : least; },
        Kokkos::Min<double>(smallest));
  return smallest;
}

void add_clouds(const ParticleSet& set, const Neighbourhood& near, const LevelFrame& frame,
                double quantum, const CellArrays<std::int64_t>& cells,
                const DeviceArray<std::int32_t>& overflow) {
  const ParticleColumns p = set.columns();
  const auto blocks = near.blocks;
  const auto places = near.places;
  const double per_quantum = 1.0 / quantum;
  const int N = frame.block_size;
  Kokkos::parallel_for(
      "deposit", set.count(), KOKKOS_LAMBDA(int n) {
        if (!(p.mass[n] * per_quantum < 0x1p62)) {
          overflow(0) = 1;
          return;
        }
        const std::int32_t home = p.home[n];
        const double x[3] = {p.position[0][n], p.position[1][n], p.position[2][n]};
        const Cloud cloud = cloud_of(frame, blocks(home), x);
        std::int64_t* cell[8];
        std::int64_t unused[8];
        find_cells(cloud, home, places.data(), cells, N, cell, unused);
        // Halves by halves: what the upper cells do not get, the lower ones do.
        const auto whole = static_cast<std::int64_t>(p.mass[n] * per_quantum + 0.5);
        const std::int64_t upper = share(whole, cloud.weight[2]);
        for (int c = 0; c < 2; ++c) {
          const std::int64_t layer = c == 0 ? whole - upper : upper;
          const std::int64_t back = share(layer, cloud.weight[1]);
          for (int b = 0; b < 2; ++b) {
            const std::int64_t row = b == 0 ? layer - back : back;
            const std::int64_t right = share(row, cloud.weight[0]);
            std::int64_t* const* pair = cell + 4 * c + 2 * b;
            if (pair[0]) add_mass(pair[0], row - right, overflow.data());
            if (pair[1]) add_mass(pair[1], right, overflow.data());
          }
        }
      });
  Kokkos::fence();
}

// The sums of 2^3 cells into the coarser cells beneath them.
void add_to_parents(const Neighbourhood& near, const mesh::CellRange& children,
                    const CellArrays<std::int64_t>& cells,
                    const DeviceArray<std::int32_t>& overflow) {
  const auto own = children.blocks;
  const auto parents = near.parents;
  const int N = children.block_size(), half = N / 2, octant = half * half * half;
  const CellArray<std::int64_t> fine = cells.source[k_here];
  Kokkos::parallel_for(
      "add masses to parents", own.extent(0) * octant, KOKKOS_LAMBDA(std::int64_t n) {
        const std::int32_t slot = own(n / octant).slot;
        const auto cell = static_cast<int>(n % octant);
        const int i = 2 * (cell % half), j = 2 * (cell / half % half), k = 2 * (cell / half / half);
        const Place& place = parents(slot);
        const CellArray<std::int64_t>& coarse = cells.source[place.source];
        std::int64_t* sum = coarse.data + place.slot * coarse.stride_slot + place.cell(i, j, k);
        const std::int64_t* first = fine.data + slot * fine.stride_slot + (k * N + j) * N + i;
        for (int child = 0; child < 8; ++child)
          add_mass(sum, first[((child >> 2) * N + (child >> 1 & 1)) * N + (child & 1)],
                   overflow.data());
      });
  Kokkos::fence();
}

}  // namespace

double Particles::measured_quantum() const {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Level& level : levels_) smallest = std::min(smallest, smallest_mass(level.set));
  smallest = mesh_.communicator().min(smallest);
  return std::isfinite(smallest) ? std::ldexp(1.0, std::ilogb(smallest) - k_quantum_bits) : 1.0;
}

CellArray<std::int64_t> Particles::mass_array(int level) const {
  const int N = mesh_.geometry().block_size();
  return {levels_[level].mass.data(), std::int64_t{N} * N * N, 0, 1};
}

void Particles::deposit(int coarsest) {
  const DeviceArray<std::int32_t> overflow("overflow", 1);
  const double quantum = measured_quantum();
  for (int l = coarsest; l <= mesh_.finest_level(); ++l) {
    Kokkos::deep_copy(levels_[l].mass, 0);
    levels_[l].quantum = quantum;
  }
  for (int l = mesh_.finest_level(); l >= coarsest; --l) {
    Level& level = levels_[l];
    const Neighbourhood& near = *level.neighbourhood;
    const std::int64_t ghosts = std::max(near.around.ghosts(), near.beneath.ghosts());
    const DeviceArray<std::int64_t> ghost_masses("ghost masses", ghosts);
    CellArrays<std::int64_t> cells{};
    cells.source[k_here] = mass_array(l);
    if (l > coarsest) cells.source[k_coarser] = mass_array(l - 1);
    cells.source[k_ghost] = {ghost_masses.data()};
    add_clouds(level.set, near, LevelFrame(mesh_.geometry(), l), quantum, cells, overflow);
    near.around.give_back(ghost_masses.data(), cells, overflow, level.masses);
    if (l == coarsest) continue;
    Kokkos::deep_copy(ghost_masses, 0);
    add_to_parents(near, mesh_.cells(l), cells, overflow);
    near.beneath.give_back(ghost_masses.data(), cells, overflow, level.sums);
  }
  const auto broken = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, overflow);
  if (mesh_.communicator().any(broken(0) != 0))
    throw RunError(
        "{} particles: the mass in one cell exceeds {:.3g}, some 10^8 times the smallest "
        "particle's; give the particles masses that differ less, or refine the mesh there",
        kind_, quantum * static_cast<double>(k_largest_mass));
}

void Particles::add_density(int level, const mesh::BlockField& density) const {
  const CellArray<std::int64_t> mass = mass_array(level);
  const double factor = levels_[level].quantum / mesh_.geometry().cell_volume(level);
  mesh::for_cells(
      "add density", mesh_.cells(level), KOKKOS_LAMBDA(const mesh::Cell& cell) {
        *density.at(cell) +=
            factor * static_cast<double>(mass.data[cell.slot * mass.stride_slot + cell.index]);
      });
}

}  // namespace octant::particles
