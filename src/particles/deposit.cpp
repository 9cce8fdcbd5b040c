// Deposition of particle masses as clouds in cells, level by level.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "core/observer.hpp"
#include "mesh/cell_loop.hpp"
#include "mesh/cell_range.hpp"
#include "mesh/flagging.hpp"
#include "mesh/launch.hpp"
#include "particles/cloud.hpp"
#include "particles/masses.hpp"
#include "particles/particles.hpp"

namespace octant::particles {

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
  record_kernel_work("range of masses", sets.count(), {8.0, 0.0});
  MassRange range;
  Kokkos::parallel_reduce(
      "range of masses", sets.count(),
      KOKKOS_LAMBDA(std::int64_t n, MassRange & found) {
        const double m = sets.mass(sets.row(n));
        found += {m, m, !(m > 0.0) || !Kokkos::isfinite(m)};
      },
      range);
  return range;
}

// Sum of masses as an integer in two parts: in 2^-24 and in 2^-48 of a unit that no mass exceeds.
// The lower part is rounded up, so that the sum is not below the true one.
struct WholeMass {
  std::int64_t upper = 0, lower = 0;

  double times(double unit) const {
    return unit * 0x1p-24 * (static_cast<double>(upper) + 0x1p-24 * static_cast<double>(lower));
  }
};

WholeMass whole_mass(const JoinedSets& sets, double unit) {
  const double parts_per_mass = 0x1p24 / unit;
  WholeMass sum;
  record_kernel_work("total mass", sets.count(), {8.0, 5.0});
  Kokkos::parallel_reduce(
      "total mass", sets.count(),
      KOKKOS_LAMBDA(std::int64_t n, std::int64_t & upper, std::int64_t & lower) {
        const double parts = sets.mass(sets.row(n)) * parts_per_mass, whole = Kokkos::floor(parts);
        upper += static_cast<std::int64_t>(whole);
        lower += static_cast<std::int64_t>(Kokkos::floor(0x1p24 * (parts - whole))) + 1;
      },
      sum.upper, sum.lower);
  return sum;
}

// Adds a particle's mass, in quanta, to the cells of its cloud. The mass is split axis by axis:
// lower cells receive the remainder of the upper cells' part. Cells without an address are skipped.
KOKKOS_FORCEINLINE_FUNCTION void add_cloud(std::int64_t whole, const double (&weight)[3],
                                           std::int64_t* const (&cell)[8]) {
  const std::int64_t upper = share(whole, weight[2]);
  for (int c = 0; c < 2; ++c) {
    const std::int64_t layer = c == 0 ? whole - upper : upper;
    const std::int64_t back = share(layer, weight[1]);
    for (int b = 0; b < 2; ++b) {
      const std::int64_t row = b == 0 ? layer - back : back;
      const std::int64_t right = share(row, weight[0]);
      std::int64_t* const* pair = cell + 4 * c + 2 * b;
      if (pair[0]) add_mass(pair[0], row - right);
      if (pair[1]) add_mass(pair[1], right);
    }
  }
}

// Adds the clouds of a level's particles in cells of this level: of the particles assigned to it,
// or of those assigned to the coarser level.
void add_clouds(const ParticleSet& set, const Neighbourhood& near, const LevelFrame& frame,
                double quantum, bool uses_coarser_level, const CellArrays<std::int64_t>& cells) {
  const ParticleColumns p = set.columns();
  const auto blocks = near.blocks;
  const auto locations = near.locations;
  const double per_quantum = 1.0 / quantum;
  const int N = frame.block_size;
  const std::uint8_t wanted = uses_coarser_level ? 1 : 0;
  // Cost: reads a home, a position, a mass and one cell, and writes that cell. The cloud takes 12
  // operations, the mass 2, each of seven weights 2.
  mesh::for_items(
      {"deposit", {52.0, 28.0}}, set.count(), KOKKOS_LAMBDA(int n) {
        if (p.uses_coarser_level[n] != wanted) return;
        const std::int32_t home = p.home[n];
        const double x[3] = {p.position[0][n], p.position[1][n], p.position[2][n]};
        const Cloud cloud = cloud_of(frame, blocks(home), x);
        std::int64_t* cell[8];
        std::int64_t unused[8];
        find_cells(cloud, home, locations.data(), cells, N, cell, unused);
        add_cloud(nearest_quanta(p.mass[n] * per_quantum), cloud.weight, cell);
      });
}

// Adds the clouds of the particles assigned to the next coarser level, in cells of that level.
void add_coarse_clouds(const ParticleSet& set, const Neighbourhood& near, const LevelFrame& coarse,
                       double quantum, const CellArrays<std::int64_t>& cells) {
  const ParticleColumns p = set.columns();
  const auto blocks = near.blocks;
  const auto locations = near.coarse_locations;
  const double per_quantum = 1.0 / quantum;
  const int N = coarse.block_size;
  // Cost: one flag for most particles.
  mesh::for_items(
      {"deposit on coarser level", {1.0, 0.0}}, set.count(), KOKKOS_LAMBDA(int n) {
        if (p.uses_coarser_level[n] == 0) return;
        const std::int32_t home = p.home[n];
        const double x[3] = {p.position[0][n], p.position[1][n], p.position[2][n]};
        const Cloud cloud = coarse_cloud_of(coarse, blocks(home), x);
        std::int64_t* cell[8];
        std::int64_t unused[8];
        find_coarse_cells(cloud, home, locations.data(), cells, N, cell, unused);
        add_cloud(nearest_quanta(p.mass[n] * per_quantum), cloud.weight, cell);
      });
}

constexpr int k_middle_position = 13;  // index of the block itself among the 27 positions around it

// Restriction: adds the sums of 2^3 cells to the coarser cells that contain them.
void add_to_parents(const Neighbourhood& near, const mesh::CellRange& children,
                    const CellArrays<std::int64_t>& cells) {
  const auto own = children.blocks;
  const auto parents = near.coarse_locations;
  const int N = children.block_size(), half = N / 2, octant = half * half * half;
  const CellArray<std::int64_t> fine = cells.source[k_here];
  // Cost: reads eight integer masses; reads and writes their sum.
  mesh::for_items(
      {"add masses to parents", {80.0, 0.0}}, own.extent(0) * std::int64_t{octant},
      KOKKOS_LAMBDA(std::int64_t n) {
        const std::int32_t slot = own(n / octant).slot;
        const auto cell = static_cast<int>(n % octant);
        const int i = 2 * (cell % half), j = 2 * (cell / half % half), k = 2 * (cell / half / half);
        const CellLocation& location = parents(27 * std::int64_t{slot} + k_middle_position);
        const CellArray<std::int64_t>& coarse = cells.source[location.source];
        std::int64_t* sum =
            coarse.data + location.slot * coarse.stride_slot + location.cell(i, j, k);
        const std::int64_t* first = fine.data + slot * fine.stride_slot + (k * N + j) * N + i;
        for (int child = 0; child < 8; ++child)
          add_mass(sum, first[((child >> 2) * N + (child >> 1 & 1)) * N + (child & 1)]);
      });
}

// Restriction that preserves centres of mass, which plain sums would move by up to half a cell:
// along each axis a quarter of a cell's mass goes to the neighbour of the coarser cell that
// contains it. At a wall masses stay in the last cell.
void spread_to_coarser(const Neighbourhood& near, const mesh::CellRange& children,
                       const LevelFrame& coarse, const CellArrays<std::int64_t>& cells) {
  const auto own = children.blocks;
  const auto blocks = near.blocks;
  const auto locations = near.coarse_locations;
  const int N = children.block_size(), half = N / 2, octant = half * half * half;
  const CellArray<std::int64_t> fine = cells.source[k_here];
  // Cost: reads eight masses; reads and writes 27 sums, shared by the cells of a row.
  mesh::for_items(
      {"deposit on coarser cells", {208.0, 76.0}}, own.extent(0) * std::int64_t{octant},
      KOKKOS_LAMBDA(std::int64_t n) {
        const std::int32_t slot = own(n / octant).slot;
        const auto cell = static_cast<int>(n % octant);
        const int at[3] = {cell % half, cell / half % half, cell / half / half};
        const std::int64_t* first =
            fine.data + slot * fine.stride_slot + (2 * at[2] * N + 2 * at[1]) * N + 2 * at[0];
        std::int64_t mass[3][3][3] = {};  // [z][y][x]; the containing cells are in the middle
        std::int64_t any = 0;
        for (int child = 0; child < 8; ++child) {
          const std::int64_t m = first[((child >> 2) * N + (child >> 1 & 1)) * N + (child & 1)];
          mass[child >> 1 & 2][child & 2][child << 1 & 2] = m;
          any |= m;
        }
        if (any == 0) return;
        double below[3], above[3];  // fractions that go to the neighbours
        for (int d = 0; d < 3; ++d) {
          const BlockCoordinate c = blocks(slot).first_cell[d] / 2 + at[d];
          below[d] = c == 0 && !coarse.periodic[d] ? 0.0 : 0.25;
          above[d] = c == coarse.cells[d] - 1 && !coarse.periodic[d] ? 0.0 : 0.25;
        }
        const auto spread = [&](std::int64_t& lower, std::int64_t& middle, std::int64_t& upper,
                                int d) {
          const std::int64_t out_below = share(lower, below[d]), out_above = share(upper, above[d]);
          middle = (lower - out_below) + (upper - out_above);
          lower = out_below;
          upper = out_above;
        };
        for (int k = 0; k < 3; k += 2)
          for (int j = 0; j < 3; j += 2) spread(mass[k][j][0], mass[k][j][1], mass[k][j][2], 0);
        for (int k = 0; k < 3; k += 2)
          for (int i = 0; i < 3; ++i) spread(mass[k][0][i], mass[k][1][i], mass[k][2][i], 1);
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < 3; ++i) spread(mass[0][j][i], mass[1][j][i], mass[2][j][i], 2);
        for (int k = 0; k < 3; ++k)
          for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) {
              if (mass[k][j][i] == 0) continue;
              std::int64_t unused;
              std::int64_t* sum =
                  find_coarse_cell(locations.data() + 27 * std::int64_t{slot}, cells, N,
                                   at[0] + i - 1, at[1] + j - 1, at[2] + k - 1, unused);
              if (sum) add_mass(sum, mass[k][j][i]);
            }
      });
}

// Indices of the terms in own_deposit_reduction_terms(); the flags of the levels follow.
enum MassNumber { k_smallest, k_largest, k_invalid, k_count, k_levels };

}  // namespace

std::vector<double> Particles::deposit_reduction_terms(std::span<const Particles> kinds) {
  std::vector<double> range;
  for (const Particles& kind : kinds) {
    if (!kind.kind_.has_mass) continue;
    const std::vector<double> own = kind.own_deposit_reduction_terms();
    range.insert(range.end(), own.begin(), own.end());
  }
  return range;
}

// Returns this rank's terms; deposit_setup() requires their maxima over all ranks.
std::vector<double> Particles::own_deposit_reduction_terms() const {
  MassRange range;
  for (const JoinedSets& sets : joined_levels()) range += range_of(sets);
  std::vector<double> own{-range.smallest, range.largest, static_cast<double>(range.broken),
                          static_cast<double>(count())};
  for (const Level& level : levels_) own.push_back(level.set.count() > 0 ? 1.0 : 0.0);
  for (const Level& level : levels_) own.push_back(level.any_uses_coarser_level ? 1.0 : 0.0);
  return own;
}

// Chooses the quantum of mass. Collective: requires a further reduction for very heavy kinds.
Particles::DepositSetup Particles::deposit_setup(std::span<const double> maxima) const {
  const Communicator& communicator = mesh_.communicator();
  const double smallest = -maxima[k_smallest], largest = maxima[k_largest];
  if (maxima[k_invalid] != 0.0)
    throw RunError("a {} particle has an invalid mass; expected a positive, finite number", name());
  const auto first_flag = maxima.begin() + k_levels + std::ssize(levels_);
  DepositSetup setup{1.0, {maxima.begin() + k_levels, first_flag}, {first_flag, maxima.end()}};
  if (!std::isfinite(smallest)) return setup;  // true if there are no particles
  // The total mass is needed only if the kind is very heavy.
  setup.quantum = quantum_of(smallest, smallest);
  if (quantum_of(smallest, largest * maxima[k_count] * communicator.size()) == setup.quantum)
    return setup;
  const double unit = std::ldexp(1.0, std::ilogb(largest) + 1);
  WholeMass sum;
  for (const JoinedSets& sets : joined_levels()) {
    const WholeMass part = whole_mass(sets, unit);
    sum.upper += part.upper;
    sum.lower += part.lower;
  }
  std::int64_t parts[] = {sum.upper, sum.lower};
  communicator.sum_in_place(std::span<std::int64_t>(parts));
  setup.quantum = quantum_of(smallest, WholeMass{parts[0], parts[1]}.times(unit));
  return setup;
}

CellArray<std::int64_t> Particles::mass_array(int level) const {
  const int N = mesh_.geometry().block_size();
  return {levels_[level].mass.data(), std::int64_t{N} * N * N, 0, 1};
}

// Deposits the clouds of a level's particles assigned to their own level, or of the others, which
// add nothing to coarser cells.
void Particles::deposit_level(int l, double quantum, bool uses_coarser_level, bool into_coarser) {
  Level& level = levels_[l];
  const Neighbourhood& near = *level.neighbourhood;
  CellArrays<std::int64_t> cells{};
  cells.source[k_here] = mass_array(l);
  if (into_coarser) cells.source[k_coarser] = mass_array(l - 1);
  const auto ghosts = mesh::zeros<std::int64_t>("ghost masses", near.around.ghosts());
  cells.source[k_ghost] = {ghosts.data(), 1};
  add_clouds(level.set, near, LevelFrame(mesh_.geometry(), l), quantum, uses_coarser_level, cells);
  near.around.add_to_owners(ghosts.data(), cells, level.masses);
}

// Deposits a level's masses, and the clouds of its particles assigned to the coarser level, on that
// level.
void Particles::deposit_coarse(int l, double quantum, bool clouds) {
  Level& level = levels_[l];
  const Neighbourhood& near = *level.neighbourhood;
  const LevelFrame coarse(mesh_.geometry(), l - 1);
  CellArrays<std::int64_t> cells{};
  cells.source[k_here] = mass_array(l);
  cells.source[k_coarser] = mass_array(l - 1);
  const auto ghosts = mesh::zeros<std::int64_t>("ghost masses", near.coarse.ghosts());
  cells.source[k_ghost] = {ghosts.data(), 1};
  if (levels_are_separate_) spread_to_coarser(near, mesh_.cells(l), coarse, cells);
  else add_to_parents(near, mesh_.cells(l), cells);
  if (clouds) add_coarse_clouds(level.set, near, coarse, quantum, cells);
  near.coarse.add_to_owners(ghosts.data(), cells, level.sums);
}

void Particles::deposit(std::span<Particles> kinds, int coarsest) {
  std::vector<double> maxima = deposit_reduction_terms(kinds);
  if (maxima.empty()) return;
  kinds.front().communicator().max_in_place(std::span(maxima));
  deposit(kinds, coarsest, maxima);
}

// Removes the maxima of this kind from the front of those of all kinds with mass, and returns them.
std::span<const double> Particles::take_deposit_maxima(std::span<const double>& maxima) const {
  const std::size_t width = k_levels + 2 * levels_.size();
  const auto own = maxima.first(width);
  maxima = maxima.subspan(width);
  return own;
}

void Particles::deposit(std::span<Particles> kinds, int coarsest, std::span<const double> maxima) {
  std::vector<DepositSetup> setups;  // of all kinds before the first deposit, because of errors
  for (const Particles& kind : kinds)
    if (kind.kind_.has_mass) setups.push_back(kind.deposit_setup(kind.take_deposit_maxima(maxima)));
  auto next = setups.begin();
  for (Particles& kind : kinds)
    if (kind.kind_.has_mass) kind.deposit_masses(coarsest, *next++);
}

std::vector<double> Particles::largest_masses(std::span<const Particles> kinds,
                                              std::span<const double> maxima) {
  std::vector<double> masses;
  for (const Particles& kind : kinds)
    masses.push_back(
        kind.kind_.has_mass ? std::max(kind.take_deposit_maxima(maxima)[k_largest], 0.0) : 0.0);
  return masses;
}

void Particles::deposit_masses(int coarsest, const DepositSetup& setup) {
  const auto& [quantum, has_particles, uses_coarser_level] = setup;
  for (int l = coarsest; l <= mesh_.finest_level(); ++l) {
    fill(levels_[l].mass, 0);
    levels_[l].quantum = quantum;
  }
  bool has_mass = false;  // masses in this level or a finer one
  for (int l = mesh_.finest_level(); l >= coarsest; --l) {
    if (has_particles[l]) deposit_level(l, quantum, false, l > coarsest);
    has_mass = has_mass || has_particles[l];
    levels_[l].has_mass = has_mass;
    if (!has_mass) continue;
    if (l > coarsest) deposit_coarse(l, quantum, uses_coarser_level[l]);
    // Called after deposit_coarse(), because these masses are already in the coarser level.
    if (uses_coarser_level[l]) deposit_level(l, quantum, true, false);
  }
}

void Particles::add_density(int level, const mesh::BlockField& density) const {
  if (!levels_[level].has_mass) return;
  const CellArray<std::int64_t> mass = mass_array(level);
  const double factor = levels_[level].quantum / mesh_.geometry().cell_volume(level);
  mesh::record_cells("add density", mesh_.cells(level), {24.0, 2.0});
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

namespace {

// Base block that contains a block, and the arrays of the 27 base blocks around it.
struct BaseHome {
  BlockCoordinate first_cell[3] = {-1, -1, -1};
  std::int32_t array[27] = {};
};

void add_base_clouds_of(const ParticleSet& set, const LevelFrame& base, double quantum,
                        const DeviceArray<const BaseHome>& homes,
                        const DeviceArray<std::int64_t>& masses) {
  const ParticleColumns p = set.columns();
  const int N = base.block_size;
  const double per_quantum = 1.0 / quantum;
  mesh::for_items(
      {"deposit on base level", {52.0, 28.0}}, set.count(), KOKKOS_LAMBDA(int n) {
        const BaseHome& home = homes(p.home[n]);
        int cell[3][2];
        double weight[3];
        for (int d = 0; d < 3; ++d) {
          const double centre = base.in_cells(d, p.position[d][n]) - 0.5;
          const double below = Kokkos::floor(centre);
          weight[d] = centre - below;
          cell[d][0] = static_cast<int>(static_cast<BlockCoordinate>(below) - home.first_cell[d]);
          cell[d][1] = cell[d][0] + 1;
        }
        const auto whole = nearest_quanta(p.mass[n] * per_quantum);
        const auto put = [&](int c, int b, int a, std::int64_t mass) {
          const int at[3] = {cell[0][a], cell[1][b], cell[2][c]};
          int position = 0, index = 0;
          for (int d = 2; d >= 0; --d) {
            position = 3 * position + (at[d] >= 0) + (at[d] >= N);
            index = N * index + (at[d] & (N - 1));
          }
          add_mass(&masses(std::int64_t{home.array[position]} * N * N * N + index), mass);
        };
        const std::int64_t upper = share(whole, weight[2]);
        for (int c = 0; c < 2; ++c) {
          const std::int64_t layer = c == 0 ? whole - upper : upper;
          const std::int64_t back = share(layer, weight[1]);
          for (int b = 0; b < 2; ++b) {
            const std::int64_t row = b == 0 ? layer - back : back;
            const std::int64_t right = share(row, weight[0]);
            put(c, b, 0, row - right);
            put(c, b, 1, right);
          }
        }
      });
}

}  // namespace

void Particles::add_base_clouds(const mesh::BlockField& density) const {
  OCTANT_REQUIRE(mesh_.geometry().periodic(0), "clouds of one size require a periodic domain");
  std::vector<double> maxima = own_deposit_reduction_terms();
  mesh_.communicator().max_in_place(std::span(maxima));
  const double quantum = deposit_setup(maxima).quantum;
  const LevelFrame base(mesh_.geometry(), 0);
  const int N = base.block_size;
  const std::int64_t cells = std::int64_t{N} * N * N;

  KeyTable<std::int32_t> array_of;
  std::vector<Key> keys;
  std::vector<std::vector<BaseHome>> homes(mesh_.finest_level() + 1);
  for (int level = 0; level <= mesh_.finest_level(); ++level) {
    const mesh::TreeLevel& blocks = mesh_.blocks(level);
    homes[level].resize(blocks.slots());
    for (const int slot : blocks.own()) {
      BlockCoordinates block = morton_decode(blocks.key(slot));
      BaseHome& home = homes[level][slot];
      for (int d = 0; d < 3; ++d) {
        block[d] >>= level;
        home.first_cell[d] = block[d] * N;
      }
      const auto around = mesh_.geometry().keys_around(0, morton_encode(block));
      for (int n = 0; n < 27; ++n) {
        const std::int32_t* known = array_of.find(around[n]);
        home.array[n] = known ? *known : static_cast<std::int32_t>(keys.size());
        if (known) continue;
        array_of.insert(around[n], home.array[n]);
        keys.push_back(around[n]);
      }
    }
  }
  const auto masses = mesh::zeros<std::int64_t>("base masses", std::ssize(keys) * cells);
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    add_base_clouds_of(levels_[level].set, base, quantum,
                       mesh::to_device("base homes", homes[level]), masses);

  // Masses of own blocks are sent, too, so that all masses are added in the same way.
  const std::vector<std::int64_t> found = to_vector(TransferKind::numbers, masses);
  std::vector<std::int64_t> sent;
  std::vector<Key> wanted;
  for (std::size_t n = 0; n < keys.size(); ++n) {
    const auto of_block = std::span(found).subspan(n * cells, cells);
    if (std::ranges::all_of(of_block, [](std::int64_t mass) { return mass == 0; })) continue;
    wanted.push_back(keys[n]);
    sent.push_back(static_cast<std::int64_t>(keys[n]));
    sent.insert(sent.end(), of_block.begin(), of_block.end());
  }
  const auto owners = mesh_.tree().owners(0, wanted);
  const auto routed = route_bytes(mesh_.communicator(), owners, std::as_bytes(std::span(sent)),
                                  static_cast<std::size_t>(cells + 1) * sizeof(std::int64_t));
  const auto arrived = items_of<std::int64_t>(routed.items);
  std::vector<std::int64_t> sums(mesh_.blocks(0).slots() * cells, 0);
  for (std::size_t first = 0; first < arrived.size(); first += cells + 1) {
    const mesh::Node* node = mesh_.blocks(0).find(static_cast<Key>(arrived[first]));
    OCTANT_REQUIRE(node && node->slot >= 0, "masses of a base block were sent to the wrong rank");
    for (std::int64_t c = 0; c < cells; ++c) sums[node->slot * cells + c] += arrived[first + 1 + c];
  }
  const auto summed = mesh::to_device("base masses", sums);
  const double factor = quantum / mesh_.geometry().cell_volume(0);
  mesh::record_cells("add density", mesh_.cells(0), {24.0, 2.0});
  mesh::for_cells(
      "add density", mesh_.cells(0), KOKKOS_LAMBDA(const mesh::Cell& cell) {
        *density.at(cell) += factor * static_cast<double>(summed(cell.slot * cells + cell.index));
      });
}

}  // namespace octant::particles
