// What flows out of the domain: registers of the fluxes through its boundaries.
#pragma once

#include <vector>

#include "mesh/transfer.hpp"
#include "mesh/tree.hpp"

namespace octant::mesh {

// A quarter of a block's face at a boundary of the domain, of leaf cells.
struct DomainFace {
  std::int32_t axis, side;
  std::int32_t slot, first;  // of its block; its lowest cell, (k N + j) N + i
  std::int64_t base;         // of its registers, [variable][b][a]
  double corner[3];          // the lower one, in code length
};

// Those of a level's own blocks at boundaries that are not periodic. They are few, and are counted
// anew with every change of the mesh.
class DomainFaces {
 public:
  // Finds them. In the level's array of registers theirs begin at `begin`.
  void update(const Tree& tree, int level, const BlockLayout& layout, std::int64_t begin);

  const std::vector<DomainFace>& faces() const { return faces_; }  // in the order of own blocks
  std::int64_t doubles() const { return doubles_; }                // of their registers
  // The slots that have such faces, or had them before the last update.
  const std::vector<int>& rewritten() const { return rewritten_; }
  void append_requests(int slot, std::vector<FluxRequest>& requests) const;

 private:
  std::vector<DomainFace> faces_;
  std::vector<FluxRequest> requests_;  // of each face
  std::vector<int> slots_, rewritten_;
  std::vector<int> first_;  // by slot, its first face, or -1; its faces follow one another
  std::vector<int> slot_of_face_;
  std::int64_t doubles_ = 0;
};

}  // namespace octant::mesh
