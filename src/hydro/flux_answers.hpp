// Adds the fluxes that a tile's requests ask for to registers.
#pragma once

#include "hydro/kernel_arguments.hpp"
#include "hydro/sweep_scratch.hpp"
#include "hydro/tile_view.hpp"

namespace octant::hydro {

template <class Planes>
class FluxAnswers {
 public:
  KOKKOS_FORCEINLINE_FUNCTION FluxAnswers(const KernelArguments& arguments, const TileView& view,
                                          const Planes& planes, int dimensions = 3)
      : a_(arguments), view_(view), s_(planes), dimensions_(dimensions) {}

  // Answers what concerns plane k once its fluxes are complete: the z faces below it, the x and y
  // faces in it, or in it and the plane before where an average takes two planes. In fewer than
  // three dimensions the x and y faces in plane 0 are those of all planes.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void plane(const Member& team, int k) const {
    for (int r = view_.tile().request_begin; r < view_.tile().request_end; ++r) {
      const mesh::FluxRequest& request = a_.sweep.tiles.requests(r);
      const int step = request.average ? 2 : 1;
      int b_first = request.b_begin, b_last = request.b_end;
      if (request.axis == 2) {
        if (request.plane != k) continue;
      } else if (dimensions_ < 3) {
        if (k != 0) continue;
      } else {
        const int b = k + 1 - step;  // first of the planes that end with this one
        if (k == Planes::patch || b < b_first || b >= b_last || (b - b_first) % step != 0) continue;
        b_first = b, b_last = b + 1;
      }
      const int across = (request.a_end - request.a_begin) / step;
      const int rows = (b_last - b_first + step - 1) / step;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, across * rows), [&](int n) {
        const int a = request.a_begin + n % across * step, b = b_first + n / across * step;
        for (int v = 0; v < a_.variables; ++v) answer(request, step, v, a, b);
      });
    }
  }

  // Answers every `shares`-th request, from number `share` on, once all fluxes are complete, each
  // variable of each face by a thread.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void all(const Member& team, int share, int shares) const {
    for (int r = view_.tile().request_begin + share; r < view_.tile().request_end; r += shares) {
      const mesh::FluxRequest& request = a_.sweep.tiles.requests(r);
      const int step = request.average ? 2 : 1;
      const int across = (request.a_end - request.a_begin) / step;
      const int faces = across * ((request.b_end - request.b_begin) / step);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, faces * a_.variables), [&](int n) {
        const int face = n % faces;
        answer(request, step, n / faces, request.a_begin + face % across * step,
               request.b_begin + face / across * step);
      });
    }
  }

 private:
  // Adds the flux of a variable through the face, or the 2 by 2 faces, from (a, b) on.
  KOKKOS_INLINE_FUNCTION void answer(const mesh::FluxRequest& request, int step, int v, int a,
                                     int b) const {
    a_.sweep.registers[request.base + v * request.stride_variable +
                       (b - request.b_begin) / step * request.stride_b +
                       (a - request.a_begin) / step] +=
        a_.sweep.flux_weight * flux(request, v, a, b);
  }

  KOKKOS_INLINE_FUNCTION double flux(const mesh::FluxRequest& request, int v, int a, int b) const {
    const int m = v * Planes::FacePlane::stride;
    const auto face = [&](int da, int db) {
      const int plane = dimensions_ < 3 ? 0 : b + db, row = dimensions_ < 2 ? 0 : a + da;
      if (request.axis == 0) return s_.flux(0, plane).at(row, request.plane)[m];
      if (request.axis == 1) return s_.flux(1, plane).at(request.plane, a + da)[m];
      return s_.flux(2, request.plane).at(b + db, a + da)[m];
    };
    if (!request.average) return face(0, 0);
    return ((face(0, 0) + face(1, 0)) + (face(0, 1) + face(1, 1))) * 0.25;
  }

  const KernelArguments& a_;
  const TileView& view_;
  const Planes& s_;
  int dimensions_;
};

}  // namespace octant::hydro
