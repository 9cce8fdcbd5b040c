#include "bench/nested_mesh.hpp"

#include "decomp/partition.hpp"
#include "mesh/flagging.hpp"

namespace octant::bench {

mesh::FlagMasks flag_octants(const mesh::Mesh& mesh, const OctantRule& rule) {
  const mesh::Geometry& geometry = mesh.geometry();
  mesh::FlagMasks flags(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level) {
    const mesh::TreeLevel& blocks = mesh.blocks(level);
    const double side = geometry.cell_size(level) * geometry.octant_size();
    flags[level].assign(blocks.slots(), 0);
    for (const int slot : blocks.own()) {
      const auto corner = geometry.origin(level, morton_decode(blocks.key(slot)));
      for (int octant = 0; octant < 8; ++octant) {
        const std::array<int, 3> place{octant & 1, octant >> 1 & 1, octant >> 2};
        std::array<double, 3> centre;
        for (int d = 0; d < 3; ++d) centre[d] = corner[d] + (place[d] + 0.5) * side;
        if (rule(level, centre))
          flags[level][slot] |= mesh::octant_mask(2u << place[0], 2u << place[1], 2u << place[2]);
      }
    }
  }
  return flags;
}

std::vector<std::vector<int>> equal_parts(const mesh::Mesh& mesh) {
  std::vector<std::vector<int>> owners(mesh.geometry().max_level() + 1);
  for (int level = 0; level <= mesh.finest_level(); ++level) {
    std::vector<CostItem> items;
    for (const int slot : mesh.blocks(level).own())
      items.push_back({morton_decode(mesh.blocks(level).key(slot)), level, 1.0});
    owners[level] =
        partition(Decomposition::ksection, mesh.communicator(), {mesh.geometry().extent(0)}, items);
  }
  return owners;
}

}  // namespace octant::bench
