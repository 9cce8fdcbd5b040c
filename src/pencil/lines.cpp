#include "pencil/lines.hpp"

#include <map>
#include <utility>

namespace octant::pencil {

Box SharedMatrix::share(const Box& lines, int ranks, int rank) {
  const Range own = part(lines[1].count(), ranks, rank);
  const int begin = lines[1].begin;
  return {lines[0], Range{begin + own.begin, begin + own.end}, lines[2]};
}

Box ShiftedMatrices::share(const Box& lines, int ranks, int rank) {
  const Range pairs = part((lines[0].count() + 1) / 2, ranks, rank);
  const int begin = lines[0].begin;
  const Range own{begin + 2 * pairs.begin, std::min(begin + 2 * pairs.end, lines[0].end)};
  return {own, lines[1], lines[2]};
}

ShiftedMatrices::ShiftedMatrices(const std::vector<Row>& rows) {
  std::map<std::pair<const double*, int>, Place> known;  // by first line and twin
  for (const Row& row : rows)
    for (std::size_t begin = 0; begin < row.x.size(); begin += k_columns) {
      const std::span<const double> x = row.x.subspan(begin);
      const auto [found, is_new] = known.try_emplace({x.data(), row.twin});
      if (is_new) found->second = add_chunk(x, row.y);
      places_.push_back(found->second);
    }
}

// Lines beyond the last one of a row have coefficients like it.
ShiftedMatrices::Place ShiftedMatrices::add_chunk(std::span<const double> x, double y) {
  const auto shift = [&](std::size_t i) { return x[std::min(i, x.size() - 1)] + y; };
  Place place{shifts_.size(), true};
  for (int i = 0; i < k_columns; i += 2) place.pairs = place.pairs && shift(i) == shift(i + 1);
  for (int i = 0; i < k_columns; i += place.pairs ? 2 : 1) shifts_.push_back(shift(i));
  return place;
}

}  // namespace octant::pencil
