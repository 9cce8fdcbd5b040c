#include "pencil/lines.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace octant::pencil {

namespace {

// Distributes lines over ranks in strips whose widths are multiples of `unit` columns: one strip
// per rank, or several ranks share the rows of a strip. Strips have at least `wide` columns, unless
// some ranks would then have no lines. The number of strips minimises the largest share of a rank.
Box share_of(const Box& lines, int unit, int wide, int ranks, int rank) {
  const int columns = lines[0].count(), rows = lines[1].count();
  const int units = (columns + unit - 1) / unit, few = (ranks + rows - 1) / std::max(rows, 1);
  const auto largest_share = [&](int strips) {
    const int sharers = ranks / strips;
    return std::int64_t{(units + strips - 1) / strips} * ((rows + sharers - 1) / sharers);
  };
  int strips = std::clamp(ranks, 1, std::max(columns / wide, 1));
  if (strips < ranks)
    for (int n = strips = 1; n <= std::min({std::max(columns / wide, few), units, ranks}); ++n)
      if (largest_share(n) <= largest_share(strips)) strips = n;

  int strip = 0;
  while (!part(ranks, strips, strip).contains(rank)) ++strip;
  const Range sharers = part(ranks, strips, strip), own = part(units, strips, strip);
  const Range own_rows = part(rows, sharers.count(), rank - sharers.begin);
  const int x = lines[0].begin, y = lines[1].begin;
  return {Range{x + unit * own.begin, std::min(x + unit * own.end, lines[0].end)},
          Range{y + own_rows.begin, y + own_rows.end}, lines[2]};
}

}  // namespace

Box SharedMatrix::share(const Box& lines, int ranks, int rank) {
  return share_of(lines, 1, std::max(lines[0].count(), 1), ranks, rank);
}

Box ShiftedMatrices::share(const Box& lines, int ranks, int rank) {
  return share_of(lines, 2, k_columns, ranks, rank);
}

ShiftedMatrices::ShiftedMatrices(const std::vector<Row>& rows) {
  std::map<std::pair<const double*, int>, Place> known;  // key: address of the first shift, twin
  for (const Row& row : rows)
    for (std::size_t begin = 0; begin < row.x.size(); begin += k_columns) {
      const std::span<const double> x = row.x.subspan(begin);
      const auto [found, is_new] = known.try_emplace({x.data(), row.twin});
      if (is_new) found->second = add_chunk(x, row.y);
      places_.push_back(found->second);
    }
}

// Adds the shifts of a chunk. Beyond the end of a row, the last shift of the row is repeated.
ShiftedMatrices::Place ShiftedMatrices::add_chunk(std::span<const double> x, double y) {
  const auto shift = [&](std::size_t i) { return x[std::min(i, x.size() - 1)] + y; };
  Place place{shifts_.size(), true};
  for (int i = 0; i < k_columns; i += 2) place.pairs = place.pairs && shift(i) == shift(i + 1);
  for (int i = 0; i < k_columns; i += place.pairs ? 2 : 1) shifts_.push_back(shift(i));
  return place;
}

}  // namespace octant::pencil
