// What both schedules of a sweep do to a pack of cells or of faces: a scheme's bodies, with values
// that lie in planes. `Planes` has them: SweepScratch in the scratch of a thread, BatchCells
// in a buffer for many tiles at once.
#pragma once

#include "hydro/kernel_arguments.hpp"
#include "hydro/tile_view.hpp"
#include "hydro/walls.hpp"

namespace octant::hydro {

// The states on a pack's surfaces, as schemes find them: states(point, n, value) keeps one, and
// states(point, n) gives it back. at(point, n) is its place.
template <class V, class At>
struct SurfaceStates {
  At at;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(int point, int n, const V& value) const {
    PackTraits<V>::store(at(point, n), value);
  }
  KOKKOS_FORCEINLINE_FUNCTION V operator()(int point, int n) const {
    return PackTraits<V>::load(at(point, n));
  }
};
template <class V, class At>
KOKKOS_FORCEINLINE_FUNCTION SurfaceStates<V, At> surface_states(const At& at) {
  return {at};
}

// The states on the surfaces of the pack of cells that begins with (i, j, k). Outside the patch
// only the z faces of the cells above or below it are needed.
template <bool Inside, class Scheme, class Planes, class Surface>
KOKKOS_FORCEINLINE_FUNCTION void reconstruct_cells(const Scheme& scheme, const KernelArguments& a,
                                                   const TileView& view, const Planes& planes,
                                                   const Surface& surface, int k, int j, int i) {
  using P = PackTraits<Pack>;
  using PrimitivePlane = typename Planes::PrimitivePlane;
  constexpr int reach = Planes::reach;
  const double* column[2 * reach + 1];
  for (int o = -reach; o <= reach; ++o) column[o + reach] = planes.primitive(k + o).at(j, i);
  scheme.template reconstruct<Inside, Pack>(
      [=](int n, int x, int y, int z) OCTANT_INLINE_LAMBDA {
        return P::load(column[reach + z] + n * PrimitivePlane::stride + y * PrimitivePlane::row +
                       x);
      },
      [&]() OCTANT_INLINE_LAMBDA { return view.place<Pack>(a.sweep, k, j, i); },
      surface_states<Pack>([=](int point, int n) OCTANT_INLINE_LAMBDA {
        return surface.at(point, j, i) + n * Surface::stride;
      }));
}

// Through the lower faces along an axis of the pack of cells that begins with (i, j, k).
template <int Axis, class Scheme, class Planes>
KOKKOS_FORCEINLINE_FUNCTION void flux_through(const Scheme& scheme, const Planes& planes, int k,
                                              int j, int i) {
  using P = PackTraits<Pack>;
  using Surface = typename Scheme::template Surface<Planes>;
  const Surface above(planes, k), below(planes, Axis == 2 ? k - 1 : k);
  double* const to = planes.flux(Axis, k).at(j, i);
  scheme.template flux<Axis, Pack>(
      [&](int point, int n) OCTANT_INLINE_LAMBDA {
        return P::load(below.at(point, Axis == 1 ? j - 1 : j, Axis == 0 ? i - 1 : i) +
                       n * Surface::stride);
      },
      [&](int point, int n)
          OCTANT_INLINE_LAMBDA { return P::load(above.at(point, j, i) + n * Surface::stride); },
      [&](int n, const Pack& value)
          OCTANT_INLINE_LAMBDA { P::store(to + n * Planes::FacePlane::stride, value); });
}

// Replaces the state beyond a face on a side of the domain that gas does not enter: see
// set_beyond(). The face is the lower one along an axis of cell (k, j, i).
template <int Axis, class Scheme, class Planes>
KOKKOS_INLINE_FUNCTION void close_states(const Planes& planes, int k, int j, int i, int side,
                                         bool lets_out, int variables) {
  using Surface = typename Scheme::template Surface<Planes>;
  const Surface above(planes, k), below(planes, Axis == 2 ? k - 1 : k);
  set_beyond<Axis, Surface>(
      [&](int point) { return below.at(point, Axis == 1 ? j - 1 : j, Axis == 0 ? i - 1 : i); },
      [&](int point) { return above.at(point, j, i); }, side, lets_out, variables, Surface::stride);
}

// visit(i, side, lets_out) for those of a pack of cells, which begins with (i, j, k), whose lower
// faces along an axis lie on sides of the domain that gas does not enter.
template <int Axis, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_closed(const TileView& view, int k, int j, int i,
                                            const Visit& visit) {
  constexpr int width = PackTraits<Pack>::width;
  for (int side = 0; side < 2; ++side) {
    const int wall = view.closed(Axis, side);
    const bool lets_out = view.lets_out(Axis, side);
    if (Axis == 0 && wall >= i && wall < i + width) visit(wall, side, lets_out);
    if (Axis > 0 && wall == (Axis == 1 ? j : k))
      for (int lane = 0; lane < width; ++lane) visit(i + lane, side, lets_out);
  }
}

// Makes of these fluxes, found in a frame that turns, those that are seen against the stars. A pass
// of its own: asked for each flux, whether the frame turns would cost a tenth of a sweep.
template <int Axis, class Planes>
KOKKOS_FORCEINLINE_FUNCTION void leave_frame(const KernelArguments& a, const TileView& view,
                                             const Planes& planes, int k, int j, int i) {
  double* const flux = planes.flux(Axis, k).at(j, i);
  State<Pack> found;
  for (int n = 0; n < k_hydro_variables; ++n)
    found[n] = PackTraits<Pack>::load(flux + n * Planes::FacePlane::stride);
  store_state(flux, Planes::FacePlane::stride,
              view.out_of_frame<Axis>(a.frame, a.sweep, found, j, i));
}

}  // namespace octant::hydro
