#include "comm/route.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "comm/communicator.hpp"
#include "comm/transport.hpp"
#include "core/error.hpp"

namespace octant {

namespace {

void check_destinations(const Communicator& communicator, std::span<const int> destinations) {
  for (const int rank : destinations) {
    OCTANT_REQUIRE(rank >= 0 && rank < communicator.size(),
                   "an item is addressed to rank {}, but there are {} ranks", rank,
                   communicator.size());
  }
}

// Stable order of items by destination.
std::vector<std::size_t> order_by_destination(std::span<const int> destinations) {
  std::vector<std::size_t> order(destinations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return destinations[a] < destinations[b]; });
  return order;
}

}  // namespace

struct Router::Buffers {
  std::vector<std::byte> sorted;  // used if items are not sorted by destination
  Forwarder forwarder{mpi::k_setup_tag};
  Routed<std::byte> routed;
};

Router::Router(const Communicator& communicator)
    : communicator_(communicator), buffers_(std::make_unique<Buffers>()) {}

Router::~Router() = default;

Routed<std::byte>& Router::route(std::span<const int> destinations,
                                 std::span<const std::byte> items, std::size_t item_bytes) {
  std::int64_t no_flags = 0;
  return route(destinations, items, item_bytes, no_flags);
}

Routed<std::byte>& Router::route(std::span<const int> destinations,
                                 std::span<const std::byte> items, std::size_t item_bytes,
                                 std::int64_t& flags) {
  check_destinations(communicator_, destinations);
  const Observed observed(Phase::wait, "route");
  auto& [sorted, forwarder, routed] = *buffers_;

  std::vector<Segment> sends;
  const auto add = [&](int rank) {
    if (sends.empty() || sends.back().rank != rank) sends.push_back({rank, 0});
    ++sends.back().count;
  };
  const bool are_sorted = std::ranges::is_sorted(destinations);
  if (are_sorted) {
    for (const int rank : destinations) add(rank);
  } else {
    sorted.resize(items.size());
    std::byte* place = sorted.data();
    for (const std::size_t n : order_by_destination(destinations)) {
      add(destinations[n]);
      copy_payload(place, items.data() + n * item_bytes, item_bytes);
      place += item_bytes;
    }
  }

  const ForwardingSchedule schedule(communicator_, sends, flags);
  flags = schedule.flags();
  routed.sources.clear();
  for (const Segment& segment : schedule.receives())
    routed.sources.insert(routed.sources.end(), segment.count, segment.rank);
  routed.items.resize(routed.sources.size() * item_bytes);

  MessageLog log;
  log.begin();
  forwarder.start(communicator_, schedule, are_sorted ? items.data() : sorted.data(),
                  routed.items.data(), item_bytes, log);
  forwarder.finish();
  log.report("route", -1);
  return routed;
}

Routed<std::byte> route_bytes(const Communicator& communicator, std::span<const int> destinations,
                              std::span<const std::byte> items, std::size_t item_bytes) {
  return std::move(Router(communicator).route(destinations, items, item_bytes));
}

Routed<std::byte> route_bytes(const Communicator& communicator, std::span<const int> destinations,
                              std::span<const std::byte> items, std::size_t item_bytes,
                              std::int64_t& flags) {
  return std::move(Router(communicator).route(destinations, items, item_bytes, flags));
}

}  // namespace octant
