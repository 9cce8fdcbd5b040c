#include "mesh/domain_faces.hpp"

namespace octant::mesh {

namespace {

// Calls visit(slot, axis, side, octant) for all of them.
template <class Visit>
void for_domain_faces(const Tree& tree, int level, const Visit& visit) {
  const TreeLevel& blocks = tree.level(level);
  for (const int slot : blocks.own()) {
    const auto around = tree.geometry().keys_around(level, blocks.key(slot));
    for (int face = 0; face < 6; ++face) {
      if (around[k_face_neighbours[face]] != k_no_key) continue;
      const int axis = face / 2, side = face % 2;
      for (int octant = 0; octant < 8; ++octant)
        if ((octant >> axis & 1) == side && !(blocks.refined(slot) >> octant & 1))
          visit(slot, axis, side, octant);
    }
  }
}

}  // namespace

void request_domain_fluxes(const Tree& tree, int level, const BlockLayout& layout,
                           LevelRegisters& registers) {
  const auto half = static_cast<std::int16_t>(layout.block_size / 2);
  for_domain_faces(tree, level, [&](int slot, int axis, int side, int octant) {
    const auto begin = [&](int along) {
      return static_cast<std::int16_t>((octant >> along & 1) * half);
    };
    const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
    registers.requests.push_back({slot,
                                  {.axis = static_cast<std::int8_t>(axis),
                                   .average = 0,
                                   .plane = static_cast<std::int16_t>(side * layout.block_size),
                                   .a_begin = begin(a),
                                   .a_end = static_cast<std::int16_t>(begin(a) + half),
                                   .b_begin = begin(b),
                                   .b_end = static_cast<std::int16_t>(begin(b) + half),
                                   .stride_b = half,
                                   .stride_variable = half * half,
                                   .base = registers.doubles}});
    registers.doubles += std::int64_t{half} * half * layout.variables;
  });
}

std::vector<DomainFace> domain_faces(const Mesh& mesh, int level) {
  const BlockLayout& layout = mesh.layout();
  const int half = layout.block_size / 2;
  const double dx = mesh.geometry().cell_size(level);
  std::vector<DomainFace> faces;
  std::int64_t base = 0;
  for_domain_faces(mesh.tree(), level, [&](int slot, int axis, int side, int octant) {
    const auto origin = mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
    DomainFace face{axis, side, base, {origin[0], origin[1], origin[2]}};
    for (int d = 0; d < 3; ++d)
      face.corner[d] += (d == axis ? 2 * side : octant >> d & 1) * half * dx;
    faces.push_back(face);
    base += std::int64_t{half} * half * layout.variables;
  });
  return faces;
}

}  // namespace octant::mesh
