// Mesh operations of constrained transport for face-centred vector fields on the octree: ghost
// faces, prolongation, restriction, and the electromotive forces at coarse-fine boundaries.
//
// Constrained transport (Evans & Hawley 1988) advances face means b of a field with div b = 0 by
// the circulation of edge means e of the electromotive force,
//   b_x -= dt/dx [(e_z(j+1) - e_z(j)) - (e_y(k+1) - e_y(k))]     and cyclic,
// which leaves the divergence of every cell as it is, to rounding, if each edge has one value.
//
// Storage. A block stores all N + 1 faces per axis and two layers of ghost faces. A face between
// two blocks is stored by both. Their copies stay bitwise equal because the same kernel evaluates
// the same expressions with the same values for both (on cores without contraction to fused
// operations): a ghost face is a function of level, face and the field alone, never of the block
// that reads it. When ghosts are filled, the copy of the upper block overwrites that of the lower
// one, so that a difference could not last.
//
// Coarse-fine boundaries, in the order of a step:
//  1. Ghost faces are prolonged cell by cell of the coarser level (face_prolongation.hpp). Faces of
//     existing fine blocks, those on the boundary included, are kept.
//  2. The force on a coarse edge that fine edges cover is replaced, in every block that stores the
//     edge, by e_c = sum_steps (dt_f / dt_c) (e_1 + e_2) / 2 (Berger & Colella 1989; Balsara 2001;
//     Fromang, Hennebelle & Teyssier 2006, A&A 457, 371). A level that has advanced already is
//     advanced again from its old state with the replaced forces.
//  3. A coarse face covered by fine ones takes their mean. By step 2 it holds that mean but for
//     rounding, so that coarse cells beside the boundary keep their divergence.
// New blocks are prolonged as in step 1. By step 3 the parents of removed blocks hold their means.
#pragma once

#include <span>
#include <vector>

#include "mesh/box_messages.hpp"
#include "mesh/face_prolongation.hpp"
#include "mesh/mesh.hpp"

namespace octant::mesh {

// A block with ghost cells that no block of its level covers.
struct OpenBlock {
  std::int32_t slot;
  Positions known, outside;  // positions with faces of this level; positions beyond the domain
};

// A side of a block on a boundary of the domain.
struct BoundarySide {
  std::int32_t slot, side;  // 0: lower, 1: upper
  std::int32_t reflects;    // otherwise the outermost values are extended
};

// Transfers face- and edge-centred fields of a mesh between blocks, ranks and levels. Functions are
// collective unless they say otherwise.
class FaceTransfer {
 public:
  static constexpr int k_ghosts = 2;  // layers of ghost faces: one coarse cell

  // Throws InputError for blocks with fewer than 4 cells along an axis, whose ghost faces depend on
  // more than the neighbouring blocks. The mesh must outlive it.
  FaceTransfer(const Mesh& mesh, const CommOptions& options, FaceSlope slope = FaceSlope::central);

  // Creates a field of zeros for the own blocks. Edge fields have no ghosts. Local.
  StaggeredField make_field(FieldInfo info) const;

  // Must be called after every change of the mesh's structure (regrid, migrate), with the face
  // fields whose values are kept: they migrate with their blocks, and new blocks are prolonged. All
  // other fields must be created again.
  void follow(std::span<StaggeredField* const> fields);

  // Fills the ghost faces of a level. The ghosts of the coarser level must be filled.
  void fill_ghosts(int level, const StaggeredField& faces) { fill_ghosts(level, faces, faces, 1); }
  // Interpolates the coarser level between two states, at theta from 0 (`earlier`) to 1 (`faces`).
  void fill_ghosts(int level, const StaggeredField& faces, const StaggeredField& earlier,
                   double theta);

  // Replaces coarse faces by the mean of the fine faces that cover them.
  void restrict_faces(int fine_level, const StaggeredField& faces);

  // Register of the forces that replace those of the coarser level. Weights are the fractions of
  // the coarse step; they add up to 1 between clear and replace. The first two are local.
  void clear_forces(int fine_level);
  void add_forces(int fine_level, const StaggeredField& forces, double weight);
  void replace_forces(int fine_level, const StaggeredField& forces);

  // faces = old - dt curl(forces) on own blocks; `old` may be the same field. Local.
  void advance(int level, const StaggeredField& faces, const StaggeredField& old,
               const StaggeredField& forces, double dt) const;

 private:
  struct Level {
    BoxMessages ghosts;         // between blocks of the level
    BoxMessages patches;        // from parents to own blocks
    BoxMessages faces, forces;  // restricted, to the coarser level
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
  StaggeredField patches_;     // of the coarser level, around each own block
  StaggeredField restricted_;  // faces of own blocks
  StaggeredField register_;    // forces of own blocks
};

}  // namespace octant::mesh
