// Flux registers for faces on the boundaries of the domain.
#pragma once

#include <vector>

#include "mesh/transfer.hpp"
#include "mesh/tree.hpp"

namespace octant::mesh {

// Returns the request for the fluxes through a quarter of a block's face: the lower (0) or upper
// (1) side of an octant along an axis, one cell face per value, [variable][b][a]. The caller sets
// the register (`base`).
inline FluxRegisterFaces quarter_face(const BlockLayout& layout, int axis, int octant, int side) {
  const int half = layout.block_size / 2;
  const auto face = [&](int along, int end) {
    return static_cast<std::int16_t>(((octant >> along & 1) + end) * half);
  };
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  return {.axis = static_cast<std::int8_t>(axis),
          .average = 0,
          .plane = face(axis, side),
          .a_begin = face(a, 0),
          .a_end = face(a, 1),
          .b_begin = face(b, 0),
          .b_end = face(b, 1),
          .stride_b = half,
          .stride_variable = half * half,
          .base = 0};
}

// Quarter of a block's face that lies on a boundary of the domain and adjoins leaf cells.
struct DomainFace {
  std::int32_t axis, side;
  // slot of the block, and index (k N + j) N + i of the lowest cell at the face
  std::int32_t slot, first;
  std::int64_t base;  // offset of the flux register, [variable][b][a]
  double corner[3];   // lower corner of the quarter, in code length
};

// Faces of a level's own blocks on non-periodic boundaries. The list is short and is rebuilt after
// every regridding and migration.
class DomainFaces {
 public:
  // Rebuilds the list. The registers begin at offset `begin` in the level's array of registers.
  void update(const Tree& tree, int level, const BlockLayout& layout, std::int64_t begin);

  const std::vector<DomainFace>& faces() const { return faces_; }  // in the order of own blocks
  std::int64_t doubles() const { return doubles_; }  // size of all registers, in doubles
  // Slots of blocks that have faces on boundaries, or had them before the last update.
  const std::vector<int>& rewritten() const { return rewritten_; }
  // Appends the flux requests of the block in a slot.
  void append_requests(int slot, std::vector<FluxRegisterFaces>& requests) const;

 private:
  std::vector<DomainFace> faces_;
  std::vector<FluxRegisterFaces> requests_;  // one per face
  std::vector<int> slots_, rewritten_;
  std::vector<int> first_;  // by slot: index of the first of its consecutive faces, or -1
  std::vector<int> slot_of_face_;
  std::int64_t doubles_ = 0;
};

}  // namespace octant::mesh
