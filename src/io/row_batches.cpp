#include "io/row_batches.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant {
namespace {

// Batch n of each writer's rows, seen as a dataset of its own. Writers have nearly equal numbers of
// rows, so that its rows too are an even share for every writer: RowShuffle's own division.
class Batch {
 public:
  Batch(std::int64_t total, int writers, std::int64_t rows_per_batch, std::int64_t n)
      : total_(total), writers_(writers), first_(n * rows_per_batch), size_(rows_per_batch) {
    const std::int64_t each = total / writers, more = total % writers;
    batch_total_ = more * rows_of_writer(each + 1) + (writers - more) * rows_of_writer(each);
  }

  RowRange range(int writer) const {
    const RowRange all = even_share(total_, writer, writers_);
    return {all.begin + std::min(first_, all.count), rows_of_writer(all.count)};
  }

  // Where a row of the dataset lies in the batch.
  std::int64_t place(std::int64_t row) const {
    const int writer = part_of_row(total_, row, writers_);
    const std::int64_t place = row - even_share(total_, writer, writers_).begin;
    return even_share(batch_total_, writer, writers_).begin + place - first_;
  }

 private:
  std::int64_t rows_of_writer(std::int64_t count) const {
    return std::clamp<std::int64_t>(count - first_, 0, size_);
  }

  std::int64_t total_, batch_total_;
  int writers_;
  std::int64_t first_, size_;  // of the batch, counted from the writer's first row
};

}  // namespace

std::vector<RowBatch> row_batches(const Communicator& communicator,
                                  const std::vector<std::int64_t>& rows,
                                  std::int64_t rows_per_batch) {
  const std::int64_t total = communicator.sum(std::ssize(rows));
  const bool outside = std::any_of(rows.begin(), rows.end(),
                                   [&](std::int64_t row) { return row < 0 || row >= total; });
  OCTANT_REQUIRE(!communicator.any(outside), "rows of a dataset lie outside of its {} rows", total);
  const int writers = communicator.size();
  const std::int64_t most = even_share(total, 0, writers).count;
  // Which of this rank's rows belong to which batch: by their place among their writer's rows.
  std::vector<std::vector<std::int64_t>> own((most + rows_per_batch - 1) / rows_per_batch);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int writer = part_of_row(total, rows[i], writers);
    const std::int64_t place = rows[i] - even_share(total, writer, writers).begin;
    own[place / rows_per_batch].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<RowBatch> batches;
  for (std::int64_t n = 0; n < std::ssize(own); ++n) {
    const Batch batch(total, writers, rows_per_batch, n);
    std::vector<std::int64_t> places;
    for (const std::int64_t i : own[n]) places.push_back(batch.place(rows[i]));
    batches.push_back(
        {std::move(own[n]), batch.range(communicator.rank()), RowShuffle(communicator, places)});
  }
  return batches;
}

}  // namespace octant
