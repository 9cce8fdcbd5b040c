#include "subgrid/black_holes/black_holes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "comm/route.hpp"
#include "core/memory_transfer.hpp"
#include "mesh/launch.hpp"
#include "particles/particle_halo.hpp"

namespace octant::subgrid {

namespace {

// Maximum fraction of a cell's gas that becomes a seed.
constexpr double k_max_gas_fraction = 0.5;

struct Eligible {
  GasLevel level;
  double min_density;  // minimum gas density
  const std::int64_t* stars;
  double star_quantum, min_stars;  // mass; minimum stellar mass in a cell
  double seed, jeans;              // mass; marginally stable c_s^2 at density 1

  KOKKOS_INLINE_FUNCTION bool operator()(const mesh::Cell& at) const {
    const hydro::GasCell gas = level.at(at);
    const double density = gas.density();
    if (!(density > min_density)) return false;
    if (density * level.cell_volume * k_max_gas_fraction < seed) return false;
    if (stars != nullptr) {
      const std::int64_t cell = std::int64_t{at.slot} * level.cells.cells_per_block() + at.index;
      if (!(star_quantum * static_cast<double>(stars[cell]) > min_stars)) return false;
    }
    return level.gas.gamma * gas.pressure() < jeans * density * density;
  }
};

// Seeding site: the densest cell of a block.
struct Candidate {
  double density;
  std::uint64_t key;  // key of the cell, unique in the domain
  std::array<double, 3> position;
  std::int32_t number;  // index on its rank

  bool operator<(const Candidate& other) const {
    return density != other.density ? density > other.density : key < other.key;
  }
};

struct Densities {
  GasLevel level;
  mesh::DeviceArray<const mesh::Cell> cells;
  mesh::DeviceArray<double> density;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    density(n) = level.at(cells(n)).density();
  }
};

// Quantities that a seed takes from its cell.
struct Birth {
  double velocity[3], momentum[3], metals, energy;
};

struct RemoveSeedMass {
  GasLevel level;
  double seed;
  int variables, metals;
  mesh::DeviceArray<const mesh::Cell> cells;
  mesh::DeviceArray<Birth> births;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    const hydro::GasCell gas = level.at(cells(n));
    Birth& birth = births(n);
    for (int d = 0; d < 3; ++d) {
      birth.velocity[d] = gas.velocity(d);
      birth.momentum[d] = seed * birth.velocity[d];
    }
    birth.energy = seed * gas[hydro::k_energy] / gas.density();
    birth.metals = metals >= 0 ? seed * gas[metals] / gas.density() : 0.0;
    gas.take(seed / (gas.density() * level.cell_volume), variables);
  }
};

double squared(const mesh::Geometry& geometry, const std::array<double, 3>& a,
               const std::array<double, 3>& b) {
  double sum = 0.0;
  for (const double displacement : mesh::nearest_image(geometry, a, b))
    sum += displacement * displacement;
  return sum;
}

Eligible conditions(const HoleStep& step, const GasLevel& level, double seed) {
  const BlackHoleOptions& options = step.options;
  const double dx = level.cells.cell_size;
  Eligible eligible{level, options.gas_density / step.hydrogen(), nullptr, 0.0, 0.0, seed,
                    // Jeans length below four cells (Truelove et al. 1997).
                    16.0 * dx * dx * step.gravity / M_PI};
  if (options.star_density > 0.0) {
    const particles::Particles& stars = step.sync.kind("stars");
    eligible.stars = stars.mass(level.number).data();
    eligible.star_quantum = stars.quantum(level.number);
    eligible.min_stars = options.star_density / step.hydrogen() * level.cell_volume;
  }
  return eligible;
}

// Returns the densest eligible cell of each block.
std::vector<mesh::Cell> densest_by_block(const GasLevel& level, const std::vector<mesh::Cell>& all,
                                         std::vector<double>& densities) {
  if (all.empty()) return {};
  const Densities kernel{
      level, mesh::to_device("cells", all),
      mesh::uninitialised<double>("densities", static_cast<std::int64_t>(all.size()))};
  mesh::for_items("densities", std::ssize(all), kernel);
  const auto found = on_host(TransferKind::lists, kernel.density);
  std::vector<mesh::Cell> densest;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const bool same = !densest.empty() && densest.back().block_index == all[n].block_index;
    if (same && found(n) <= densities.back()) continue;
    if (same) densest.back() = all[n], densities.back() = found(n);
    else densest.push_back(all[n]), densities.push_back(found(n));
  }
  return densest;
}

// Returns the candidates that are far from all existing black holes.
std::vector<Candidate> far_from_holes(const HoleStep& step, std::vector<Candidate> candidates,
                                      double exclusion) {
  if (exclusion == 0.0) return candidates;
  const particles::Particles& sinks = step.sync.kind("sinks");
  std::vector<std::int64_t> all(sinks.count());
  std::iota(all.begin(), all.end(), 0);
  const particles::ParticleHalo halo(sinks, all, exclusion);
  const mesh::Geometry& geometry = step.sync.mesh.geometry();
  std::erase_if(candidates, [&](const Candidate& candidate) {
    const auto& places = halo.particles().position;
    return std::any_of(places.begin(), places.end(), [&](const auto& place) {
      return squared(geometry, candidate.position, place) <= exclusion * exclusion;
    });
  });
  return candidates;
}

// Rank 0 visits the candidates of all ranks in order of decreasing density and accepts those that
// are far from all accepted before. Returns the indices of this rank's accepted candidates, or
// nothing, on all ranks, if none is accepted on any rank.
std::optional<std::vector<std::int32_t>> choose(const HoleStep& step,
                                                const std::vector<Candidate>& own,
                                                double exclusion) {
  const mesh::Geometry& geometry = step.sync.mesh.geometry();
  const Communicator& communicator = step.sync.mesh.communicator();
  const std::vector<int> to_root(own.size(), 0);
  const auto all =
      route(communicator, std::span<const int>(to_root), std::span<const Candidate>(own));
  std::vector<std::size_t> order(all.items.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return all.items[a] < all.items[b]; });
  std::vector<Candidate> taken;
  std::vector<int> ranks;
  for (const std::size_t n : order) {
    const Candidate& candidate = all.items[n];
    if (std::any_of(taken.begin(), taken.end(), [&](const Candidate& other) {
          return squared(geometry, candidate.position, other.position) <= exclusion * exclusion;
        }))
      continue;
    taken.push_back(candidate);
    ranks.push_back(all.sources[n]);
  }
  std::int64_t any_taken = taken.empty() ? 0 : 1;
  const auto back = route(communicator, std::span<const int>(ranks),
                          std::span<const Candidate>(taken), any_taken);
  if (any_taken == 0) return std::nullopt;
  std::vector<std::int32_t> numbers;
  for (const Candidate& candidate : back.items) numbers.push_back(candidate.number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Candidates from cells and their densities; keys are cell coordinates and independent of the rank.
std::vector<Candidate> candidates_in(const GasLevel& level, const mesh::Geometry& geometry,
                                     const std::vector<mesh::Cell>& cells,
                                     const std::vector<double>& densities) {
  std::vector<Candidate> candidates;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    const mesh::DevicePosition centre = level.cells.centre(cells[n]);
    Candidate candidate{densities[n], 0, {}, static_cast<std::int32_t>(n)};
    for (int d = 0; d < 3; ++d) {
      candidate.position[d] = centre[d];
      candidate.key =
          candidate.key << 21 |
          static_cast<std::uint64_t>((centre[d] - geometry.lower()[d]) / level.cells.cell_size);
    }
    candidates.push_back(candidate);
  }
  return candidates;
}

// Minimum distance between a new and an existing black hole: less than half the box.
double exclusion_radius(const HoleStep& step) {
  const mesh::Geometry& geometry = step.sync.mesh.geometry();
  double shortest = geometry.upper()[0] - geometry.lower()[0];
  for (int d = 1; d < 3; ++d)
    shortest = std::min(shortest, geometry.upper()[d] - geometry.lower()[d]);
  return std::min(step.options.exclusion * 1e3 * constants::k_parsec / step.sync.units.length,
                  0.499 * shortest);
}

// Removes the seed mass from each cell and records it in the ledger.
std::vector<Hole> remove_seed_mass(const HoleStep& step, const GasLevel& level, double seed,
                                   const std::vector<mesh::Cell>& cells) {
  const auto count = static_cast<std::int64_t>(cells.size());
  const RemoveSeedMass kernel{level,
                              seed,
                              step.variables,
                              step.target.metals,
                              mesh::to_device("collapsing cells", cells),
                              mesh::uninitialised<Birth>("seeded black holes", count)};
  mesh::for_items("take seeds", count, kernel);
  const auto births = on_host(TransferKind::lists, kernel.births);
  std::vector<Hole> born;
  for (std::int64_t n = 0; n < count; ++n) {
    const Birth& birth = births(n);
    const mesh::DevicePosition centre = level.cells.centre(cells[n]);
    Hole& hole = born.emplace_back();
    hole.mass = seed;
    hole.birth_time = step.sync.time;
    hole.birth_scale_factor = step.sync.scale_factor;
    for (int d = 0; d < 3; ++d) {
      hole.position[d] = centre[d];
      hole.velocity[d] = birth.velocity[d];
    }
    step.ledger["seeds"] += seed;
    step.ledger["metals"] += birth.metals;
    step.enter_momentum({birth.momentum[0], birth.momentum[1], birth.momentum[2]});
    step.ledger["accreted_energy"] += birth.energy - kinetic_energy(seed, hole.velocity);
  }
  return born;
}

}  // namespace

bool form_holes(const HoleStep& step) {
  const double seed = step.options.seed_mass * step.solar_mass();
  if (seed == 0.0) return false;
  const Communicator& communicator = step.sync.mesh.communicator();
  const GasLevel& level = step.sync.levels.back();
  // Seeds form only in cells of the finest level allowed now.
  if (level.cells.cell_size > 1.5 * step.finest_cell) return false;
  std::vector<double> densities;
  const std::vector<mesh::Cell> cells = densest_by_block(
      level, mesh::find_cells("gas that may collapse", level.cells, conditions(step, level, seed)),
      densities);
  if (!communicator.any(!cells.empty())) return false;
  const double exclusion = exclusion_radius(step);
  const auto candidates = candidates_in(level, step.sync.mesh.geometry(), cells, densities);
  const auto numbers = choose(step, far_from_holes(step, candidates, exclusion), exclusion);
  if (!numbers) return false;
  std::vector<mesh::Cell> chosen;
  for (const std::int32_t n : *numbers) chosen.push_back(cells[n]);
  particles::ParticleBatch batch = batch_of(remove_seed_mass(step, level, seed, chosen));
  batch.id.clear();
  step.sync.kind("sinks").create(std::move(batch));
  return true;
}

}  // namespace octant::subgrid
