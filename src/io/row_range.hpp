// Row ranges of datasets and their distribution over ranks.
#pragma once

#include <cstdint>

namespace octant {

// Rows begin .. begin + count - 1.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t count = 0;

  // One past the last row.
  std::int64_t end() const { return begin + count; }
  bool operator==(const RowRange&) const = default;
};

// Rows of one of `parts` contiguous, nearly equal parts of `total` rows: the first total % parts
// parts have one row more than the others.
constexpr RowRange even_share(std::int64_t total, int part, int parts) {
  const std::int64_t each = total / parts, more = total % parts;
  return {part * each + (part < more ? part : more), each + (part < more ? 1 : 0)};
}

// Part that contains a row: the inverse of even_share.
constexpr int part_of_row(std::int64_t total, std::int64_t row, int parts) {
  const std::int64_t each = total / parts, more = total % parts;
  const std::int64_t rows_of_larger_parts = more * (each + 1);
  if (row < rows_of_larger_parts) return static_cast<int>(row / (each + 1));
  return static_cast<int>(more + (row - rows_of_larger_parts) / each);
}

}  // namespace octant
