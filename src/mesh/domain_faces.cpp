#include "mesh/domain_faces.hpp"

namespace octant::mesh {

void DomainFaces::update(const Tree& tree, int level, const BlockLayout& layout,
                         std::int64_t begin) {
  const Geometry& geometry = tree.geometry();
  rewritten_ = slots_;
  for (const int slot : slots_) first_[slot] = -1;
  slots_.clear();
  faces_.clear();
  requests_.clear();
  slot_of_face_.clear();
  doubles_ = 0;
  if (geometry.periodic(0) && geometry.periodic(1) && geometry.periodic(2)) return;

  const TreeLevel& blocks = tree.level(level);
  first_.resize(blocks.slots(), -1);
  const int half = layout.block_size / 2;
  const double dx = geometry.cell_size(level);
  for (const int slot : blocks.own()) {
    const auto around = geometry.keys_around(level, blocks.key(slot));
    const auto origin = geometry.origin(level, morton_decode(blocks.key(slot)));
    for (int f = 0; f < 6; ++f) {
      if (around[k_face_neighbours[f]] != k_no_key) continue;
      const int axis = f / 2, side = f % 2;
      for (int octant = 0; octant < 8; ++octant) {
        if ((octant >> axis & 1) != side || (blocks.refined(slot) >> octant & 1)) continue;
        if (first_[slot] < 0) {
          first_[slot] = static_cast<int>(faces_.size());
          slots_.push_back(slot);
        }
        DomainFace face{axis, side, slot, 0, begin + doubles_, {origin[0], origin[1], origin[2]}};
        for (int d = 2; d >= 0; --d) {
          const int first = d == axis ? side * (layout.block_size - 1) : (octant >> d & 1) * half;
          face.first = face.first * layout.block_size + first;
          face.corner[d] += ((octant >> d & 1) + (d == axis ? side : 0)) * half * dx;
        }
        faces_.push_back(face);
        slot_of_face_.push_back(slot);
        requests_.push_back(quarter_face(layout, axis, octant, side));
        requests_.back().base = face.base;
        doubles_ += std::int64_t{half} * half * layout.variables;
      }
    }
  }
  rewritten_.insert(rewritten_.end(), slots_.begin(), slots_.end());
}

void DomainFaces::append_requests(int slot, std::vector<FluxRegisterFaces>& requests) const {
  if (slot >= std::ssize(first_) || first_[slot] < 0) return;
  for (int n = first_[slot]; n < std::ssize(requests_) && slot_of_face_[n] == slot; ++n)
    requests.push_back(requests_[n]);
}

}  // namespace octant::mesh
