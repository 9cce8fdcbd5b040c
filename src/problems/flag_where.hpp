// Refinement by the user's own code: flags the cells of a level for which a predicate of their
// position holds. An example is Sedov::flag_cells in problems/sedov.cpp.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include "mesh/mesh.hpp"

namespace octant::problems {

// The centre of a cell, in code length, on the device.
using DevicePosition = Kokkos::Array<double, 3>;

// A block that this rank owns, and its lower corner.
struct PlacedBlock {
  std::int32_t slot;
  DevicePosition corner;
};

// The own blocks of a level, in the order of their keys.
mesh::DeviceArray<const PlacedBlock> placed_blocks(const mesh::Mesh& mesh, int level);

// Sets, in masks[slot] of every own block, the bits of the block's octants in which the predicate
// holds for the centre of any cell (for the layout of masks see hydro/refinement.hpp). The
// predicate runs on the device: bool(const DevicePosition&), a KOKKOS_LAMBDA that captures plain
// values. Other bits stay.
template <class Predicate>
void flag_where(const mesh::Mesh& mesh, int level, const mesh::DeviceArray<std::uint64_t>& masks,
                const Predicate& predicate) {
  const auto blocks = placed_blocks(mesh, level);
  const double cell = mesh.geometry().cell_size(level);
  const int cells = mesh.geometry().octant_size();
  Kokkos::parallel_for(
      "octant::problems::flag_where", 8 * blocks.extent(0), KOKKOS_LAMBDA(const std::size_t n) {
        const PlacedBlock& block = blocks(n / 8);
        const int octant[3] = {static_cast<int>(n & 1), static_cast<int>(n >> 1 & 1),
                               static_cast<int>(n >> 2 & 1)};
        bool flagged = false;
        for (int k = 0; k < cells; ++k)
          for (int j = 0; j < cells; ++j)
            for (int i = 0; i < cells; ++i)
              flagged = flagged || predicate(DevicePosition{
                                       block.corner[0] + (octant[0] * cells + i + 0.5) * cell,
                                       block.corner[1] + (octant[1] * cells + j + 0.5) * cell,
                                       block.corner[2] + (octant[2] * cells + k + 0.5) * cell});
        const int bit = (octant[0] + 1) + 4 * (octant[1] + 1) + 16 * (octant[2] + 1);
        if (flagged) Kokkos::atomic_or(&masks(block.slot), std::uint64_t{1} << bit);
      });
}

}  // namespace octant::problems
