// Which cells around a block a sweep reads.
#pragma once

namespace octant::mesh {

// A ghost cell is told by its distances beyond the block along x, y and z, 0 where it lies beside
// the block. A star's stencils go along the axes: distances that are read add up to `reach` at
// most. A cube's go along diagonals, too: none of the three exceeds it.
struct GhostShape {
  enum class Kind { star, cube };

  int reach = 2;
  Kind kind = Kind::star;

  // How far along one axis the cells reach whose distances along the other two are these; negative
  // where there are none.
  constexpr int reach_beside(int a, int b) const {
    if (kind == Kind::star) return reach - (a + b);
    return a <= reach && b <= reach ? reach : -1;
  }
  constexpr bool contains(int a, int b, int c) const { return c <= reach_beside(a, b); }
  // How many layers are read of a neighbour across a face (of one axis), an edge (2) or a corner
  // (3).
  constexpr int layers_across(int axes) const {
    return kind == Kind::star ? reach - (axes - 1) : reach;
  }
};

}  // namespace octant::mesh
