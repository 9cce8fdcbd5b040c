// Moves rows from the ranks that own them to the ranks that write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/exchange_plan.hpp"
#include "comm/exchanger.hpp"
#include "io/row_range.hpp"

namespace octant {

// Knows for each row of a dataset the rank that owns it, any one, and the rank that writes it:
// ranks write even, contiguous shares in ascending order. Made once per level, it moves any number
// of fields. The owners keep their rows in the order in which they gave them to the constructor.
class RowShuffle {
 public:
  // `rows` are the rows of the dataset that this rank owns, in any order; together the ranks own
  // each row 0 .. total - 1 once. Collective. Throws RunError on every rank if they do not.
  RowShuffle(const Communicator& communicator, std::span<const std::int64_t> rows);

  // The rows of the whole dataset.
  std::int64_t total() const { return total_; }
  // The rows that this rank writes.
  RowRange range() const { return range_; }

  // From owners to writers: takes values_per_row values for each own row, in the owner's order, and
  // returns those of the rows range(), in ascending order. Collective.
  template <Copyable T>
  std::vector<T> to_writers(std::span<const T> own, std::int64_t values_per_row = 1) {
    std::vector<T> written(static_cast<std::size_t>(range_.count * values_per_row));
    move_to_writers(std::as_bytes(own), std::as_writable_bytes(std::span(written)),
                    sizeof(T) * static_cast<std::size_t>(values_per_row));
    return written;
  }

 private:
  void move_to_writers(std::span<const std::byte> own, std::span<std::byte> written,
                       std::size_t row_bytes);

  std::int64_t total_;
  RowRange range_;
  std::vector<std::int64_t> own_order_;      // own row that is n-th in the plan's send buffer
  std::vector<std::int64_t> written_order_;  // row of range() that is n-th in its receive buffer
  ExchangePlan plan_;
  Exchanger exchanger_;
};

}  // namespace octant
