// The density of particles: clouds in cells, level by level.
#include <cmath>

#include "core/error.hpp"
#include "particles/cloud.hpp"
#include "particles/masses.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

using mesh::uninitialised;

void Particles::measure_quantum() {
  double smallest = std::numeric_limits<double>::infinity();
  for (const Level& level : levels_) {
    const double* mass = level.set.columns().mass;
    double least = smallest;
    Kokkos::parallel_reduce(
        "smallest mass", level.set.count(),
        KOKKOS_LAMBDA(int n, double& m) { m = mass[n] < m ? mass[n] : m; },
        Kokkos::Min<double>(least));
    smallest = std::min(smallest, least);
  }
  smallest = mesh_.communicator().min(smallest);
  quantum_ = std::isfinite(smallest) ? std::ldexp(1.0, std::ilogb(smallest) - k_quantum_bits) : 1.0;
}

CellArray<std::int64_t> Particles::mass_array(int level) const {
  const int N = mesh_.geometry().block_size();
  return {levels_[level].mass.data(), std::int64_t{N} * N * N, 0, 1};
}

void Particles::deposit(int coarsest) {
  const DeviceArray<std::int32_t> overflow("overflow", 1);
  measure_quantum();
  for (int l = coarsest; l <= mesh_.finest_level(); ++l) Kokkos::deep_copy(levels_[l].mass, 0);
  for (int l = mesh_.finest_level(); l >= coarsest; --l) {
    Level& level = levels_[l];
    const Neighbourhood& near = *level.neighbourhood;
    const std::int64_t ghosts = std::max(near.around.ghosts(), near.beneath.ghosts());
    const DeviceArray<std::int64_t> ghost_masses("ghost masses", ghosts);
    CellArrays<std::int64_t> cells{};
    cells.source[k_here] = mass_array(l);
    if (l > coarsest) cells.source[k_coarser] = mass_array(l - 1);
    cells.source[k_ghost] = {ghost_masses.data()};
    add_clouds(l, cells, overflow);
    near.around.give_back(ghost_masses.data(), cells, overflow, level.masses);
    if (l == coarsest) continue;
    Kokkos::deep_copy(ghost_masses, 0);
    add_to_parents(l, cells, overflow);
    near.beneath.give_back(ghost_masses.data(), cells, overflow, level.sums);
  }
  const auto broken = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, overflow);
  if (mesh_.communicator().any(broken(0) != 0))
    throw RunError(
        "{} particles: the mass in one cell exceeds {:.3g}, or some 10^8 times the smallest "
        "particle's; give the particles masses that differ less, or refine the mesh there",
        kind_, quantum_ * static_cast<double>(k_largest_mass));
}

void Particles::add_clouds(int level, const CellArrays<std::int64_t>& cells,
                           const DeviceArray<std::int32_t>& overflow) const {
  const ParticleColumns p = levels_[level].set.columns();
  const auto blocks = levels_[level].neighbourhood->blocks;
  const auto places = levels_[level].neighbourhood->places;
  const LevelFrame frame(mesh_.geometry(), level);
  const double per_quantum = 1.0 / quantum_;
  const int N = frame.block_size;
  Kokkos::parallel_for(
      "deposit", levels_[level].set.count(), KOKKOS_LAMBDA(int n) {
        const std::int32_t home = p.home[n];
        const double x[3] = {p.position[0][n], p.position[1][n], p.position[2][n]};
        const Cloud cloud = cloud_of(frame, blocks(home), x);
        if (!(p.mass[n] * per_quantum < 0x1p62)) {
          overflow(0) = 1;
          return;
        }
        const Place* around = places.data() + 27 * std::int64_t{home};
        const bool inside = cloud.inside(N);
        std::int64_t* const block =
            cells.source[k_here].data + home * cells.source[k_here].stride_slot;
        // Halves by halves: what the upper cells do not get, the lower ones do.
        const auto whole = static_cast<std::int64_t>(p.mass[n] * per_quantum + 0.5);
        const std::int64_t upper = share(whole, cloud.weight[2]);
        for (int c = 0; c < 2; ++c) {
          const std::int64_t layer = c == 0 ? whole - upper : upper;
          const std::int64_t back = share(layer, cloud.weight[1]);
          for (int b = 0; b < 2; ++b) {
            const std::int64_t row = b == 0 ? layer - back : back;
            const std::int64_t right = share(row, cloud.weight[0]);
            for (int a = 0; a < 2; ++a) {
              const int i = cloud.cell[0][a], j = cloud.cell[1][b], k = cloud.cell[2][c];
              std::int64_t unused;
              std::int64_t* cell = inside ? block + (k * N + j) * N + i
                                          : find_cell(around, cells, N, i, j, k, unused);
              if (cell) add_mass(cell, a == 0 ? row - right : right, overflow.data());
            }
          }
        }
      });
  Kokkos::fence();
}

void Particles::add_to_parents(int level, const CellArrays<std::int64_t>& cells,
                               const DeviceArray<std::int32_t>& overflow) const {
  const auto own = levels_[level].neighbourhood->own;
  const auto parents = levels_[level].neighbourhood->parents;
  const int N = mesh_.geometry().block_size(), half = N / 2, octant = half * half * half;
  const CellArray<std::int64_t> fine = cells.source[k_here];
  Kokkos::parallel_for(
      "add masses to parents", own.extent(0) * octant, KOKKOS_LAMBDA(std::int64_t n) {
        const std::int32_t slot = own(n / octant);
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

void Particles::add_density(int level, const ScalarField& density) const {
  const auto own = levels_[level].neighbourhood->own;
  const CellArray<std::int64_t> mass = mass_array(level);
  const std::int64_t cells = mass.stride_slot;
  const double factor = quantum_ / mesh_.geometry().cell_volume(level);
  Kokkos::parallel_for(
      "add density", own.extent(0) * cells, KOKKOS_LAMBDA(std::int64_t n) {
        const std::int32_t slot = own(n / cells);
        const std::int64_t cell = n % cells;
        density.data[slot * density.stride_slot + cell] +=
            factor * static_cast<double>(mass.data[slot * mass.stride_slot + cell]);
      });
  Kokkos::fence();
}

}  // namespace octant::particles
