// What a hydrodynamics scheme is.
//
// A sweep does four things to a tile, and a scheme is in charge of those in the middle:
//
//   gather       the tile's cells and ghosts around them, as primitive variables (gather.hpp)
//   reconstruct  states at points on the surfaces of cells
//   flux         what passes a face between the states on its two sides
//   update       new cells from fluxes and point sources (cell_update.hpp, point_sources.hpp), and
//                fluxes for registers (flux_answers.hpp)
//
// A scheme has *bodies*: functions of one pack of cells or faces that neither know where their
// values lie nor in what order they are called. A *schedule* has the loops, the barriers and the
// places: that of sweep_kernel.hpp takes planes through the cache, that of sweep_batches.hpp takes
// many whole tiles at once, and a repair takes the broken cells alone (lone_cells.hpp). Bodies are
// templates on the pack V, double included, and all schedules give the same bits.
//
//   class Scheme {
//     static constexpr int reach;                     // cells that reconstruct() looks at to each
//     static constexpr mesh::GhostShape::Kind shape;  // side, and whether on diagonals, too
//     static constexpr int points;                    // on a cell's surface
//     static constexpr bool predicts;                 // whether one stage alone makes a step, too:
//                                                     // with hydro.scheme = "muscl_hancock"
//     template <class Planes> using Surface;          // where schedules keep the states
//
//     explicit Scheme(const KernelArguments&);
//
//     // The states on a cell's surface: put(point, n, value), and put(point, n) is what was put.
//     // cell(n, x, y, z) is primitive variable n of the cell that lies so many cells away, place()
//     // the cell's centre. Where not Inside, the cell lies below or above the patch, and only its
//     // faces along z matter.
//     template <bool Inside, class V> void reconstruct(cell, place, put) const;
//
//     // The flux through a face with this normal. left(point, n) and right(point, n) are the
//     // states on the surfaces of the cells below and above it, put(n, value) keeps the flux of
//     // variable n: where states n on the right cell's lower face may lie, but no others.
//     template <int Axis, class V> void flux(left, right, put) const;
//   };
//
// Variables are those of HydroOptions: five, the entropy if there is dual energy, then scalars; the
// primitive ones are those of euler.hpp. A cell is broken, and repaired by first-order fluxes, by
// the same measures for all schemes.
//
// The file of a scheme ends with `template SchemeKernels scheme_kernels_of<Scheme>();`, which
// compiles all that calls it, and its name is put into the list of schemes.cpp. It is what
// hydro.reconstruction calls `Scheme::name`.
#pragma once

#include "hydro/kernel_arguments.hpp"
#include "mesh/ghost_shape.hpp"

namespace octant::hydro {

// The points of schemes that know a state at the centre of each face: that of the lower face along
// an axis, then that of the upper one.
constexpr int lower_face(int axis) { return 2 * axis; }
constexpr int upper_face(int axis) { return 2 * axis + 1; }

// The points on the upper and the lower face of a cell along an axis, opposite ones alike.
struct FacePoints {
  static constexpr int face_points = 1;
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int upper_point(int /*t*/) {
    return upper_face(Axis);
  }
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int lower_point(int /*t*/) {
    return lower_face(Axis);
  }
};

// Where schedules keep the states at such points. Those on lower faces lie where their
// fluxes will; those on upper faces along z wait for the plane above.
template <class Planes>
class FaceCentres : public FacePoints {
 public:
  static constexpr int stride = Planes::FacePlane::stride;  // from variable to variable
  // Planes of all variables, beside those of fluxes.
  static constexpr int planes = 4;

  KOKKOS_FORCEINLINE_FUNCTION FaceCentres(const Planes& s, int k)
      : faces_{s.flux(0, k),    s.surface(2, k), s.flux(1, k),
               s.surface(3, k), s.flux(2, k),    s.surface(k & 1, k)} {}

  // The state at a point on cell (j, i) of plane k.
  KOKKOS_FORCEINLINE_FUNCTION double* at(int point, int j, int i) const {
    return faces_[point].at(j, i);
  }

 private:
  typename Planes::FacePlane faces_[6];
};

// The same with a seventh point, the centre of the cell, for up to k_hydro_variables numbers of the
// cell that fluxes depend on. They lie in planes of their own, or, where a schedule keeps all
// planes, in the one that the upper faces along z leave free.
inline constexpr int k_cell_centre = 6;

template <class Planes>
class FaceAndCellCentres : public FacePoints {
  using Faces = FaceCentres<Planes>;

 public:
  static constexpr int points = 7;
  static constexpr int stride = Faces::stride;
  static constexpr int planes = Faces::planes + (Planes::keeps_all_planes ? 0 : 2);

  KOKKOS_FORCEINLINE_FUNCTION FaceAndCellCentres(const Planes& s, int k)
      : faces_(s, k),
        centre_(Planes::keeps_all_planes ? s.surface((k & 1) ^ 1, k) : s.surface(4 + (k & 1), k)) {}

  KOKKOS_FORCEINLINE_FUNCTION double* at(int point, int j, int i) const {
    return point == k_cell_centre ? centre_.at(j, i) : faces_.at(point, j, i);
  }

 private:
  Faces faces_;
  typename Planes::FacePlane centre_;
};

// The ghost cells of a sweep: the states on both sides of the patch's outermost faces are known,
// and dual energy looks at two cells.
template <class Scheme>
constexpr mesh::GhostShape ghosts_of() {
  return {Scheme::reach > 1 ? Scheme::reach + 1 : 2, Scheme::shape};
}

}  // namespace octant::hydro
