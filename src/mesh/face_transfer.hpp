// Mesh operations of constrained transport for face-centred vector fields on the octree: ghost
// faces, prolongation, restriction, and the electromotive forces at coarse-fine boundaries.
//
// Constrained transport (Evans & Hawley 1988) advances face means b of a field with div b = 0 by
// the circulation of edge means e of the electromotive force,
//   b_x -= dt/dx [(e_z(j+1) - e_z(j)) - (e_y(k+1) - e_y(k))]     and cyclic,
// which preserves the divergence of every cell to rounding error if each edge has one value.
//
// Storage. A block stores all N + 1 faces per axis and two layers of ghost faces. A face between
// two blocks is stored by both. The two copies stay bitwise equal because the same kernel evaluates
// the same expressions with the same values for both (on processors without contraction to fused
// operations): a ghost face is a function of level, face and the field alone, never of the block
// that reads it. When ghosts are filled, the copy of the upper block overwrites that of the lower
// block, so that a difference could not persist.
//
// Coarse-fine boundaries, in the order of a step:
//  1. Ghost faces are prolonged from the coarser level, one coarse cell at a time. Faces of
//     existing fine blocks, including those on the boundary, are kept.
//  2. The force on a coarse edge that fine edges cover is replaced, in every block that stores the
//     edge, by e_c = sum_steps (dt_f / dt_c) (e_1 + e_2) / 2 (Berger & Colella 1989; Balsara 2001;
//     Fromang, Hennebelle & Teyssier 2006, A&A 457, 371). A level that was already advanced is
//     advanced again from its old state with the replaced forces.
//  3. A coarse face covered by fine faces is set to their mean. Because of step 2 this changes it
//     by rounding errors only, so that coarse cells at the boundary keep their divergence.
// New blocks are prolonged as in step 1. Parents of removed blocks hold the means from step 3.
#pragma once

#include <span>
#include <vector>

#include "mesh/box_messages.hpp"
#include "mesh/interpolation.hpp"
#include "mesh/mesh.hpp"
#include "mesh/staggered_field.hpp"

namespace octant::mesh {

// Divergence-preserving prolongation of one coarse cell to its 2^3 children (Tóth & Roe 2002, J.
// Comput. Phys. 180, 736).
//
// Fine faces on a coarse face take the coarse value plus its slopes along the face, so that their
// mean is the coarse value. With the 24 outer fine faces b_d(s) given, s in {-1, 1}^3 and s_d the
// side of the cell, the 12 inner faces of component d at (s_e, s_f) are
//   b_d = (b_d(s_d = -1) + b_d(s_d = 1)) / 2 + Q_d + s_f M_e + s_e M_f
//   Q_d = sum_s s_d (s_e b_e(s) + s_f b_f(s)) / 8,   M_e = sum_s s_x s_y s_z b_e(s) / 16
// for cubic cells. Every child then has the divergence of the coarse cell, as given by the outer
// faces, for any outer values: values of existing fine faces can be kept (Balsara 2001, J.
// Comput. Phys. 174, 614).

// Slopes along coarse faces. Both options are exact for linear fields; minmod creates no new
// extrema.
enum class FaceSlope { central, minmod };
// Names of the slopes.
constexpr auto names_of(FaceSlope) { return std::array{"central", "minmod"}; }

// First axis along a face with normal `axis`, in ascending order.
KOKKOS_FORCEINLINE_FUNCTION constexpr int first_transverse(int axis) { return axis == 0 ? 1 : 0; }
// Second axis along a face with normal `axis`, in ascending order.
KOKKOS_FORCEINLINE_FUNCTION constexpr int second_transverse(int axis) { return axis == 2 ? 1 : 2; }

// Fine faces of a coarse cell. Indices a and b are along the first and second transverse axis.
struct RefinedCell {
  double outer[3][2][2][2];  // [normal][side][b][a]
  double inner[3][2][2];     // [normal][b][a]

  // The outer value of component `d` at the corner (x, y, z) of the cell, each 0 or 1.
  KOKKOS_FORCEINLINE_FUNCTION double at_corner(int d, const int (&corner)[3]) const {
    return outer[d][corner[d]][corner[second_transverse(d)]][corner[first_transverse(d)]];
  }

  // Computes the inner faces from the outer ones by the formula at FaceSlope.
  KOKKOS_INLINE_FUNCTION void fill_inner() {
    double quadratic[3] = {}, mixed[3] = {};
    for (int n = 0; n < 8; ++n) {
      const int corner[3] = {n & 1, n >> 1 & 1, n >> 2 & 1};
      const int sign[3] = {2 * corner[0] - 1, 2 * corner[1] - 1, 2 * corner[2] - 1};
      for (int e = 0; e < 3; ++e) {
        const double value = at_corner(e, corner);
        for (int d = 0; d < 3; ++d)
          if (d != e) quadratic[d] += 0.125 * (sign[d] * sign[e]) * value;
        mixed[e] += 0.0625 * (sign[0] * sign[1] * sign[2]) * value;
      }
    }
    for (int d = 0; d < 3; ++d)
      for (int b = 0; b < 2; ++b)
        for (int a = 0; a < 2; ++a)
          inner[d][b][a] = 0.5 * (outer[d][0][b][a] + outer[d][1][b][a]) + quadratic[d] +
                           (2 * b - 1) * mixed[first_transverse(d)] +
                           (2 * a - 1) * mixed[second_transverse(d)];
  }
};

// Slope along a coarse face from three adjacent values, per coarse cell width.
KOKKOS_FORCEINLINE_FUNCTION double face_slope(FaceSlope slope, double below, double value,
                                              double above) {
  return slope == FaceSlope::minmod ? minmod(value - below, above - value) : 0.5 * (above - below);
}

// Prolongs the coarse face of component `d` at `point` to its four fine faces, [b][a].
KOKKOS_INLINE_FUNCTION void refine_face(const StaggeredView& coarse, int slot, int d,
                                        const int (&point)[3], FaceSlope slope,
                                        double (&fine)[2][2]) {
  const double value = coarse(slot, d, point);
  double quarter[2];
  for (int t = 0; t < 2; ++t) {
    const int axis = t == 0 ? first_transverse(d) : second_transverse(d);
    int below[3] = {point[0], point[1], point[2]}, above[3] = {point[0], point[1], point[2]};
    --below[axis];
    ++above[axis];
    quarter[t] = 0.25 * face_slope(slope, coarse(slot, d, below), value, coarse(slot, d, above));
  }
  for (int b = 0; b < 2; ++b)
    for (int a = 0; a < 2; ++a)
      fine[b][a] = (value + (2 * a - 1) * quarter[0]) + (2 * b - 1) * quarter[1];
}

// Block with ghost cells that are not covered by blocks of the same level.
struct OpenBlock {
  std::int32_t slot;
  Positions known, outside;  // masks of positions with known faces, and beyond the domain
};

// A side of a block on a boundary of the domain.
struct BoundarySide {
  std::int32_t slot, side;  // side 0: lower, 1: upper
  std::int32_t reflects;    // 1: reflecting wall; 0: the outermost values are extended
};

// Transfer of face- and edge-centred fields of a mesh between blocks, ranks and levels. Functions
// are collective unless they say otherwise.
class FaceTransfer {
 public:
  static constexpr int k_ghosts = 2;  // number of ghost layers, which cover one coarse cell

  // Throws InputError for blocks with fewer than 4 cells along an axis, whose ghost faces depend on
  // more than the adjacent blocks. The mesh must outlive this object.
  FaceTransfer(const Mesh& mesh, const CommOptions& options, FaceSlope slope = FaceSlope::central);

  // Creates a field of zeros for the own blocks. Edge fields have no ghosts. Local.
  StaggeredField make_field(FieldInfo info) const;

  // Updates tables and fields after a change of the mesh's structure (regrid, migrate). The values
  // of `fields`, which are face-centred, migrate with their blocks, and new blocks are prolonged.
  // All other fields must be created again.
  void follow(std::span<StaggeredField* const> fields);

  // Fills the ghost faces of a level. The ghosts of the coarser level must already be filled.
  void fill_ghosts(int level, const StaggeredField& faces) { fill_ghosts(level, faces, faces, 1); }
  // Fills the ghost faces. The coarser level is interpolated in time between two states, with theta
  // from 0 (`earlier`) to 1 (`faces`).
  void fill_ghosts(int level, const StaggeredField& faces, const StaggeredField& earlier,
                   double theta);

  // Replaces coarse faces by the mean of the fine faces that cover them.
  void restrict_faces(int fine_level, const StaggeredField& faces);

  // Sets the register of fine electromotive forces to zero. Local.
  void clear_forces(int fine_level);
  // Adds fine forces to the register. `weight` is the fraction of the coarse step; the weights add
  // up to 1 between clear_forces() and restrict_emfs(). Local.
  void add_forces(int fine_level, const StaggeredField& forces, double weight);
  // Replaces forces on coarse edges covered by fine edges by those in the register.
  void restrict_emfs(int fine_level, const StaggeredField& forces);

  // Sets faces = old - dt curl(forces) on own blocks; `old` may be the same field. Local.
  void advance(int level, const StaggeredField& faces, const StaggeredField& old,
               const StaggeredField& forces, double dt) const;

 private:
  struct Level {
    BoxMessages ghosts;         // ghost faces between blocks of the level
    BoxMessages patches;        // coarse faces from the coarser level around own blocks
    BoxMessages faces, forces;  // restricted faces and forces, sent to the coarser level
    DeviceArray<const OpenBlock> open;
    DeviceArray<const BoundarySide> sides[3];  // by axis
    std::vector<Key> keys;                     // by slot, at the last follow()
  };

  const TreeLevel& blocks(int level) const { return mesh_.blocks(level); }
  std::vector<BoxCopy> ghost_copies(int level, const std::vector<bool>& is_source,
                                    bool both_sides) const;
  std::vector<BoxCopy> patch_copies(int level) const;
  std::vector<BoxCopy> restriction_copies(int level, Centring centring) const;
  std::vector<bool> move_blocks(int level, std::span<StaggeredField* const> fields);
  void prolong_new_blocks(int level, const std::vector<bool>& is_filled,
                          const StaggeredField& faces);
  void fill_open(int level, const StaggeredField& faces, const StaggeredField& earlier,
                 double theta, const DeviceArray<const OpenBlock>& open);
  Positions outside(int level, int slot) const;
  void build_tables(int level);

  const Mesh& mesh_;
  FaceSlope slope_;
  int block_size_;
  std::vector<Level> levels_;
  std::vector<Exchanger> ghost_exchangers_, coarse_exchangers_;  // by level
  Exchanger migration_;
  StaggeredField patches_;     // faces of the coarser level around each own block
  StaggeredField restricted_;  // restricted faces of own blocks
  StaggeredField register_;    // restricted forces of own blocks, summed over sub-steps
};

}  // namespace octant::mesh
