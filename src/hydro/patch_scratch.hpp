// The planes that a team keeps in scratch while it marches through its patch.
#pragma once

#include "core/pack.hpp"

namespace octant::hydro {

// One plane of cells, all variables: at(j, i) is cell (j, i) of variable 0, and variable n lies
// n * stride further. Cells from -Ghosts to M - 1 + Ghosts can be addressed.
template <int M, int Ghosts, int RowLength, int FirstColumn>
struct ScratchPlane {
  static constexpr int row = RowLength;
  static constexpr int stride = RowLength * (M + 2 * Ghosts);
  double* data;
  KOKKOS_FORCEINLINE_FUNCTION double* at(int j, int i) const {
    return data + (j + Ghosts) * row + i + FirstColumn;
  }
};

constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// Packs cover a row in steps of their width, and may run past its last cell: rows of face states
// are long enough for that. Packs that read primitives past the end of their row meet the next one,
// or the next plane: finite or not, no such lane is used. Rows of face states begin so that cell 0
// is the first of an aligned pack.
template <int M, int Reach>
class PatchScratch {
 public:
  static constexpr int width = PackTraits<Pack>::width;
  static constexpr int ghosts = Reach + 1, ring = 2 * Reach + 1, faces = 10, inner_planes = 8;
  using PrimitivePlane = ScratchPlane<M, ghosts, M + 2 * ghosts, ghosts>;
  using FacePlane = ScratchPlane<M, 1, width + round_up(M + 1, width), width>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;

  // Bytes for a number of variables, with room to align.
  static std::size_t bytes(int variables) {
    return sizeof(double) * doubles(variables) + k_alignment;
  }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION PatchScratch(const Member& team, int variables)
      : base_(static_cast<double*>(team.team_scratch(0).get_shmem_aligned(
            sizeof(double) * doubles(variables), k_alignment))),
        primitive_size_(variables * PrimitivePlane::stride),
        face_size_(variables * FacePlane::stride) {}

  KOKKOS_FORCEINLINE_FUNCTION PrimitivePlane primitive(int k) const {
    return {base_ + (k + 2 * ring) % ring * primitive_size_};
  }
  // States on the lower and upper faces of the cells of a plane. The fluxes through the lower faces
  // of plane k replace the states there, and live on until plane k + 1 is complete.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane x_lower(int k) const { return face(0 + (k & 1)); }
  KOKKOS_FORCEINLINE_FUNCTION FacePlane y_lower(int k) const { return face(2 + (k & 1)); }
  KOKKOS_FORCEINLINE_FUNCTION FacePlane z_lower(int k) const { return face(4 + (k & 1)); }
  KOKKOS_FORCEINLINE_FUNCTION FacePlane z_upper(int k) const { return face(6 + (k & 1)); }
  KOKKOS_FORCEINLINE_FUNCTION FacePlane x_upper() const { return face(8); }
  KOKKOS_FORCEINLINE_FUNCTION FacePlane y_upper() const { return face(9); }
  // For dual energy that overwrites: velocities (three variables) of the two planes that have left
  // the ring last, and two variables of the plane whose update comes next.
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane past_velocity(int k) const {
    return {face(faces).data + 3 * (k & 1) * InnerPlane::stride};
  }
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane truncation() const {
    return {face(faces).data + 6 * InnerPlane::stride};
  }
  // One conserved state, contiguous, that stands for cells which no box holds.
  KOKKOS_FORCEINLINE_FUNCTION double* safe_cell() const {
    return face(faces).data + inner_planes * InnerPlane::stride;
  }

 private:
  static constexpr std::size_t k_alignment = 64;

  KOKKOS_FORCEINLINE_FUNCTION static std::size_t doubles(int variables) {
    return std::size_t(variables) *
               (ring * PrimitivePlane::stride + faces * FacePlane::stride + 1) +
           inner_planes * InnerPlane::stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION FacePlane face(int n) const {
    return {base_ + ring * primitive_size_ + n * face_size_};
  }

  double* base_;
  int primitive_size_, face_size_;
};

}  // namespace octant::hydro
