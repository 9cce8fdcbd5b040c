#include "problems/flag_where.hpp"

#include "mesh/device.hpp"

namespace octant::problems {

mesh::DeviceArray<const PlacedBlock> placed_blocks(const mesh::Mesh& mesh, int level) {
  const mesh::TreeLevel& blocks = mesh.blocks(level);
  std::vector<PlacedBlock> placed;
  placed.reserve(blocks.own().size());
  for (const int slot : blocks.own()) {
    const auto corner = mesh.geometry().origin(level, morton_decode(blocks.key(slot)));
    placed.push_back({slot, {corner[0], corner[1], corner[2]}});
  }
  return mesh::to_device("octant::problems::placed_blocks", placed);
}

}  // namespace octant::problems
