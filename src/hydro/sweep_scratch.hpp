// The planes that a thread keeps in scratch while it marches through a tile's patch.
#pragma once

#include "core/pack.hpp"
#include "hydro/scheme.hpp"

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

// Packs may begin at any cell of a row and run past its last one: rows of face states
// are long enough for that. Packs that read primitives past the end of their row meet the next one,
// or the next plane: finite or not, no such lane is used. Rows of face states begin so that cell 0
// is the first of an aligned pack.

// What fluxes and the update look at: planes of faces, and for dual energy that overwrites two
// variables of the plane whose update comes next.
template <int M>
class SweepFaces {
 public:
  static constexpr bool keeps_all_planes = false;  // but the last two of them
  static constexpr int patch = M, width = PackTraits<Pack>::width;
  using FacePlane = ScratchPlane<M, 1, width + round_up(M + 1, width), width>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;

  // Where a scheme keeps so many planes of states beside those of fluxes.
  static constexpr std::size_t doubles(int variables, int surface_planes) {
    return std::size_t(variables) * (flux_planes + surface_planes) * FacePlane::stride +
           inner_planes * InnerPlane::stride;
  }

  KOKKOS_FORCEINLINE_FUNCTION SweepFaces(double* base, int variables)
      : base_(base), face_size_(variables * FacePlane::stride) {}

  // Fluxes through the lower faces along an axis of the cells of plane k. They live on until plane
  // k + 1 is complete.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane flux(int axis, int k) const {
    return face(2 * axis + (k & 1));
  }
  // What the scheme's Surface has for itself, whatever the plane.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane surface(int n, int /*k*/) const {
    return face(flux_planes + n);
  }
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane truncation(int /*k*/) const { return {base_}; }

 private:
  static constexpr int flux_planes = 6, inner_planes = 2;

  KOKKOS_FORCEINLINE_FUNCTION FacePlane face(int n) const {
    return {base_ + inner_planes * InnerPlane::stride + n * face_size_};
  }

  double* base_;
  int face_size_;
};

// What reconstruction looks at: a ring of planes of primitive variables.
template <int M, mesh::GhostShape shape>
class SweepCells {
 public:
  static constexpr mesh::GhostShape ghosts = shape;
  static constexpr int patch = M, reach = ghosts.reach - 1;
  using PrimitivePlane = ScratchPlane<M, ghosts.reach, M + 2 * ghosts.reach, ghosts.reach>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;

  static constexpr std::size_t doubles(int variables) {
    return inner_planes * InnerPlane::stride +
           std::size_t(variables) * (ring * PrimitivePlane::stride + 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION SweepCells(double* base, int variables)
      : base_(base), primitive_size_(variables * PrimitivePlane::stride) {}

  KOKKOS_FORCEINLINE_FUNCTION PrimitivePlane primitive(int k) const {
    return {base_ + inner_planes * InnerPlane::stride + (k + 2 * ring) % ring * primitive_size_};
  }
  // For dual energy that overwrites: velocities (three variables) of the two planes that have left
  // the ring last.
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane past_velocity(int k) const {
    return {base_ + 3 * (k & 1) * InnerPlane::stride};
  }
  // One conserved state, contiguous, that stands for cells which no box holds.
  KOKKOS_FORCEINLINE_FUNCTION double* safe_cell() const {
    return base_ + inner_planes * InnerPlane::stride + ring * primitive_size_;
  }

 private:
  static constexpr int ring = 2 * reach + 1, inner_planes = 6;

  double* base_;
  int primitive_size_;
};

// All that a sweep by a scheme needs.
template <int M, class Scheme>
class SweepScratch : public SweepFaces<M>, public SweepCells<M, ghosts_of<Scheme>()> {
 public:
  using Faces = SweepFaces<M>;
  using Cells = SweepCells<M, ghosts_of<Scheme>()>;
  using Surface = typename Scheme::template Surface<Faces>;

  // Bytes for a number of variables, with room to align.
  static std::size_t bytes(int variables) {
    return sizeof(double) * doubles(variables) + k_alignment;
  }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION SweepScratch(const Member& team, int variables)
      : SweepScratch(static_cast<double*>(team.team_scratch(0).get_shmem_aligned(
                         sizeof(double) * doubles(variables), k_alignment)),
                     variables) {}

 private:
  static constexpr std::size_t k_alignment = 64;

  static std::size_t doubles(int variables) {
    return Faces::doubles(variables, Surface::planes) + Cells::doubles(variables);
  }
  KOKKOS_FORCEINLINE_FUNCTION SweepScratch(double* base, int variables)
      : Faces(base, variables),
        Cells(base + Faces::doubles(variables, Surface::planes), variables) {}
};

}  // namespace octant::hydro
