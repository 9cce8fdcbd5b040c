// Gathers the cells of a tile's patch and its ghost cells, as primitive variables: only those that
// the cells of this rank need. A patch of small blocks is rarely full, and one rank rarely owns all
// of it.
#pragma once

#include <array>
#include <cstdint>

#include "core/simd.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/tile_view.hpp"
#include "hydro/walls.hpp"
#include "mesh/tiles.hpp"

namespace octant::hydro {

// Cells of a row that are in a set: bit i + k_row_margin is cell i.
using RowOfCells = std::uint32_t;
inline constexpr int k_row_margin = 4;  // one more than the largest number of ghost cells

// Returns the set of `count` cells from `first` on.
KOKKOS_FORCEINLINE_FUNCTION constexpr RowOfCells cells_from(int first, int count) {
  return ((RowOfCells{1} << count) - 1) << (first + k_row_margin);
}

// Calls body(i) for packs that contain any cell of a set: packs begin at columns i_first, i_first +
// width, ... and cover [i_first, i_last). Compile-time column ranges make a sweep a tenth faster.
template <int i_first, int i_last, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_packs(RowOfCells cells, const Body& body) {
  constexpr int width = SimdTraits<SimdDouble>::width;
  for (int i = i_first; i < i_last; i += width)
    if ((cells & cells_from(i, width)) != 0) body(i);
}

// Set of cells of a patch and its ghosts.
template <int M>
class CellSet {
 public:
  // Cells of row (k, j).
  RowOfCells row(int k, int j) const { return rows_[k + k_row_margin][j + k_row_margin]; }
  // Cells of row (k, j), to be set.
  RowOfCells& row(int k, int j) { return rows_[k + k_row_margin][j + k_row_margin]; }

  // Row (k, j) of the set extended by adjacent cells: across faces, or, for the stencils of a cube,
  // also across edges and corners.
  RowOfCells grown_row(mesh::GhostShape::Kind kind, int k, int j) const {
    const auto along_x = [](RowOfCells cells) { return cells | cells << 1 | cells >> 1; };
    const RowOfCells beside = row(k - 1, j) | row(k + 1, j) | row(k, j - 1) | row(k, j + 1);
    if (kind == mesh::GhostShape::Kind::star) return along_x(row(k, j)) | beside;
    return along_x(row(k, j) | beside | row(k - 1, j - 1) | row(k - 1, j + 1) | row(k + 1, j - 1) |
                   row(k + 1, j + 1));
  }
  // Returns the whole set extended by adjacent cells.
  CellSet grown(mesh::GhostShape::Kind kind) const {
    CellSet set;
    for (int k = 1 - k_row_margin; k < M + k_row_margin - 1; ++k)
      for (int j = 1 - k_row_margin; j < M + k_row_margin - 1; ++j)
        set.row(k, j) = grown_row(kind, k, j);
    return set;
  }

 private:
  static constexpr int across = M + 2 * k_row_margin;
  std::array<std::array<RowOfCells, across>, across> rows_{};
};

// Cells of a tile that the CPU schedule reads, reconstructs and updates, by row.
template <int M>
class ActiveCells {
 public:
  // Cells of the first plane, or of its first row, represent all others if the gas varies along
  // fewer than three axes.
  ActiveCells(const TileView& view, int dimensions, const mesh::GhostShape& ghosts)
      : kind_(ghosts.kind), own_(own_cells(view, dimensions)), nearly_read_(own_) {
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side)
        closed_[axis][side] = {view.closed(axis, side), view.is_diode(axis, side)};
    for (int n = 1; n < ghosts.reach; ++n) nearly_read_ = nearly_read_.grown(kind_);
    const auto is_empty = [this](int k) {
      for (int j = 0; j < M; ++j)
        if (own_.row(k, j) != 0) return false;
      return true;
    };
    while (begin_ < M && is_empty(begin_)) ++begin_;
    while (end_ > begin_ && is_empty(end_ - 1)) --end_;
  }

  // First plane with own cells.
  int begin() const { return begin_; }
  // Plane after the last one with own cells.
  int end() const { return end_; }

  // Cells in row (k, j) that are updated.
  RowOfCells own(int k, int j) const { return own_.row(k, j); }
  // Cells in row (k, j) with surface states, for fluxes through the faces of own cells.
  RowOfCells with_states(int k, int j) const {
    return own_.grown_row(mesh::GhostShape::Kind::star, k, j);
  }
  // Cells in row (k, j) that are read for the reconstruction.
  RowOfCells read(int k, int j) const { return nearly_read_.grown_row(kind_, k, j); }
  // Cells whose lower faces along an axis are faces of own cells.
  RowOfCells with_fluxes(int axis, int k, int j) const {
    const RowOfCells here = own_.row(k, j);
    if (axis == 0) return here | here << 1;
    return here | (axis == 1 ? own_.row(k, j - 1) : own_.row(k - 1, j));
  }

  // Calls visit(j, i, side, is_diode) for each face of own cells on a closed boundary at the lower
  // (side 0) or upper (1) end of an axis: the lower face along the axis of cell (j, i) in plane k.
  template <class Visit>
  void for_closed(int axis, int k, const Visit& visit) const {
    for (int side = 0; side < 2; ++side) {
      const auto [wall, is_diode] = closed_[axis][side];
      if (axis == 2 ? wall != k : wall < 0 || wall > M) continue;
      const int j_first = axis == 1 ? wall : 0, j_end = axis == 1 ? wall + 1 : M;
      const int i_first = axis == 0 ? wall : 0, i_end = axis == 0 ? wall + 1 : M;
      for (int j = j_first; j < j_end; ++j) {
        const RowOfCells faces = with_fluxes(axis, k, j);
        for (int i = i_first; i < i_end; ++i)
          if ((faces & cells_from(i, 1)) != 0) visit(j, i, side, is_diode);
      }
    }
  }

 private:
  static CellSet<M> own_cells(const TileView& view, int dimensions) {
    const int rows = dimensions > 1 ? M : 1, planes = dimensions > 2 ? M : 1;
    CellSet<M> own;
    for (int k = 0; k < planes; ++k)
      for (int j = 0; j < rows; ++j)
        if (!view.begins_block(k)) own.row(k, j) = own.row(k - 1, j);
        else if (!view.begins_block(j)) own.row(k, j) = own.row(k, j - 1);
        else own.row(k, j) = view.own_cells<M>(k, j) << k_row_margin;
    return own;
  }

  mesh::GhostShape::Kind kind_;
  CellSet<M> own_, nearly_read_;  // nearly_read_: cells that are read, without the outermost ones
  int begin_ = 0, end_ = M;
  struct {
    int cell;
    bool is_diode;
  } closed_[3][2];  // as in TileView
};

// Writes the conserved state of gas at rest with density and pressure 1, contiguously.
KOKKOS_INLINE_FUNCTION void write_fill_state(const KernelArguments& a, double* cell) {
  for (int n = 0; n < a.variables; ++n) cell[n] = 0.0;
  cell[k_mass] = 1.0;
  cell[k_energy] = 1.0 / (a.gas.gamma - 1.0);
}

// Conversion of a tile's cells to primitive variables in the planes of a schedule, for a gas
// of the type G.
template <class Planes, class G>
class Gather {
  using V = SimdDouble;
  using P = SimdTraits<V>;
  using Plane = typename Planes::PrimitivePlane;
  static constexpr int M = Planes::patch, g = Planes::ghosts.reach, width = P::width;

 public:
  KOKKOS_FORCEINLINE_FUNCTION Gather(const KernelArguments& arguments, const TileView& view,
                                     const Planes& planes)
      : a_(arguments), view_(view), s_(planes) {}

  // Division of a plane among threads: rows of packs, or single cells.
  static constexpr int across = M + 2 * g, pieces_per_row = width > 1 ? 1 : across;
  static constexpr int pieces = across * pieces_per_row;

  // Gathers part n of plane k of the patch, ghost cells of the scheme's shape included.
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

  // Gathers the packs of row (k, j) that contain any of these cells.
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
  // Number of ghost cells of row (k, j) needed on either side; negative if no cell of the row is
  // needed.
  KOKKOS_FORCEINLINE_FUNCTION static int ghosts_beside(int k, int j) {
    constexpr mesh::GhostShape ghosts = Planes::ghosts;  // CUDA has no address of the member
    return ghosts.reach_beside(overhang(k), overhang(j));
  }
  KOKKOS_FORCEINLINE_FUNCTION static int overhang(int index) {
    const int beyond = index < 0 ? -index : index - (M - 1);
    return beyond > 0 ? beyond : 0;
  }

  // Subtracts the frame's velocity from the cells of a row from `first` on, before `last`.
  KOKKOS_FORCEINLINE_FUNCTION void to_frame(int k, int j, int first, int last) const {
    double* const velocity = s_.primitive(k).at(j, 0) + k_velocity_x * Plane::stride;
    const double along_x = a_.frame.velocity_x(view_.coordinate(a_.sweep, 1, j));
    for (int i = first; i < last; ++i) {
      velocity[i] -= along_x;
      velocity[Plane::stride + i] -= a_.frame.velocity_y(view_.coordinate(a_.sweep, 0, i));
    }
  }

  // Sets the pressure of ghost cells of a row, columns `first` to `last` - 1, beyond walls: a
  // continuation of the pressure before the wall. In isothermal gas the density follows.
  KOKKOS_FORCEINLINE_FUNCTION void weigh_beyond_walls(int k, int j, int first, int last) const {
    if (!view_.has_closed_sides()) return;
    if (a_.balanced) return balance_beyond_walls(k, j, first, last);
    double* const pressure = s_.primitive(k).at(j, 0) + k_pressure * Plane::stride;
    if (a_.is_isothermal) {
      double* const density = s_.primitive(k).at(j, 0) + k_density * Plane::stride;
      for (int i = first; i < last; ++i)
        density[i] = isothermal_density_beyond_walls(a_, view_, {i, j, k}, density[i], pressure[i]);
    }
    for (int i = first; i < last; ++i)
      pressure[i] = pressure_beyond_walls(a_, view_, {i, j, k}, pressure[i]);
  }

  // Sets density and pressure of ghost cells beyond walls for well-balanced schemes: a continuation
  // of the hydrostatic profile.
  KOKKOS_FORCEINLINE_FUNCTION void balance_beyond_walls(int k, int j, int first, int last) const {
    double* const density = s_.primitive(k).at(j, 0) + k_density * Plane::stride;
    double* const pressure = s_.primitive(k).at(j, 0) + k_pressure * Plane::stride;
    for (int i = first; i < last; ++i) {
      const double factor = hydrostatic_factor(a_, view_, {i, j, k});
      density[i] *= factor;
      pressure[i] *= factor;
    }
  }

  // Gathers left and right ghosts in common packs: a pack costs little more than a cell.
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
                         a_.gas_as<G>(), a_.variables);
  }

  // Converts `count` cells in a row: cell(lane) is the source, column(lane) the destination.
  template <class Column, class Source>
  KOKKOS_FORCEINLINE_FUNCTION void scattered(const Plane& plane, int j, int count,
                                             const Column& column, const Source& cell) const {
    CellPointer from[width];
    double* to[width];
    for (int lane = 0; lane < width; ++lane) {
      const int n = lane < count ? lane : 0;
      from[lane] = cell(n);
      if (!from[lane].from) from[lane] = {s_.fill_state(), 1};
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
        a_.gas_as<G>(), a_.variables);
  }

  const KernelArguments& a_;
  const TileView& view_;
  const Planes& s_;
};

}  // namespace octant::hydro
