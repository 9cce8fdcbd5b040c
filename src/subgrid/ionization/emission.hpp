// Emission of photons by particles into the cells that contain them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "subgrid/ionization/ionized_gas.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid::ionization {

// Photons in each group of sources, the optical one last.
using PhotonNumbers = std::array<double, k_source_groups>;

// Photons of a particle, and the position of its cell among the values of a variable of the level.
struct Emitted {
  std::int64_t cell;
  std::uint64_t id;
  PhotonNumbers photons;
};

// Position, among the values of a variable of a level, of the cell that contains a particle in the
// block with this slot.
std::int64_t cell_of_particle(const SyncPoint& sync, const GasLevel& level, int slot,
                              const std::array<double, 3>& position);

// Adds the photons that particles of one kind emit during `dt` to their cells on a level, in the
// order of the particles' ids. `variables`: index of the emission of each group, in photons per
// volume and time. Local.
void add_emission(const GasLevel& level, double dt, std::vector<Emitted> emitted,
                  std::span<const int> variables);

}  // namespace octant::subgrid::ionization
