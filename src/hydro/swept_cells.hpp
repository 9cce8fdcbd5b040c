// Which cells of a tile's patch and around it a sweep looks at: all that those need which this rank
// owns, and no others. A patch of small blocks is seldom full, nor does one rank own all of it.
#pragma once

#include <array>
#include <cstdint>

#include "core/pack.hpp"
#include "hydro/tile_view.hpp"
#include "mesh/ghost_shape.hpp"

namespace octant::hydro {

// The cells of a row that are in a set: bit i + k_row_margin is cell i.
using RowOfCells = std::uint32_t;
inline constexpr int k_row_margin = 4;  // one more than the widest ghosts

// So many cells from `first` on.
KOKKOS_FORCEINLINE_FUNCTION constexpr RowOfCells cells_from(int first, int count) {
  return ((RowOfCells{1} << count) - 1) << (first + k_row_margin);
}

// body(i) for those packs that hold any cell of a set: packs begin at columns i_first, i_first +
// width, ... and cover [i_first, i_last). Columns that the compiler knows make a tenth of a sweep.
template <int i_first, int i_last, class Body>
KOKKOS_FORCEINLINE_FUNCTION void for_packs(RowOfCells cells, const Body& body) {
  constexpr int width = PackTraits<Pack>::width;
  for (int i = i_first; i < i_last; i += width)
    if ((cells & cells_from(i, width)) != 0) body(i);
}

// A set of cells of a patch and its ghosts.
template <int M>
class CellSet {
 public:
  RowOfCells row(int k, int j) const { return rows_[k + k_row_margin][j + k_row_margin]; }
  RowOfCells& row(int k, int j) { return rows_[k + k_row_margin][j + k_row_margin]; }

  // What row (k, j) has when cells beside those of the set are taken in: across faces, or, for a
  // cube's stencils, across edges and corners, too.
  RowOfCells grown_row(mesh::GhostShape::Kind kind, int k, int j) const {
    const auto along_x = [](RowOfCells cells) { return cells | cells << 1 | cells >> 1; };
    const RowOfCells beside = row(k - 1, j) | row(k + 1, j) | row(k, j - 1) | row(k, j + 1);
    if (kind == mesh::GhostShape::Kind::star) return along_x(row(k, j)) | beside;
    return along_x(row(k, j) | beside | row(k - 1, j - 1) | row(k - 1, j + 1) | row(k + 1, j - 1) |
                   row(k + 1, j + 1));
  }
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

template <int M>
class SweptCells {
 public:
  // Where the gas changes along fewer than three axes, those of the first plane, or of its first
  // row, stand for all others.
  SweptCells(const TileView& view, int dimensions, const mesh::GhostShape& ghosts)
      : kind_(ghosts.kind), own_(own_cells(view, dimensions)), nearly_read_(own_) {
    for (int axis = 0; axis < 3; ++axis)
      for (int side = 0; side < 2; ++side)
        closed_[axis][side] = {view.closed(axis, side), view.lets_out(axis, side)};
    for (int n = 1; n < ghosts.reach; ++n) nearly_read_ = nearly_read_.grown(kind_);
    const auto is_empty = [this](int k) {
      for (int j = 0; j < M; ++j)
        if (own_.row(k, j) != 0) return false;
      return true;
    };
    while (begin_ < M && is_empty(begin_)) ++begin_;
    while (end_ > begin_ && is_empty(end_ - 1)) --end_;
  }

  // The planes that have own cells are among these.
  int begin() const { return begin_; }
  int end() const { return end_; }

  // In row (k, j): what is updated; what states on surfaces are found of, for fluxes through the
  // faces of own cells; and what those are reconstructed from.
  RowOfCells own(int k, int j) const { return own_.row(k, j); }
  RowOfCells with_states(int k, int j) const {
    return own_.grown_row(mesh::GhostShape::Kind::star, k, j);
  }
  RowOfCells read(int k, int j) const { return nearly_read_.grown_row(kind_, k, j); }
  // The cells whose lower faces along an axis are faces of own cells.
  RowOfCells with_fluxes(int axis, int k, int j) const {
    const RowOfCells here = own_.row(k, j);
    if (axis == 0) return here | here << 1;
    return here | (axis == 1 ? own_.row(k, j - 1) : own_.row(k - 1, j));
  }

  // visit(j, i, side, lets_out) for the cells of plane k whose lower faces along an axis are such
  // faces and lie on a side of the domain that gas does not enter, below (0) or above (1) the gas.
  template <class Visit>
  void for_closed(int axis, int k, const Visit& visit) const {
    for (int side = 0; side < 2; ++side) {
      const auto [wall, lets_out] = closed_[axis][side];
      if (axis == 2 ? wall != k : wall < 0 || wall > M) continue;
      const int j_first = axis == 1 ? wall : 0, j_end = axis == 1 ? wall + 1 : M;
      const int i_first = axis == 0 ? wall : 0, i_end = axis == 0 ? wall + 1 : M;
      for (int j = j_first; j < j_end; ++j) {
        const RowOfCells faces = with_fluxes(axis, k, j);
        for (int i = i_first; i < i_end; ++i)
          if ((faces & cells_from(i, 1)) != 0) visit(j, i, side, lets_out);
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
  CellSet<M> own_, nearly_read_;  // the latter lacks the outermost cells that are read
  int begin_ = 0, end_ = M;
  struct {
    int cell;
    bool lets_out;
  } closed_[3][2];  // as TileView has them
};

}  // namespace octant::hydro
