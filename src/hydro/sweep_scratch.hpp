// The planes that a team keeps in scratch while it marches through its patch.
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

// body(j, i) for packs that begin at columns i_first, i_first + width, ... and cover [i_first,
// i_last) of rows [j_first, j_last): rows of packs on a CPU, one cell per thread on a GPU (columns
// are compile-time: the division is a multiply and a shift).
template <int i_first, int i_last, class Member, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_packs(const Member& team, int j_first, int j_last,
                                           const Body& body) {
  constexpr int columns = i_last - i_first, width = PackTraits<Pack>::width;
  const int rows = j_last - j_first;
  if constexpr (width > 1) {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows), [&](int n) {
      for (int i = i_first; i < i_last; i += width) body(j_first + n, i);
    });
  } else {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * columns),
                         [&](int n) { body(j_first + n / columns, i_first + n % columns); });
  }
}

// Packs cover a row in steps of their width, and may run past its last cell: rows of face states
// are long enough for that. Packs that read primitives past the end of their row meet the next one,
// or the next plane: finite or not, no such lane is used. Rows of face states begin so that cell 0
// is the first of an aligned pack.
template <int M, class Scheme>
class SweepScratch {
 public:
  static constexpr mesh::GhostShape ghosts = ghosts_of<Scheme>();
  static constexpr int patch = M, width = PackTraits<Pack>::width;
  static constexpr int reach = ghosts.reach - 1, ring = 2 * reach + 1, inner_planes = 8;
  using PrimitivePlane = ScratchPlane<M, ghosts.reach, M + 2 * ghosts.reach, ghosts.reach>;
  using FacePlane = ScratchPlane<M, 1, width + round_up(M + 1, width), width>;
  using InnerPlane = ScratchPlane<M, 0, M, 0>;
  using Surface = typename Scheme::template Surface<SweepScratch>;
  static constexpr bool knows_spin = Surface::knows_spin;

  // Bytes for a number of variables, with room to align.
  static std::size_t bytes(int variables) {
    return sizeof(double) * doubles(variables) + k_alignment;
  }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION SweepScratch(const Member& team, int variables)
      : base_(static_cast<double*>(team.team_scratch(0).get_shmem_aligned(
            sizeof(double) * doubles(variables), k_alignment))),
        primitive_size_(variables * PrimitivePlane::stride),
        face_size_(variables * FacePlane::stride) {}

  KOKKOS_FORCEINLINE_FUNCTION PrimitivePlane primitive(int k) const {
    return {base_ + (k + 2 * ring) % ring * primitive_size_};
  }
  // Fluxes through the lower faces along an axis of the cells of plane k. They live on until plane
  // k + 1 is complete.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane flux(int axis, int k) const {
    return face(2 * axis + (k & 1));
  }
  // What the scheme's Surface has for itself, whatever the plane.
  KOKKOS_FORCEINLINE_FUNCTION FacePlane surface(int n, int /*k*/) const {
    return face(flux_planes + n);
  }
  // For dual energy that overwrites: velocities (three variables) of the two planes that have left
  // the ring last, and two variables of the plane whose update comes next.
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane past_velocity(int k) const {
    return {face(faces()).data + 3 * (k & 1) * InnerPlane::stride};
  }
  KOKKOS_FORCEINLINE_FUNCTION InnerPlane truncation(int /*k*/) const {
    return {face(faces()).data + 6 * InnerPlane::stride};
  }
  // One conserved state, contiguous, that stands for cells which no box holds.
  KOKKOS_FORCEINLINE_FUNCTION double* safe_cell() const {
    return face(faces()).data + inner_planes * InnerPlane::stride;
  }

 private:
  static constexpr std::size_t k_alignment = 64;
  static constexpr int flux_planes = 6;

  KOKKOS_FORCEINLINE_FUNCTION static constexpr int faces() { return flux_planes + Surface::planes; }
  KOKKOS_FORCEINLINE_FUNCTION static std::size_t doubles(int variables) {
    return std::size_t(variables) *
               (ring * PrimitivePlane::stride + faces() * FacePlane::stride + 1) +
           inner_planes * InnerPlane::stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION FacePlane face(int n) const {
    return {base_ + ring * primitive_size_ + n * face_size_};
  }

  double* base_;
  int primitive_size_, face_size_;
};

}  // namespace octant::hydro
