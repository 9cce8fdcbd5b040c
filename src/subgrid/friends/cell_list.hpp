// Points sorted by the cells of a grid, of which only the occupied cells are stored.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

// Sort key and index of a point.
struct KeyedPoint {
  std::uint64_t key;
  int point;
};

// Stable radix sort by key, starting with the lowest bits. Keys have at most `bits` bits. O(points)
// for a given number of bits.
void sort_by_key(std::vector<KeyedPoint>& points, int bits);

using CellIndices = std::array<std::int64_t, 3>;

// Grid of cells over a box, or over one period of a periodic axis. Keys run along x first.
class CellGrid {
 public:
  // Grid of cells with widths between `width` and 2 `width`, or larger if keys have too few bits.
  // An axis with an extent below `width` has one cell. `box` contains all points.
  CellGrid(const Box& box, const Linking& linking, double width);

  // Divides each cell into parts^3 subcells with a diagonal of at most `diagonal`. Returns false
  // and leaves cells undivided if that requires more than k_max_parts subcells along an axis.
  bool divide_cells(double diagonal);
  // Number of subcells of each cell.
  int subcells_of_cell() const { return parts_ * parts_ * parts_; }

  // Key of the cell times subcells_of_cell(), plus the number of the subcell.
  std::int64_t key_of_subcell(const Point& point) const {
    CellIndices cell_index;
    int subcell = 0;
    for (int d = 2; d >= 0; --d) {
      const double exact = (point[d] - lower_[d]) * per_length_[d];
      cell_index[d] = std::min(static_cast<std::int64_t>(exact), cells_[d] - 1);
      const double beyond = exact - static_cast<double>(cell_index[d]);
      subcell = subcell * parts_ + std::min(static_cast<int>(beyond * parts_), parts_ - 1);
    }
    return key(cell_index) * subcells_of_cell() + subcell;
  }
  // Key of a cell.
  std::int64_t key(const CellIndices& cell_index) const {
    return (cell_index[2] * cells_[1] + cell_index[1]) * cells_[0] + cell_index[0];
  }
  // Coordinates of the cell with this key.
  CellIndices coordinates(std::int64_t key) const {
    const std::int64_t row = key / cells_[0], plane = row / cells_[1];
    return {key - row * cells_[0], row - plane * cells_[1], plane};
  }
  Box box(std::int64_t key) const;  // box of the cell with this key
  // Wraps a coordinate along a periodic axis. Returns false if it is outside a non-periodic axis.
  bool wrap(int axis, std::int64_t& coordinate) const;

  // Number of cells along an axis.
  std::int64_t cells(int axis) const { return cells_[axis]; }
  // True for a periodic axis.
  bool periodic(int axis) const { return periodic_[axis]; }
  // Number of bits of the keys that key_of_subcell() returns.
  int key_bits() const;

 private:
  static constexpr int k_max_parts = 4;

  Point lower_, per_length_;
  CellIndices cells_;
  std::array<bool, 3> periodic_;
  int parts_ = 1;
};

// Points sorted by cells and, within cells, by subcells. Only occupied subcells are stored.
class CellList {
 public:
  // O(points) for a given number of bits of keys.
  CellList(std::span<const Point> points, const CellGrid& grid);

  int cells() const { return static_cast<int>(keys_.size()) - 1; }  // number of occupied cells
  // Keys of the occupied cells, ascending. A larger sentinel follows the last key.
  std::span<const std::int64_t> keys() const { return {keys_.data(), keys_.size() - 1}; }
  // Number of occupied subcells.
  int subcells() const { return static_cast<int>(begins_.size()) - 1; }
  // First occupied subcell of a cell; the last one is first_subcell(cell + 1) - 1.
  int first_subcell(int cell) const { return first_subcells_[cell]; }
  // First point of a subcell in points(); the last one is begin(subcell + 1) - 1.
  int begin(int subcell) const { return begins_[subcell]; }
  // All points, in the order of cells and subcells.
  std::span<const Point> points() const { return points_; }
  std::span<const int> order() const { return order_; }  // input index of each point

  // Points of a subcell.
  std::span<const Point> points(int subcell) const {
    return points().subspan(begin(subcell), begin(subcell + 1) - begin(subcell));
  }

 private:
  std::vector<std::int64_t> keys_;
  std::vector<int> first_subcells_, begins_, order_;
  std::vector<Point> points_;
};

// Calls visit(a, b) at least once for every pair of different occupied cells that touch, in either
// order. The rows of neighbouring cells are traversed together with the row of the cell, with
// binary searches only at row starts and periodic boundaries. O(cells).
template <class Visit>
void for_each_touching_pair(const CellList& list, const CellGrid& grid, const Visit& visit) {
  struct Row {
    int step_y, step_z;
    std::int64_t first_key;  // -1: outside the domain
    int at;                  // first cell that may touch the next cell to visit
  };
  std::array<Row, 4> rows{{{1, 0, -1, 0}, {-1, 1, -1, 0}, {0, 1, -1, 0}, {1, 1, -1, 0}}};
  const std::int64_t* const keys = list.keys().data();  // followed by a sentinel
  const int cells = list.cells();
  const std::int64_t length = grid.cells(0);

  const auto search = [&](std::int64_t key) {
    return static_cast<int>(std::lower_bound(keys, keys + cells, key) - keys);
  };
  const auto visit_key = [&](int cell, std::int64_t key) {
    const int other = search(key);
    if (keys[other] == key && other != cell) visit(cell, other);
  };

  std::int64_t row_key = -1;  // key of the first cell in the row
  for (int cell = 0; cell < cells; ++cell) {
    if (row_key < 0 || keys[cell] - row_key >= length) {
      const CellIndices cell_index = grid.coordinates(keys[cell]);
      row_key = keys[cell] - cell_index[0];
      for (Row& row : rows) {
        CellIndices there{0, cell_index[1] + row.step_y, cell_index[2] + row.step_z};
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

// Finds groups by linked cells (Hockney & Eastwood 1988, 8-4-1) as wide as the linking length:
// O(points). If the criterion is the distance alone, subcells contain only mutual friends, and
// pairs of subcells that are already linked are skipped, so dense ones cost no more. Otherwise all
// pairs in touching cells are tested.
template <class Criterion>
std::vector<int> by_cells(std::span<const Point> points, const Linking& linking,
                          const Criterion& criterion) {
  constexpr double k_rounding = 1.0 + 1e-9;
  const Box box = bounding_box(points);
  check_points(points, box, linking);
  if (points.empty()) return {};
  CellGrid grid(box, linking, k_rounding * linking.length);
  // True if all points of a subcell are mutual friends.
  const bool subcells_are_linked = Criterion::k_distance_alone && grid.divide_cells(linking.length);
  const CellList list(points, grid);
  const std::span<const int> order = list.order();
  Groups groups(static_cast<int>(points.size()));

  const auto link_points = [&](int a, int b) {
    const double squared = separation_squared(list.points()[a], list.points()[b], linking.period);
    if (squared <= linking.length * linking.length && criterion(order[a], order[b], squared))
      groups.unite(a, b);
  };
  const auto link_subcells = [&](int a, int b) {
    if (subcells_are_linked) {
      if (groups.root(list.begin(a)) == groups.root(list.begin(b))) return;
      if (any_near(list.points(a), list.points(b), linking))
        groups.unite(list.begin(a), list.begin(b));
    } else {
      for (int n = list.begin(a); n < list.begin(a + 1); ++n)
        for (int m = list.begin(b); m < list.begin(b + 1); ++m) link_points(n, m);
    }
  };

  for (int subcell = 0; subcell < list.subcells(); ++subcell)
    for (int n = list.begin(subcell); n < list.begin(subcell + 1); ++n) {
      if (subcells_are_linked) groups.unite(list.begin(subcell), n);
      else
        for (int m = n + 1; m < list.begin(subcell + 1); ++m) link_points(n, m);
    }
  for (int cell = 0; cell < list.cells(); ++cell)
    for (int a = list.first_subcell(cell); a < list.first_subcell(cell + 1); ++a)
      for (int b = a + 1; b < list.first_subcell(cell + 1); ++b) link_subcells(a, b);
  for_each_touching_pair(list, grid, [&](int cell, int other) {
    for (int a = list.first_subcell(cell); a < list.first_subcell(cell + 1); ++a)
      for (int b = list.first_subcell(other); b < list.first_subcell(other + 1); ++b)
        link_subcells(a, b);
  });
  return groups.labels(order);
}

}  // namespace octant::subgrid::friends
