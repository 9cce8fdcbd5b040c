#include "io/row_shuffle.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant {
namespace {

// The own rows by ascending row of the dataset: also by ascending writer.
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
  OCTANT_REQUIRE(!communicator.any(outside), "rows of a dataset lie outside of its {} rows", total);
}

ExchangePlan plan_for(const Communicator& communicator, std::span<const std::int64_t> rows,
                      std::span<const std::int64_t> order, std::int64_t total) {
  require_rows_within(communicator, rows, total);
  std::vector<Segment> sends;
  for (const std::int64_t own : order)
    count_items(sends, part_of_row(total, rows[own], communicator.size()));
  return ExchangePlan::from_sends(communicator, std::move(sends));
}

// Row order[n] of `from` becomes row n of the result.
std::vector<std::byte> gathered(std::span<const std::byte> from,
                                std::span<const std::int64_t> order, std::size_t row_bytes) {
  std::vector<std::byte> rows(order.size() * row_bytes);
  for (std::size_t n = 0; n < order.size(); ++n) {
    std::memcpy(rows.data() + n * row_bytes,
                from.data() + static_cast<std::size_t>(order[n]) * row_bytes, row_bytes);
  }
  return rows;
}

// Row n of `from` becomes row order[n] of `to`.
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
  OCTANT_REQUIRE(!communicator.any(!complete), "rows of a dataset have no owner, or several");
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

}  // namespace octant
