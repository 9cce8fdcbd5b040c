// Points by the cells of a grid, of which only those that hold points take memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "subgrid/friends/box.hpp"
#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

using CellPlace = std::array<std::int64_t, 3>;

// A grid of cells over a box, or over one period of a periodic axis. Keys follow rows along x.
class CellGrid {
 public:
  // Cells are at least as wide as `width` along every axis that is not shorter, and less than twice
  // as wide as far as keys can count them. `box` holds all points.
  CellGrid(const Box& box, const Linking& linking, double width);

  // Each cell has parts^3 parts, so small that no two places in one are farther apart than
  // `diagonal`; one part if it would take more than k_most_parts. Returns whether it does not.
  bool divide_cells(double diagonal);
  int parts_of_cell() const { return parts_ * parts_ * parts_; }

  // The key of the cell times parts_of_cell(), plus the number of the part.
  std::int64_t key_of_part(const Point& point) const {
    CellPlace place;
    int part = 0;
    for (int d = 2; d >= 0; --d) {
      const double exact = (point[d] - lower_[d]) * per_length_[d];
      place[d] = std::min(static_cast<std::int64_t>(exact), cells_[d] - 1);
      const double beyond = exact - static_cast<double>(place[d]);
      part = part * parts_ + std::min(static_cast<int>(beyond * parts_), parts_ - 1);
    }
    return key(place) * parts_of_cell() + part;
  }
  std::int64_t key(const CellPlace& place) const {
    return (place[2] * cells_[1] + place[1]) * cells_[0] + place[0];
  }
  CellPlace place(std::int64_t key) const {
    const std::int64_t row = key / cells_[0], plane = row / cells_[1];
    return {key - row * cells_[0], row - plane * cells_[1], plane};
  }
  Box box(std::int64_t key) const;  // of a cell
  // Wraps a place along a periodic axis. False if it is then outside.
  bool wrap(int axis, std::int64_t& place) const;

  std::int64_t cells(int axis) const { return cells_[axis]; }
  bool periodic(int axis) const { return periodic_[axis]; }
  int key_bits() const;

 private:
  static constexpr int k_most_parts = 4;

  Point lower_, per_length_;
  CellPlace cells_;
  std::array<bool, 3> periodic_;
  int parts_ = 1;
};

// Points in the order of cells and, within, of parts: a clump is what lies in one part.
class CellList {
 public:
  // O(points) but for the number of bits of keys.
  CellList(std::span<const Point> points, const CellGrid& grid);

  int cells() const { return static_cast<int>(keys_.size()) - 1; }  // occupied ones
  // Of those cells, ascending. Beyond the end is one more, which is larger.
  std::span<const std::int64_t> keys() const { return {keys_.data(), keys_.size() - 1}; }
  int clumps() const { return static_cast<int>(begins_.size()) - 1; }
  // A cell's clumps are first_clump(cell), ..., first_clump(cell + 1) - 1; a clump's points are
  // begin(clump), ..., begin(clump + 1) - 1 of points().
  int first_clump(int cell) const { return first_clumps_[cell]; }
  int begin(int clump) const { return begins_[clump]; }
  std::span<const Point> points() const { return points_; }
  std::span<const int> order() const { return order_; }  // where each was before

  std::span<const Point> points(int clump) const {
    return points().subspan(begin(clump), begin(clump + 1) - begin(clump));
  }

 private:
  std::vector<std::int64_t> keys_;
  std::vector<int> first_clumps_, begins_, order_;
  std::vector<Point> points_;
};

// Calls visit(a, b) once, or now and then again, for every pair of different occupied cells that
// touch, a < b or not. A row of neighbours is read along with the row of cells itself: nothing is
// searched for but where the domain ends. O(cells).
template <class Visit>
void for_each_touching_pair(const CellList& list, const CellGrid& grid, const Visit& visit) {
  struct Row {
    int step_y, step_z;
    std::int64_t first_key;  // -1: outside
    int at;                  // no cell before this one is beside the next one to visit
  };
  std::array<Row, 4> rows{{{1, 0, -1, 0}, {-1, 1, -1, 0}, {0, 1, -1, 0}, {1, 1, -1, 0}}};
  const std::int64_t* const keys = list.keys().data();  // and one that no other exceeds
  const int cells = list.cells();
  const std::int64_t length = grid.cells(0);

  const auto search = [&](std::int64_t key) {
    return static_cast<int>(std::lower_bound(keys, keys + cells, key) - keys);
  };
  const auto visit_key = [&](int cell, std::int64_t key) {
    const int other = search(key);
    if (keys[other] == key && other != cell) visit(cell, other);
  };

  std::int64_t row_key = -1;  // of the first cell in the row
  for (int cell = 0; cell < cells; ++cell) {
    if (row_key < 0 || keys[cell] - row_key >= length) {
      const CellPlace place = grid.place(keys[cell]);
      row_key = keys[cell] - place[0];
      for (Row& row : rows) {
        CellPlace there{0, place[1] + row.step_y, place[2] + row.step_z};
        const std::int64_t before = row.first_key;
        const bool inside = grid.wrap(1, there[1]) && grid.wrap(2, there[2]);
        row.first_key = inside ? grid.key(there) : -1;
        if (inside && (before < 0 || row.first_key < before)) row.at = search(row.first_key);
      }
    }
    const std::int64_t x = keys[cell] - row_key;
    const std::int64_t first = std::max<std::int64_t>(x - 1, 0), last = std::min(x + 1, length - 1);
    const bool wraps_up = grid.periodic(0) && x + 1 == length;
    const bool wraps_down = grid.periodic(0) && x == 0;

    if (keys[cell + 1] <= row_key + last) visit(cell, cell + 1);
    if (wraps_up) visit_key(cell, row_key);
    for (Row& row : rows) {
      if (row.first_key < 0) continue;
      while (keys[row.at] < row.first_key + first) ++row.at;
      for (int n = row.at; keys[n] <= row.first_key + last; ++n)
        if (n != cell) visit(cell, n);
      if (wraps_up) visit_key(cell, row.first_key);
      if (wraps_down) visit_key(cell, row.first_key + length - 1);
    }
  }
}

}  // namespace octant::subgrid::friends
