// The density of particles: clouds in cells, level by level.
#include <cmath>

#include "core/error.hpp"
#include "core/kernel_work.hpp"
#include "core/residency.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/cell_work.hpp"
#include "mesh/flagging.hpp"
#include "particles/cloud.hpp"
#include "particles/masses.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

using mesh::uninitialised;

namespace {

struct MassRange {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0.0;
  int broken = 0;  // 1 if some mass is not a positive, finite number

  KOKKOS_FORCEINLINE_FUNCTION void operator+=(const MassRange& other) {
    smallest = min(smallest, other.smallest);
    largest = max(largest, other.largest);
    broken = broken != 0 ? broken : other.broken;
  }
};

MassRange range_of(const JoinedSets& sets) {
  announce_kernel("range of masses", sets.count(), {8.0, 0.0});
  MassRange range;
  Kokkos::parallel_reduce(
      "range of masses", sets.count(),
      KOKKOS_LAMBDA(std::int64_t n, MassRange & found) {
        const double m = sets.mass(sets.place(n));
        found += {m, m, !(m > 0.0) || !Kokkos::isfinite(m)};
      },
      range);
  return range;
}

// A sum of masses as a whole number, in two parts: of 2^-24 and of 2^-48 of a unit that none
// exceeds. The lower part is rounded up, so that the sum is not below the true one.
struct WholeMass {
  std::int64_t upper = 0, lower = 0;

  double times(double unit) const {
    return unit * 0x1p-24 * (static_cast<double>(upper) + 0x1p-24 * static_cast<double>(lower));
  }
};

WholeMass whole_mass(const JoinedSets& sets, double unit) {
  const double parts_per_mass = 0x1p24 / unit;
  WholeMass sum;
  announce_kernel("total mass", sets.count(), {8.0, 5.0});
  Kokkos::parallel_reduce(
      "total mass", sets.count(),
      KOKKOS_LAMBDA(std::int64_t n, std::int64_t & upper, std::int64_t & lower) {
        const double parts = sets.mass(sets.place(n)) * parts_per_mass,
                     whole = Kokkos::floor(parts);
        upper += static_cast<std::int64_t>(whole);
        lower += static_cast<std::int64_t>(Kokkos::floor(0x1p24 * (parts - whole))) + 1;
      },
      sum.upper, sum.lower);
  return sum;
}

void add_clouds(const ParticleSet& set, const Neighbourhood& near, const LevelFrame& frame,
                double quantum, const CellArrays<std::int64_t>& cells) {
  const ParticleColumns p = set.columns();
  const auto blocks = near.blocks;
  const auto places = near.places;
  const double per_quantum = 1.0 / quantum;
  const int N = frame.block_size;
  // A home, a position, a mass and one cell are read, that cell is written. The cloud takes 12
  // operations, the mass 2, each of seven shares 2.
  announce_kernel("deposit", set.count(), {52.0, 28.0});
  Kokkos::parallel_for(
      "deposit", set.count(), KOKKOS_LAMBDA(int n) {
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
            if (pair[0]) add_mass(pair[0], row - right);
            if (pair[1]) add_mass(pair[1], right);
          }
        }
      });
}

// The sums of 2^3 cells into the coarser cells beneath them.
void add_to_parents(const Neighbourhood& near, const mesh::CellRange& children,
                    const CellArrays<std::int64_t>& cells) {
  const auto own = children.blocks;
  const auto parents = near.parents;
  const int N = children.block_size(), half = N / 2, octant = half * half * half;
  const CellArray<std::int64_t> fine = cells.source[k_here];
  // Eight masses are read, and their sum is read and written: of whole numbers.
  announce_kernel("add masses to parents", own.extent(0) * std::int64_t{octant}, {80.0, 0.0});
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
          add_mass(sum, first[((child >> 2) * N + (child >> 1 & 1)) * N + (child & 1)]);
      });
}

}  // namespace

Particles::Measure Particles::measure_masses() const {
  const Communicator& communicator = mesh_.communicator();
  const std::vector<JoinedSets> joined = joined_levels();
  MassRange range;
  for (const JoinedSets& sets : joined) range += range_of(sets);
  enum { k_smallest, k_largest, k_broken, k_count, k_levels };
  std::vector<double> most{-range.smallest, range.largest, static_cast<double>(range.broken),
                           static_cast<double>(count())};
  for (const Level& level : levels_) most.push_back(level.set.count() > 0 ? 1.0 : 0.0);
  communicator.max_in_place(std::span(most));
  const double smallest = -most[k_smallest], largest = most[k_largest];
  if (most[k_broken] != 0.0)
    throw RunError("a {} particle has a mass that is not a positive, finite number", name());
  Measure measure{1.0, {most.begin() + k_levels, most.end()}};
  if (!std::isfinite(smallest)) return measure;  // no particles
  // Most often the total need not be known.
  measure.quantum = quantum_of(smallest, smallest);
  if (quantum_of(smallest, largest * most[k_count] * communicator.size()) == measure.quantum)
    return measure;
  const double unit = std::ldexp(1.0, std::ilogb(largest) + 1);
  WholeMass sum;
  for (const JoinedSets& sets : joined) {
    const WholeMass part = whole_mass(sets, unit);
    sum.upper += part.upper;
    sum.lower += part.lower;
  }
  std::int64_t parts[] = {sum.upper, sum.lower};
  communicator.sum_in_place(std::span<std::int64_t>(parts));
  measure.quantum = quantum_of(smallest, WholeMass{parts[0], parts[1]}.times(unit));
  return measure;
}

CellArray<std::int64_t> Particles::mass_array(int level) const {
  const int N = mesh_.geometry().block_size();
  return {levels_[level].mass.data(), std::int64_t{N} * N * N, 0, 1};
}

void Particles::deposit(int coarsest) {
  OCTANT_REQUIRE(kind_.has_mass, "{} particles have no mass", name());
  const auto [quantum, has_particles] = measure_masses();
  for (int l = coarsest; l <= mesh_.finest_level(); ++l) {
    fill(levels_[l].mass, 0);
    levels_[l].quantum = quantum;
  }
  bool has_mass = false;  // this level, or a finer one
  for (int l = mesh_.finest_level(); l >= coarsest; --l) {
    Level& level = levels_[l];
    const Neighbourhood& near = *level.neighbourhood;
    CellArrays<std::int64_t> cells{};
    cells.source[k_here] = mass_array(l);
    if (l > coarsest) cells.source[k_coarser] = mass_array(l - 1);
    if (has_particles[l]) {
      const auto ghosts = mesh::zeros<std::int64_t>("ghost masses", near.around.ghosts());
      cells.source[k_ghost] = {ghosts.data(), 1};
      add_clouds(level.set, near, LevelFrame(mesh_.geometry(), l), quantum, cells);
      near.around.give_back(ghosts.data(), cells, level.masses);
    }
    has_mass = has_mass || has_particles[l];
    level.has_mass = has_mass;
    if (l == coarsest || !has_mass) continue;
    const auto ghosts = mesh::zeros<std::int64_t>("ghost masses", near.beneath.ghosts());
    cells.source[k_ghost] = {ghosts.data(), 1};
    add_to_parents(near, mesh_.cells(l), cells);
    near.beneath.give_back(ghosts.data(), cells, level.sums);
  }
}

void Particles::add_density(int level, const mesh::BlockField& density) const {
  if (!levels_[level].has_mass) return;
  const CellArray<std::int64_t> mass = mass_array(level);
  const double factor = levels_[level].quantum / mesh_.geometry().cell_volume(level);
  mesh::announce_cells("add density", mesh_.cells(level), {24.0, 2.0});
  mesh::for_cells(
      "add density", mesh_.cells(level), KOKKOS_LAMBDA(const mesh::Cell& cell) {
        *density.at(cell) +=
            factor * static_cast<double>(mass.data[cell.slot * mass.stride_slot + cell.index]);
      });
}

void Particles::flag_cells(int level, int buffer, const DeviceArray<std::uint64_t>& masks) const {
  const CellArray<std::int64_t> mass = mass_array(level);
  const mesh::CellRange cells = mesh_.cells(level);
  const int half = mesh_.geometry().octant_size();
  mesh::join_masks(
      "flag particles", cells, masks, KOKKOS_LAMBDA(const mesh::Cell& cell) {
        if (mass.data[cell.slot * mass.stride_slot + cell.index] == 0) return std::uint64_t{0};
        return mesh::octant_mask(mesh::octants_near(cells.coordinate(cell.index, 0), buffer, half),
                                 mesh::octants_near(cells.coordinate(cell.index, 1), buffer, half),
                                 mesh::octants_near(cells.coordinate(cell.index, 2), buffer, half));
      });
}

}  // namespace octant::particles
