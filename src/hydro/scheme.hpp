// Interface of hydrodynamics schemes.
//
// A sweep processes a tile in four steps; a scheme provides the two in the middle:
//
//   gather       the tile's cells and their ghost cells, as primitive variables (tile_gather.hpp)
//   reconstruct  states at points on the surfaces of cells
//   flux         flux through a face, from the states on its two sides
//   update       new cells from fluxes and point sources, and fluxes for flux registers
//                (conservative_update.hpp)
//
// A scheme has *bodies*: functions of one pack of cells or faces, independent of memory layout and
// calling order. A *schedule* has the loops, barriers and memory: that of sweep_cpu.hpp processes
// planes in the cache, that of sweep_gpu.hpp many whole tiles at once, and a repair only the
// unphysical cells (repair_stencil.hpp). Bodies are templates on the pack V, double included,
// and all schedules give bitwise-identical results.
//
//   class Scheme {
//     static constexpr int reach;                     // cells that reconstruct() reads per side
//     static constexpr mesh::GhostShape::Kind shape;  // star, or cube with diagonals
//     static constexpr int points;                    // on a cell's surface
//     static constexpr bool predicts;                 // also usable with one stage per step:
//                                                     // hydro.scheme = "muscl_hancock"
//     template <class Planes> using Surface;          // storage of the states in schedules
//
//     explicit Scheme(const KernelArguments&);
//
//     // Computes the states on a cell's surface: put(point, n, value) stores, put(point, n)
//     // returns one. cell(n, x, y, z) is primitive variable n at this cell offset (followed, in
//     // real gas, by the numbers of EnergyExpansion), position()
//     // the cell's centre. Unless `inside`, the cell lies below or above the patch, and only its
//     // faces along z matter.
//     template <class V> void reconstruct(bool inside, cell, position, put) const;
//
//     // Computes the flux through a face with this normal. left(point, n) and right(point, n) are
//     // the states on the surfaces of the cells below and above it; put(n, value) stores the flux
//     // of variable n, which may share memory only with states n on the right cell's lower face.
//     template <int Axis, class V> void flux(left, right, put) const;
//   };
//
// Variables are those of HydroOptions: five Euler variables, the entropy with dual energy, then
// scalars. Primitive variables are those of euler.hpp. The criteria for unphysical cells, which are
// repaired by first-order fluxes, are the same for all schemes.
//
// The file of a scheme ends with `template SchemeOps ops_of_scheme<Scheme>();`, which compiles all
// kernels of the scheme, and the scheme is added to the list of schemes.cpp. `Scheme::name` is the
// name in hydro.reconstruction.
#pragma once

#include <cstdint>

#include "hydro/kernel_arguments.hpp"
#include "hydro/tile_view.hpp"
#include "hydro/walls.hpp"
#include "mesh/tiles.hpp"

namespace octant::hydro {

// Index of the point on the lower face along an axis, in schemes with one state per face.
constexpr int lower_face(int axis) { return 2 * axis; }
// Index of the point on the upper face along an axis.
constexpr int upper_face(int axis) { return 2 * axis + 1; }

// Points on the upper and the lower face of a cell along an axis, in the same order.
struct FacePoints {
  static constexpr int face_points = 1;
  // Point t of the upper face along Axis.
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int upper_point(int /*t*/) {
    return upper_face(Axis);
  }
  // Point t of the lower face along Axis.
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int lower_point(int /*t*/) {
    return lower_face(Axis);
  }
};

// Storage of the states at face centres. States on lower faces share memory with their fluxes;
// states on upper faces along z are kept for the plane above.
template <class Planes>
class FaceCentres : public FacePoints {
 public:
  // distance between variables, in doubles
  static constexpr int stride = Planes::FacePlane::stride;
  // Number of planes of all variables, in addition to those of the fluxes.
  static constexpr int planes = 4;

  KOKKOS_FORCEINLINE_FUNCTION FaceCentres(const Planes& s, int k)
      : faces_{s.flux(0, k),    s.surface(2, k), s.flux(1, k),
               s.surface(3, k), s.flux(2, k),    s.surface(k & 1, k)} {}

  // Address of the state at a point on cell (j, i) of plane k.
  KOKKOS_FORCEINLINE_FUNCTION double* at(int point, int j, int i) const {
    return faces_[point].at(j, i);
  }

 private:
  typename Planes::FacePlane faces_[6];
};

// Seventh point, the centre of the cell, for up to k_hydro_variables numbers on which fluxes
// depend. These have their own planes or, if a schedule keeps all planes, use the one that upper
// faces along z leave free.
inline constexpr int k_cell_centre = 6;
// Index of the density of real gas among the numbers at the cell centre, after the three of the
// shock sensor.
inline constexpr int k_mean_density = 3;

// Storage of the states at face centres and of up to k_hydro_variables numbers at the cell centre.
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

  // Address of the state at a point on cell (j, i) of plane k.
  KOKKOS_FORCEINLINE_FUNCTION double* at(int point, int j, int i) const {
    return point == k_cell_centre ? centre_.at(j, i) : faces_.at(point, j, i);
  }

 private:
  Faces faces_;
  typename Planes::FacePlane centre_;
};

// Eighth point, in real gas, with the numbers of EnergyExpansion.
inline constexpr int k_cell_energy = 7;
static_assert(int{k_cell_energies} <= k_hydro_variables);

// Storage of the states at face centres and of two sets of numbers at the cell centre.
template <class Planes>
class FaceCentresAndEnergy : public FacePoints {
  using Centres = FaceAndCellCentres<Planes>;

 public:
  static constexpr int points = 8;
  static constexpr int stride = Centres::stride;
  static constexpr int planes = Centres::planes + (Planes::keeps_all_planes ? 1 : 2);

  KOKKOS_FORCEINLINE_FUNCTION FaceCentresAndEnergy(const Planes& s, int k)
      : centres_(s, k),
        energy_(s.surface(Centres::planes + (Planes::keeps_all_planes ? 0 : k & 1), k)) {}

  // Address of the state at a point on cell (j, i) of plane k.
  KOKKOS_FORCEINLINE_FUNCTION double* at(int point, int j, int i) const {
    return point == k_cell_energy ? energy_.at(j, i) : centres_.at(point, j, i);
  }

 private:
  Centres centres_;
  typename Planes::FacePlane energy_;
};

// Storage of the states of Godunov schemes for a gas of the type G.
template <class Planes, class G>
using GodunovSurface = std::conditional_t<std::is_same_v<G, Gas>, FaceCentresAndEnergy<Planes>,
                                          FaceAndCellCentres<Planes>>;
// Number of points on a surface of Godunov schemes.
template <class G>
inline constexpr int k_godunov_points = std::is_same_v<G, Gas> ? 8 : 7;

// Ghost cells of a sweep: the outermost faces of the patch need states on both sides, and dual
// energy reads two cells.
template <class Scheme>
constexpr mesh::GhostShape ghosts_of() {
  return {Scheme::reach > 1 ? Scheme::reach + 1 : 2, Scheme::shape};
}

// Plane of cells with all variables: at(j, i) is cell (j, i) of variable 0, and variable n is n *
// stride further. Cells from -Ghosts to M - 1 + Ghosts can be addressed.
template <int M, int Ghosts, int RowLength, int FirstColumn>
struct ScratchPlane {
  static constexpr int row = RowLength;
  static constexpr int stride = RowLength * (M + 2 * Ghosts);
  double* data;
  // Address of variable 0 of cell (j, i).
  KOKKOS_FORCEINLINE_FUNCTION double* at(int j, int i) const {
    return data + (j + Ghosts) * row + i + FirstColumn;
  }
};

// Smallest multiple of `multiple` that is not less than n.
constexpr int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

// Packs may begin at any cell of a row and extend past its last one: rows of face states are long
// enough for that. Packs that read primitive variables past the end of their row read the next row
// or plane, and the values of these lanes are not used. Rows of face states are aligned so that
// cell 0 is the first of a pack.

// --- bodies of a scheme, with values in planes ---------------------------------------------------
//
// Both schedules of a sweep call these functions for a pack of cells or of faces. `Planes` has the
// planes: SweepScratch in the scratch of a thread, BatchCells in a buffer for many tiles at once.

// Primitive variables around the pack of cells that begins with (i, j, k), for schemes: cell(n, x,
// y, z) is variable n at the cell offset (x, y, z).
template <class Planes>
class CellsAround {
  using Plane = typename Planes::PrimitivePlane;
  static constexpr int reach = Planes::reach;

 public:
  KOKKOS_FORCEINLINE_FUNCTION CellsAround(const Planes& planes, int k, int j, int i) {
    for (int o = -reach; o <= reach; ++o) column_[o + reach] = planes.primitive(k + o).at(j, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION SimdDouble operator()(int n, int x, int y, int z) const {
    return SimdTraits<SimdDouble>::load(column_[reach + z] + n * Plane::stride + y * Plane::row +
                                        x);
  }

 private:
  const double* column_[2 * reach + 1];
};

// States on surfaces, for schemes: states(point, n, value) stores one, and states(point, n) returns
// it. at(point, n) is the address of a state.
template <class V, class At>
struct SurfaceStates {
  At at;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int point, int n, const V& value) const {
    SimdTraits<V>::store(at(point, n), value);
  }
  KOKKOS_FORCEINLINE_FUNCTION V operator()(int point, int n) const {
    return SimdTraits<V>::load(at(point, n));
  }
};
// Returns the accessor for the states on a surface; at(point, n) is the address of variable n.
template <class V, class At>
KOKKOS_FORCEINLINE_FUNCTION SurfaceStates<V, At> surface_states(const At& at) {
  return {at};
}

// Addresses of the states of the pack of cells that begins with (j, i), in the planes of a Surface.
template <class Surface>
struct SurfacePoints {
  Surface surface;
  int j, i;
  KOKKOS_FORCEINLINE_FUNCTION double* operator()(int point, int n) const {
    return surface.at(point, j, i) + n * Surface::stride;
  }
};
// Returns the accessor for the states of the pack of cells that begins with (j, i).
template <class Surface>
KOKKOS_FORCEINLINE_FUNCTION auto states_on(const Surface& surface, int j, int i) {
  return surface_states<SimdDouble>(SurfacePoints<Surface>{surface, j, i});
}

// Computes fluxes through lower faces along an axis of the pack of cells from (i, j, k) on.
template <int Axis, class Scheme, class Planes>
KOKKOS_FORCEINLINE_FUNCTION void flux_through(const Scheme& scheme, const Planes& planes, int k,
                                              int j, int i) {
  using P = SimdTraits<SimdDouble>;
  using Surface = typename Scheme::template Surface<Planes>;
  const Surface above(planes, k), below(planes, Axis == 2 ? k - 1 : k);
  double* const to = planes.flux(Axis, k).at(j, i);
  scheme.template flux<Axis, SimdDouble>(
      [&](int point, int n) OCTANT_INLINE_LAMBDA {
        return P::load(below.at(point, Axis == 1 ? j - 1 : j, Axis == 0 ? i - 1 : i) +
                       n * Surface::stride);
      },
      [&](int point, int n)
          OCTANT_INLINE_LAMBDA { return P::load(above.at(point, j, i) + n * Surface::stride); },
      [&](int n, const SimdDouble& value)
          OCTANT_INLINE_LAMBDA { P::store(to + n * Planes::FacePlane::stride, value); });
}

// --- bodies of a scheme, one cell or face at a time ----------------------------------------------
//
// For a repair and, on a host, the device schedule, which has only tests there: compiled once for
// all tiles and layouts, because the compiler takes long for each copy of a body.

// Primitive variables around a cell in any array, for schemes.
struct StridedCells {
  const double* centre;
  std::int64_t variable, row, plane;  // distances of variables, rows and planes, in doubles
  KOKKOS_FORCEINLINE_FUNCTION double operator()(int n, int x, int y, int z) const {
    return centre[n * variable + z * plane + y * row + x];
  }
};

// Addresses of the states on the surface of a cell: state n of a point is `stride` * n further.
template <int points>
struct PointAddresses {
  double* first[points];
  std::int64_t stride;
  KOKKOS_FORCEINLINE_FUNCTION double* operator()(int point, int n) const {
    return first[point] + n * stride;
  }
};
// Returns the addresses of `points` states; first_of(point) is the address of variable 0.
template <int points, class FirstOf>
KOKKOS_FORCEINLINE_FUNCTION PointAddresses<points> addresses_of(std::int64_t stride,
                                                                const FirstOf& first_of) {
  PointAddresses<points> result;
  for (int point = 0; point < points; ++point) result.first[point] = first_of(point);
  result.stride = stride;
  return result;
}

// Returns the addresses of the states on the surface of cell (j, i), in the planes of a Surface.
template <int points, class Surface>
KOKKOS_FORCEINLINE_FUNCTION auto addresses_on(const Surface& surface, int j, int i) {
  return addresses_of<points>(
      Surface::stride, [&](int point) OCTANT_INLINE_LAMBDA { return surface.at(point, j, i); });
}

// Computes the states on the surface of a cell with this centre.
template <class Scheme>
OCTANT_OUT_OF_LINE void states_of_cell(const Scheme& scheme, bool inside, const StridedCells& cells,
                                       const Vector<double>& centre,
                                       const PointAddresses<Scheme::points>& surface) {
  scheme.template reconstruct<double>(
      inside, cells, [&]() OCTANT_INLINE_LAMBDA { return centre; },
      surface_states<double>([&](int point, int n)
                                 OCTANT_INLINE_LAMBDA { return surface(point, n); }));
}

// Computes the flux through a face, from the states on the surfaces of the cells below and above:
// variable n is to[n * stride].
template <int Axis, class Scheme>
OCTANT_OUT_OF_LINE void flux_of_face(const Scheme& scheme,
                                     const PointAddresses<Scheme::points>& below,
                                     const PointAddresses<Scheme::points>& above, double* to,
                                     std::int64_t stride) {
  scheme.template flux<Axis, double>(
      [&](int point, int n) OCTANT_INLINE_LAMBDA { return *below(point, n); },
      [&](int point, int n) OCTANT_INLINE_LAMBDA { return *above(point, n); },
      [&](int n, double flux) OCTANT_INLINE_LAMBDA { to[n * stride] = flux; });
}

// Replaces the state beyond a face on a closed boundary of the domain, through which no gas enters:
// see set_beyond(). The face is the lower one along an axis of cell (k, j, i).
template <int Axis, class Scheme, class Planes>
KOKKOS_INLINE_FUNCTION void close_states(const Planes& planes, int k, int j, int i, int side,
                                         bool is_diode, int variables) {
  using Surface = typename Scheme::template Surface<Planes>;
  const Surface above(planes, k), below(planes, Axis == 2 ? k - 1 : k);
  set_beyond<Axis, Surface>(
      [&](int point) { return below.at(point, Axis == 1 ? j - 1 : j, Axis == 0 ? i - 1 : i); },
      [&](int point) { return above.at(point, j, i); }, side, is_diode, variables, Surface::stride);
}

// Calls visit(side, is_diode) if the lower face along an axis of cell (k, j, i) lies on a closed
// boundary.
template <int Axis, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void if_closed(const TileView& view, int k, int j, int i,
                                           const Visit& visit) {
  for (int side = 0; side < 2; ++side)
    if (view.closed(Axis, side) == (Axis == 0 ? i : Axis == 1 ? j : k))
      visit(side, view.is_diode(Axis, side));
}

// Transforms fluxes from the rotating to the inertial frame. A separate pass: a test for each flux
// would cost a tenth of a sweep.
template <int Axis, class V, class Planes>
KOKKOS_FORCEINLINE_FUNCTION void leave_frame(const KernelArguments& a, const TileView& view,
                                             const Planes& planes, int k, int j, int i) {
  double* const flux = planes.flux(Axis, k).at(j, i);
  State<V> found;
  for (int n = 0; n < k_hydro_variables; ++n)
    found[n] = SimdTraits<V>::load(flux + n * Planes::FacePlane::stride);
  store_state(flux, Planes::FacePlane::stride,
              view.out_of_frame<Axis>(a.frame, a.sweep, found, j, i));
}

}  // namespace octant::hydro
