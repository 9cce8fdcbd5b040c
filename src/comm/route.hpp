// Messages to ranks that do not expect them: for plan construction, migration, directories.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"

namespace octant {

// Received items and their source ranks: by ascending source, then in the order of sending.
template <class T>
struct Routed {
  std::vector<T> items;
  std::vector<int> sources;
};

// Delivers `item_bytes` bytes per destination, as route().
Routed<std::byte> route_bytes(const Communicator& communicator, std::span<const int> destinations,
                              std::span<const std::byte> items, std::size_t item_bytes);

// Delivers items[n] to rank destinations[n], which may be this rank. Collective; ranks may send
// nothing. Items are forwarded through the rank tree, so that a rank sends 2 sum(k_l - 1) messages
// (sizes, then items) and stores no data for every rank of the run. Destinations must exist: a rank
// that gives another one throws RunError, which the others do not learn.
template <Copyable T>
Routed<T> route(const Communicator& communicator, std::span<const int> destinations,
                std::span<const T> items) {
  auto bytes = route_bytes(communicator, destinations, std::as_bytes(items), sizeof(T));
  return {items_of<T>(bytes.items), std::move(bytes.sources)};
}

// As above. The messages also carry `flags`, which is replaced by the bitwise or over all ranks:
// for example whether any rank has more to send, or an error. A separate reduction would double
// the number of times that ranks wait for all others.
Routed<std::byte> route_bytes(const Communicator& communicator, std::span<const int> destinations,
                              std::span<const std::byte> items, std::size_t item_bytes,
                              std::int64_t& flags);
template <Copyable T>
Routed<T> route(const Communicator& communicator, std::span<const int> destinations,
                std::span<const T> items, std::int64_t& flags) {
  auto bytes = route_bytes(communicator, destinations, std::as_bytes(items), sizeof(T), flags);
  return {items_of<T>(bytes.items), std::move(bytes.sources)};
}

// Router with persistent buffers, because allocating memory costs more than the copies.
class Router {
 public:
  explicit Router(const Communicator& communicator);
  ~Router();

  // Routes like route_bytes(). The result is valid until the next call, and may be moved from.
  Routed<std::byte>& route(std::span<const int> destinations, std::span<const std::byte> items,
                           std::size_t item_bytes);
  // Also replaces `flags` by the bitwise or over all ranks.
  Routed<std::byte>& route(std::span<const int> destinations, std::span<const std::byte> items,
                           std::size_t item_bytes, std::int64_t& flags);

 private:
  struct Buffers;

  Communicator communicator_;
  std::unique_ptr<Buffers> buffers_;
};

// Returns answer(queries[n]) as evaluated on rank ranks[n], in the order of the queries: a query
// to a distributed directory. Collective; a rank may have no queries.
template <Copyable Query, class Answerer>
auto query_ranks(const Communicator& communicator, std::span<const int> ranks,
                 std::span<const Query> queries, const Answerer& answer) {
  using Answer = std::decay_t<std::invoke_result_t<Answerer, const Query&>>;
  const auto received = route<Query>(communicator, ranks, queries);
  std::vector<Answer> answers;
  answers.reserve(received.items.size());
  for (const Query& query : received.items) answers.push_back(answer(query));
  const auto arrived = route<Answer>(communicator, received.sources, answers);
  // Answers arrive ordered by rank, then by query.
  std::vector<std::size_t> order(queries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return ranks[a] < ranks[b]; });
  std::vector<Answer> in_order(queries.size());
  for (std::size_t n = 0; n < order.size(); ++n) in_order[order[n]] = arrived.items[n];
  return in_order;
}

}  // namespace octant
