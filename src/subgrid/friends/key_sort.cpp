#include "subgrid/friends/key_sort.hpp"

#include <cstddef>

namespace octant::subgrid::friends {

namespace {

constexpr int k_most_digit_bits = 11;  // 2048 counters stay in the first cache

}  // namespace

void sort_by_key(std::vector<KeyedPoint>& points, int bits) {
  const int passes = (bits + k_most_digit_bits - 1) / k_most_digit_bits;
  if (passes == 0 || points.size() < 2) return;
  const int digit_bits = (bits + passes - 1) / passes;
  const auto digits = std::size_t{1} << digit_bits;

  // The counts of all passes in one.
  std::vector<int> places(passes * digits, 0);
  for (const KeyedPoint& point : points)
    for (int pass = 0; pass < passes; ++pass)
      ++places[pass * digits + (point.key >> pass * digit_bits & (digits - 1))];

  std::vector<KeyedPoint> sorted(points.size());
  for (int pass = 0; pass < passes; ++pass) {
    int* const place = places.data() + pass * digits;
    const int shift = pass * digit_bits;
    if (place[points[0].key >> shift & (digits - 1)] == static_cast<int>(points.size())) continue;
    int begin = 0;
    for (std::size_t digit = 0; digit < digits; ++digit) {
      const int count = place[digit];
      place[digit] = begin;
      begin += count;
    }
    for (const KeyedPoint& point : points)
      sorted[place[point.key >> shift & (digits - 1)]++] = point;
    points.swap(sorted);
  }
}

}  // namespace octant::subgrid::friends
