#include "io/row_shuffle.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant {
namespace {

// Own rows in ascending order, which is also ascending by writer.
std::vector<std::int64_t> ascending(std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> order(rows.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = static_cast<std::int64_t>(n);
  std::sort(order.begin(), order.end(),
            [&](std::int64_t a, std::int64_t b) { return rows[a] < rows[b]; });
  return order;
}

// Throws on every rank if a row lies outside of 0 .. total - 1.
void require_rows_within(const Communicator& communicator, std::span<const std::int64_t> rows,
                         std::int64_t total) {
  const bool outside = std::any_of(rows.begin(), rows.end(),
                                   [&](std::int64_t row) { return row < 0 || row >= total; });
  OCTANT_REQUIRE(!communicator.any(outside), "some rows are outside the {} rows of the dataset",
                 total);
}

ExchangePlan plan_for(const Communicator& communicator, std::span<const std::int64_t> rows,
                      std::span<const std::int64_t> order, std::int64_t total) {
  require_rows_within(communicator, rows, total);
  std::vector<Segment> sends;
  for (const std::int64_t own : order)
    count_items(sends, part_of_row(total, rows[own], communicator.size()));
  return ExchangePlan::from_sends(communicator, std::move(sends));
}

// Gathers: row order[n] of `from` becomes row n of the result.
std::vector<std::byte> gathered(std::span<const std::byte> from,
                                std::span<const std::int64_t> order, std::size_t row_bytes) {
  std::vector<std::byte> rows(order.size() * row_bytes);
  for (std::size_t n = 0; n < order.size(); ++n) {
    std::memcpy(rows.data() + n * row_bytes,
                from.data() + static_cast<std::size_t>(order[n]) * row_bytes, row_bytes);
  }
  return rows;
}

// Scatters: row n of `from` becomes row order[n] of `to`.
void scatter(std::span<const std::byte> from, std::span<const std::int64_t> order,
             std::size_t row_bytes, std::span<std::byte> to) {
  for (std::size_t n = 0; n < order.size(); ++n) {
    std::memcpy(to.data() + static_cast<std::size_t>(order[n]) * row_bytes,
                from.data() + n * row_bytes, row_bytes);
  }
}

}  // namespace

RowShuffle::RowShuffle(const Communicator& communicator, std::span<const std::int64_t> rows)
    : total_(communicator.sum(std::ssize(rows))),
      range_(even_share(total_, communicator.rank(), communicator.size())),
      own_order_(ascending(rows)),
      plan_(plan_for(communicator, rows, own_order_, total_)),
      exchanger_("file rows", communicator, {.exchange = Backend::p2p}) {
  std::vector<std::int64_t> sent;
  sent.reserve(rows.size());
  for (const std::int64_t own : own_order_) sent.push_back(rows[own]);
  written_order_.resize(static_cast<std::size_t>(plan_.items_received()));
  exchanger_.run(plan_, sent.data(), written_order_.data(), 1);
  for (std::int64_t& row : written_order_) row -= range_.begin;

  std::vector<bool> seen(static_cast<std::size_t>(range_.count), false);
  for (const std::int64_t row : written_order_) seen[static_cast<std::size_t>(row)] = true;
  const bool complete = std::ssize(written_order_) == range_.count &&
                        std::find(seen.begin(), seen.end(), false) == seen.end();
  OCTANT_REQUIRE(!communicator.any(!complete),
                 "some rows of the dataset have no owner, or several owners");
}

void RowShuffle::move_to_writers(std::span<const std::byte> own, std::span<std::byte> written,
                                 std::size_t row_bytes) {
  OCTANT_REQUIRE(own.size() == own_order_.size() * row_bytes,
                 "{} bytes were given for {} rows of {} bytes", own.size(), own_order_.size(),
                 row_bytes);
  const auto send = gathered(own, own_order_, row_bytes);
  std::vector<std::byte> received(written.size());
  exchanger_.start_bytes(plan_, send.data(), received.data(), row_bytes);
  exchanger_.finish();
  scatter(received, written_order_, row_bytes, written);
}
namespace {

// Batch n of each writer's rows as a dataset of its own. Writers have nearly equal numbers of rows,
// so the rows of the batch are an even division over the writers, too, as RowShuffle requires.
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

  // Index of a dataset row within the batch.
  std::int64_t index(std::int64_t row) const {
    const int writer = part_of_row(total_, row, writers_);
    const std::int64_t index = row - even_share(total_, writer, writers_).begin;
    return even_share(batch_total_, writer, writers_).begin + index - first_;
  }

 private:
  std::int64_t rows_of_writer(std::int64_t count) const {
    return std::clamp<std::int64_t>(count - first_, 0, size_);
  }

  std::int64_t total_, batch_total_;
  int writers_;
  std::int64_t first_, size_;  // rows of the batch, counted from the writer's first row
};

}  // namespace

std::vector<RowBatch> row_batches(const Communicator& communicator,
                                  const std::vector<std::int64_t>& rows,
                                  std::int64_t rows_per_batch) {
  const std::int64_t total = communicator.sum(std::ssize(rows));
  const bool outside = std::any_of(rows.begin(), rows.end(),
                                   [&](std::int64_t row) { return row < 0 || row >= total; });
  OCTANT_REQUIRE(!communicator.any(outside), "some rows are outside the {} rows of the dataset",
                 total);
  const int writers = communicator.size();
  const std::int64_t most = even_share(total, 0, writers).count;
  // Assigns this rank's rows to batches by their index among their writer's rows.
  std::vector<std::vector<std::int64_t>> own((most + rows_per_batch - 1) / rows_per_batch);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int writer = part_of_row(total, rows[i], writers);
    const std::int64_t index = rows[i] - even_share(total, writer, writers).begin;
    own[index / rows_per_batch].push_back(static_cast<std::int64_t>(i));
  }
  std::vector<RowBatch> batches;
  for (std::int64_t n = 0; n < std::ssize(own); ++n) {
    const Batch batch(total, writers, rows_per_batch, n);
    std::vector<std::int64_t> indices;
    for (const std::int64_t i : own[n]) indices.push_back(batch.index(rows[i]));
    batches.push_back(
        {std::move(own[n]), batch.range(communicator.rank()), RowShuffle(communicator, indices)});
  }
  return batches;
}

}  // namespace octant
