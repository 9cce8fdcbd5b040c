#include "subgrid/ionization/stellar_photons.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mesh/launch.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::subgrid::ionization {

namespace {

// Photons of a star, and the place of its cell among the values of a variable of the level.
struct Emitted {
  std::int64_t cell;
  std::uint64_t id;
  StellarRates photons;
};

// Photons of one or several stars in a cell.
struct InCell {
  std::int64_t cell;
  double photons[k_groups];
};

struct IsStar {
  KOKKOS_INLINE_FUNCTION bool operator()(int /*row*/) const { return true; }
};

// Photons that the stars of a level emit over a step.
std::vector<Emitted> photons_of_stars(const SyncPoint& sync, const particles::Particles& stars,
                                      const GasLevel& level, double dt, const StellarTable& table) {
  const particles::ParticleSet& set = stars.set(level.number);
  const auto rows = particles::select_rows(set.count(), IsStar{});
  const auto real = [&](const char* name) {
    return set.reals(particles::k_real_columns + stars.kind().place(name), rows);
  };
  const auto births = real("birth_time"), masses = real("initial_mass"),
             metallicities = real("metallicity");
  const auto ids = set.ids(rows);
  const auto homes = set.homes(rows);
  std::array<std::vector<double>, 3> position;
  for (int d = 0; d < 3; ++d) position[d] = set.reals(particles::k_position + d, rows);

  const int N = level.layout.block_size;
  const double begin = sync.seconds(sync.time), end = sync.seconds(sync.time + dt);
  std::vector<Emitted> emitted;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const double birth = sync.seconds(births[n]);
    StellarRates photons =
        table.photons(std::max(begin - birth, 0.0), std::max(end - birth, 0.0), metallicities[n]);
    if (std::all_of(photons.begin(), photons.end(), [](double number) { return number == 0.0; }))
      continue;
    for (double& number : photons) number *= masses[n] * sync.units.mass;
    const auto corner = sync.mesh.geometry().origin(
        level.number, morton_decode(sync.mesh.blocks(level.number).key(homes[n])));
    int index = 0;
    for (int d = 2; d >= 0; --d) {
      const auto cell =
          static_cast<int>(std::floor((position[d][n] - corner[d]) / level.cells.cell_size));
      index = index * N + std::clamp(cell, 0, N - 1);
    }
    emitted.push_back({homes[n] * level.layout.stride_slot + index, ids[n], photons});
  }
  return emitted;
}

// Sums over the stars of each cell, in the order of their ids.
std::vector<InCell> by_cell(std::vector<Emitted> emitted) {
  std::sort(emitted.begin(), emitted.end(), [](const Emitted& a, const Emitted& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.id < b.id;
  });
  std::vector<InCell> cells;
  for (const Emitted& star : emitted) {
    if (cells.empty() || cells.back().cell != star.cell) cells.push_back({star.cell, {}});
    for (int g = 0; g < k_groups; ++g) cells.back().photons[g] += star.photons[g];
  }
  return cells;
}

// Adds the photons of a group to its variable.
struct AddPhotons {
  mesh::DeviceArray<const InCell> cells;
  double* variable;
  double per_volume_and_time;
  int group;

  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    variable[cells(n).cell] += per_volume_and_time * cells(n).photons[group];
  }
};

}  // namespace

void emit_from_stars(const SyncPoint& sync, double dt, const StellarTable& table,
                     std::span<const int> variables) {
  const particles::Particles& all = sync.kind(stars().name);
  for (const GasLevel& level : sync.levels) {
    const auto emitted = photons_of_stars(sync, all, level, dt, table);
    const auto cells = mesh::to_device("photons of stars", by_cell(emitted));
    for (int g = 0; g < std::ssize(variables); ++g)
      mesh::for_items(
          "photons of stars", static_cast<int>(cells.extent(0)),
          AddPhotons{cells,
                     level.blocks + std::int64_t{variables[g]} * level.layout.stride_variable,
                     1.0 / (level.cell_volume * dt), g});
  }
}

}  // namespace octant::subgrid::ionization
