#include "subgrid/friends/cell_list.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace octant::subgrid::friends {

namespace {

constexpr int k_max_digit_bits = 11;  // 2048 counters fit into the first-level cache

}  // namespace

void sort_by_key(std::vector<KeyedPoint>& points, int bits) {
  const int passes = (bits + k_max_digit_bits - 1) / k_max_digit_bits;
  if (passes == 0 || points.size() < 2) return;
  const int digit_bits = (bits + passes - 1) / passes;
  const auto digits = std::size_t{1} << digit_bits;

  // Counts of each digit in all passes.
  std::vector<int> counts(passes * digits, 0);
  for (const KeyedPoint& point : points)
    for (int pass = 0; pass < passes; ++pass)
      ++counts[pass * digits + (point.key >> pass * digit_bits & (digits - 1))];

  std::vector<KeyedPoint> sorted(points.size());
  for (int pass = 0; pass < passes; ++pass) {
    int* const begins = counts.data() + pass * digits;
    const int shift = pass * digit_bits;
    if (begins[points[0].key >> shift & (digits - 1)] == static_cast<int>(points.size())) continue;
    int begin = 0;
    for (std::size_t digit = 0; digit < digits; ++digit) {
      const int count = begins[digit];
      begins[digit] = begin;
      begin += count;
    }
    for (const KeyedPoint& point : points)
      sorted[begins[point.key >> shift & (digits - 1)]++] = point;
    points.swap(sorted);
  }
}

namespace {

// Maximum number of cells along an axis, whose cube times the number of parts fits into a key.
constexpr std::int64_t k_max_cells = (std::int64_t{1} << 19) - 1;

std::int64_t cells_along(double extent, double width) {
  const double exact = extent / width;
  if (!(exact > 1.0)) return 1;  // also for points without extent
  return std::min(static_cast<std::int64_t>(std::min(exact, 1e18)), k_max_cells);
}

}  // namespace

CellGrid::CellGrid(const Box& box, const Linking& linking, double width) : lower_(box.lower) {
  for (int d = 0; d < 3; ++d) {
    periodic_[d] = linking.periodic(d);
    const double extent = periodic_[d] ? linking.period[d] : box.upper[d] - box.lower[d];
    cells_[d] = cells_along(extent, width);
    per_length_[d] = extent > 0.0 ? static_cast<double>(cells_[d]) / extent : 0.0;
  }
}

bool CellGrid::divide_cells(double diagonal) {
  constexpr double k_rounding = 1.0 + 1e-9;
  double squared = 0.0;
  for (const double per_length : per_length_)
    if (per_length > 0.0) squared += 1.0 / (per_length * per_length);
  const double least = std::ceil(k_rounding * std::sqrt(squared) / diagonal);
  const bool few = least <= k_max_parts;  // false if the diagonal is 0
  parts_ = few ? std::max(1, static_cast<int>(least)) : 1;
  return few;
}

Box CellGrid::box(std::int64_t key) const {
  const CellIndices there = coordinates(key);
  Box box;
  for (int d = 0; d < 3; ++d) {
    const double width = per_length_[d] > 0.0 ? 1.0 / per_length_[d] : 0.0;
    box.lower[d] = lower_[d] + width * static_cast<double>(there[d]);
    box.upper[d] = lower_[d] + width * static_cast<double>(there[d] + 1);
  }
  return box;
}

bool CellGrid::wrap(int axis, std::int64_t& coordinate) const {
  if (coordinate >= 0 && coordinate < cells_[axis]) return true;
  if (!periodic_[axis]) return false;
  coordinate %= cells_[axis];
  if (coordinate < 0) coordinate += cells_[axis];
  return true;
}

int CellGrid::key_bits() const {
  const std::int64_t keys = cells_[0] * cells_[1] * cells_[2] * subcells_of_cell();
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(keys - 1)));
}

CellList::CellList(std::span<const Point> points, const CellGrid& grid)
    : order_(points.size()), points_(points.size()) {
  const auto count = static_cast<int>(points.size());
  std::vector<KeyedPoint> keyed(count);
  for (int n = 0; n < count; ++n)
    keyed[n] = {static_cast<std::uint64_t>(grid.key_of_subcell(points[n])), n};
  sort_by_key(keyed, grid.key_bits());

  const auto subcells = static_cast<std::uint64_t>(grid.subcells_of_cell());
  // This loop is separate so that the processor overlaps many loads.
  for (int n = 0; n < count; ++n) points_[n] = points[keyed[n].point];
  for (int n = 0; n < count; ++n) {
    order_[n] = keyed[n].point;
    if (n > 0 && keyed[n].key == keyed[n - 1].key) continue;
    const auto key = static_cast<std::int64_t>(keyed[n].key / subcells);
    if (keys_.empty() || keys_.back() != key) {
      keys_.push_back(key);
      first_subcells_.push_back(static_cast<int>(begins_.size()));
    }
    begins_.push_back(n);
  }
  first_subcells_.push_back(static_cast<int>(begins_.size()));
  begins_.push_back(count);
  keys_.push_back(std::numeric_limits<std::int64_t>::max());
}

}  // namespace octant::subgrid::friends
