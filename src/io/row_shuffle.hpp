// Redistribution of rows from the ranks that own them to the ranks that write them.
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

// Communication plan between the owners of the rows of a dataset and the ranks that write them in
// even, contiguous parts in ascending order. Created once per level for any number of fields.
// Owners keep the order of rows passed to the constructor.
class RowShuffle {
 public:
  // `rows` are the rows of the dataset that this rank owns, in any order; together the ranks own
  // each row 0 .. total - 1 once. Collective. Throws RunError on every rank if they do not.
  RowShuffle(const Communicator& communicator, std::span<const std::int64_t> rows);

  // Number of rows of the whole dataset.
  std::int64_t total() const { return total_; }
  // Rows that this rank writes.
  RowRange range() const { return range_; }

  // Sends values_per_row values for each own row, in the owner's order, to the writers; returns
  // those of the rows range(), in ascending order. Collective.
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
  std::vector<std::int64_t> own_order_;      // own row at index n of the plan's send buffer
  std::vector<std::int64_t> written_order_;  // row of range() at index n of its receive buffer
  ExchangePlan plan_;
  Exchanger exchanger_;
};

// Batches for datasets with too many rows to move at once.

// Part of a dataset that is moved and written, or read, at once.
struct RowBatch {
  std::vector<std::int64_t> own;  // indices in the owner's list of the rows of this batch
  RowRange range;                 // rows of the whole dataset that this rank writes
  RowShuffle shuffle;             // takes rows in the order of `own` and returns those of `range`
};

// Divides the rows of a dataset into batches in which no rank writes more than rows_per_batch rows.
// Together, the batches move every row to the same rank as a RowShuffle of the whole. `rows` are
// the rows that this rank owns, as for RowShuffle. Every rank gets the same number of batches.
// Collective. Throws RunError on every rank if the ranks do not own each row once.
std::vector<RowBatch> row_batches(const Communicator& communicator,
                                  const std::vector<std::int64_t>& rows,
                                  std::int64_t rows_per_batch);

}  // namespace octant
