#include "subgrid/ionization/emission.hpp"

#include <algorithm>
#include <cmath>

#include "mesh/launch.hpp"

namespace octant::subgrid::ionization {

namespace {

// Photons emitted by the particles in a cell.
struct CellEmission {
  std::int64_t cell;
  double photons[k_source_groups];
};

// Sums over the particles of each cell, in the order of their ids.
std::vector<CellEmission> by_cell(std::vector<Emitted> emitted) {
  std::sort(emitted.begin(), emitted.end(), [](const Emitted& a, const Emitted& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.id < b.id;
  });
  std::vector<CellEmission> cells;
  for (const Emitted& particle : emitted) {
    if (cells.empty() || cells.back().cell != particle.cell) cells.push_back({particle.cell, {}});
    for (int g = 0; g < k_source_groups; ++g) cells.back().photons[g] += particle.photons[g];
  }
  return cells;
}

// Adds the photons of a group to its variable.
struct AddPhotons {
  mesh::DeviceArray<const CellEmission> cells;
  double* variable;
  double per_volume_and_time;
  int group;

  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    variable[cells(n).cell] += per_volume_and_time * cells(n).photons[group];
  }
};

}  // namespace

std::int64_t cell_of_particle(const SyncPoint& sync, const GasLevel& level, int slot,
                              const std::array<double, 3>& position) {
  const int N = level.layout.block_size;
  const auto corner = sync.mesh.geometry().origin(
      level.number, morton_decode(sync.mesh.blocks(level.number).key(slot)));
  int index = 0;
  for (int d = 2; d >= 0; --d) {
    const auto cell =
        static_cast<int>(std::floor((position[d] - corner[d]) / level.cells.cell_size));
    index = index * N + std::clamp(cell, 0, N - 1);
  }
  return std::int64_t{slot} * level.layout.stride_slot + index;
}

void add_emission(const GasLevel& level, double dt, std::vector<Emitted> emitted,
                  std::span<const int> variables) {
  const auto cells = mesh::to_device("emitted photons", by_cell(std::move(emitted)));
  for (int g = 0; g < std::ssize(variables); ++g)
    mesh::for_items(
        "emitted photons", static_cast<int>(cells.extent(0)),
        AddPhotons{cells, level.blocks + std::int64_t{variables[g]} * level.layout.stride_variable,
                   1.0 / (level.cell_volume * dt), g});
}

}  // namespace octant::subgrid::ionization
