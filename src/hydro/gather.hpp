// Gathers planes of a tile's patch and its ghost cells, as primitive variables.
#pragma once

#include "hydro/kernel_arguments.hpp"
#include "hydro/sweep_scratch.hpp"
#include "hydro/swept_cells.hpp"
#include "hydro/tile_view.hpp"
#include "hydro/walls.hpp"

namespace octant::hydro {

// A conserved state, contiguous.
KOKKOS_INLINE_FUNCTION void write_safe_cell(const KernelArguments& a, double* cell) {
  for (int n = 0; n < a.variables; ++n) cell[n] = 0.0;
  cell[k_mass] = 1.0;
  cell[k_energy] = 1.0 / (a.gas.gamma - 1.0);
}

template <class Planes>
class Gather {
  using V = Pack;
  using P = PackTraits<V>;
  using Plane = typename Planes::PrimitivePlane;
  static constexpr int M = Planes::patch, g = Planes::ghosts.reach, width = P::width;

 public:
  KOKKOS_FORCEINLINE_FUNCTION Gather(const KernelArguments& arguments, const TileView& view,
                                     const Planes& planes)
      : a_(arguments), view_(view), s_(planes) {}

  // Pieces of a plane that threads may take: rows of packs, or cells.
  static constexpr int across = M + 2 * g, pieces_per_row = width > 1 ? 1 : across;
  static constexpr int pieces = across * pieces_per_row;

  // One of plane k of the patch, ghost cells of the scheme's shape around it included.
  KOKKOS_FORCEINLINE_FUNCTION void piece(int k, int n) const {
    if constexpr (width > 1) {
      if (ghosts_beside(k, n - g) >= 0) row(k, n - g, ~0u);
    } else {
      constexpr mesh::GhostShape ghosts = Planes::ghosts;
      const int j = n / across - g, i = n % across - g;
      if (!ghosts.contains(overhang(k), overhang(j), overhang(i))) return;
      const BlockRow row = view_.block_row(j, k);
      scattered(
          s_.primitive(k), j, 1, [&](int) { return i; },
          [&](int) { return view_.cell(a_.sweep.current, row, i); });
      if (a_.frame.turns()) to_frame(k, j, i, i + 1);
      if (a_.sources.any()) weigh_beyond_walls(k, j, i, i + 1);
    }
  }

  // Of row (k, j) the packs that hold any of these cells.
  KOKKOS_FORCEINLINE_FUNCTION void row(int k, int j, RowOfCells cells) const {
    const Plane to = s_.primitive(k);
    const BlockRow row = view_.block_row(j, k);
    const int run = M < a_.sweep.tiles.block_size ? M : a_.sweep.tiles.block_size;
    const int step = run > width ? run : width;
    for (int first = 0; first < M; first += step) {
      if ((cells & cells_from(first, step)) == 0) continue;
      const CellPointer from = view_.cell(a_.sweep.current, row, first);
      if (run >= width && from.from) {
        for (int i = 0; i < run; i += width) pack(from.from + i, from.stride, to.at(j, first + i));
      } else {
        for (int i = first; i < first + step; i += width)
          scattered(
              to, j, width, [&](int lane) { return i + lane; },
              [&](int lane) { return view_.cell(a_.sweep.current, row, i + lane); });
      }
    }
    const int ghosts = ghosts_beside(k, j);
    if (ghosts > 0 && (cells & ~cells_from(0, M)) != 0) x_ghosts(to, row, j, ghosts);
    if (a_.frame.turns()) to_frame(k, j, -ghosts, M + ghosts);
    if (a_.sources.any()) weigh_beyond_walls(k, j, -ghosts, M + ghosts);
  }

 private:
  // How many of row (k, j) beyond the patch on either side are needed; negative: no cell of it is.
  KOKKOS_FORCEINLINE_FUNCTION static int ghosts_beside(int k, int j) {
    constexpr mesh::GhostShape ghosts = Planes::ghosts;  // CUDA has no address of the member
    return ghosts.reach_beside(overhang(k), overhang(j));
  }
  KOKKOS_FORCEINLINE_FUNCTION static int overhang(int index) {
    const int beyond = index < 0 ? -index : index - (M - 1);
    return beyond > 0 ? beyond : 0;
  }

  // Takes the frame's velocity from that of the cells of a row from `first` on, before `last`.
  KOKKOS_FORCEINLINE_FUNCTION void to_frame(int k, int j, int first, int last) const {
    double* const velocity = s_.primitive(k).at(j, 0) + k_velocity_x * Plane::stride;
    const double along_x = a_.frame.velocity_x(view_.coordinate(a_.sweep, 1, j));
    for (int i = first; i < last; ++i) {
      velocity[i] -= along_x;
      velocity[Plane::stride + i] -= a_.frame.velocity_y(view_.coordinate(a_.sweep, 0, i));
    }
  }

  // Gives cells of a row, from `first` on, before `last`, that lie beyond walls the pressure that
  // continues the one before the wall.
  KOKKOS_FORCEINLINE_FUNCTION void weigh_beyond_walls(int k, int j, int first, int last) const {
    if (!view_.has_closed_sides()) return;
    if (a_.balanced) return balance_beyond_walls(k, j, first, last);
    double* const pressure = s_.primitive(k).at(j, 0) + k_pressure * Plane::stride;
    for (int i = first; i < last; ++i)
      pressure[i] = pressure_beyond_walls(a_, view_, {i, j, k}, pressure[i]);
  }

  // The same in well-balanced schemes.
  KOKKOS_FORCEINLINE_FUNCTION void balance_beyond_walls(int k, int j, int first, int last) const {
    double* const density = s_.primitive(k).at(j, 0) + k_density * Plane::stride;
    double* const pressure = s_.primitive(k).at(j, 0) + k_pressure * Plane::stride;
    for (int i = first; i < last; ++i) {
      const double factor = hydrostatic_factor(a_, view_, {i, j, k});
      density[i] *= factor;
      pressure[i] *= factor;
    }
  }

  // Left and right ghosts share packs: one conversion of a pack costs little more than one of a
  // cell.
  KOKKOS_FORCEINLINE_FUNCTION void x_ghosts(const Plane& to, const BlockRow& row, int j,
                                            int ghosts) const {
    const CellPointer left = view_.cell(a_.sweep.current, row, -ghosts);
    const CellPointer right = view_.cell(a_.sweep.current, row, M);
    for (int first = 0; first < 2 * ghosts; first += width) {
      const int count = 2 * ghosts - first < width ? 2 * ghosts - first : width;
      scattered(
          to, j, count,
          [&](int lane) OCTANT_INLINE_LAMBDA {
            const int n = first + lane;
            return n < ghosts ? n - ghosts : M + n - ghosts;
          },
          [&](int lane) OCTANT_INLINE_LAMBDA -> CellPointer {
            const int n = first + lane;
            const CellPointer& side = n < ghosts ? left : right;
            return {side.from ? side.from + (n < ghosts ? n : n - ghosts) : nullptr, side.stride};
          });
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void pack(const double* from, int from_stride, double* to) const {
    to_all_primitives<V>([&](int n)
                             OCTANT_INLINE_LAMBDA { return P::load(from + n * from_stride); },
                         [&](int n, const V& value)
                             OCTANT_INLINE_LAMBDA { P::store(to + n * Plane::stride, value); },
                         a_.gas, a_.variables);
  }

  // `count` cells anywhere in a row: cell(lane) is where one is read, column(lane) where it goes.
  template <class Column, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void scattered(const Plane& plane, int j, int count,
                                             const Column& column, const Source& cell) const {
    CellPointer from[width];
    double* to[width];
    for (int lane = 0; lane < width; ++lane) {
      const int n = lane < count ? lane : 0;
      from[lane] = cell(n);
      if (!from[lane].from) from[lane] = {s_.safe_cell(), 1};
      to[lane] = plane.at(j, column(n));
    }
    to_all_primitives<V>(
        [&](int n) OCTANT_INLINE_LAMBDA {
          return P::generate([&](int lane) OCTANT_INLINE_LAMBDA {
            return from[lane].from[n * from[lane].stride];
          });
        },
        [&](int n, const V& value) OCTANT_INLINE_LAMBDA {
          for (int lane = 0; lane < count; ++lane)
            to[lane][n * Plane::stride] = P::lane(value, lane);
        },
        a_.gas, a_.variables);
  }

  const KernelArguments& a_;
  const TileView& view_;
  const Planes& s_;
};

}  // namespace octant::hydro
