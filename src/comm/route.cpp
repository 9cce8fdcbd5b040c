#include "comm/route.hpp"

#include <algorithm>
#include <numeric>

#include "comm/forwarding.hpp"
#include "comm/payload.hpp"
#include "core/error.hpp"

namespace octant {

namespace {

void check_destinations(const Communicator& communicator, std::span<const int> destinations) {
  communicator.agree([&] {
    for (const int rank : destinations) {
      OCTANT_REQUIRE(rank >= 0 && rank < communicator.size(),
                     "an item is sent to rank {} of {} ranks", rank, communicator.size());
    }
  });
}

// The order that sorts items by destination and leaves those of one destination as they are.
std::vector<std::size_t> order_by_destination(std::span<const int> destinations) {
  std::vector<std::size_t> order(destinations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return destinations[a] < destinations[b]; });
  return order;
}

}  // namespace

Routed<std::byte> route_bytes(const Communicator& communicator, std::span<const int> destinations,
                              std::span<const std::byte> items, std::size_t item_bytes) {
  check_destinations(communicator, destinations);
  const Observed observed(Phase::wait, "route");

  std::vector<std::byte> sorted(items.size());
  std::byte* place = sorted.data();
  std::vector<Segment> sends;
  for (const std::size_t n : order_by_destination(destinations)) {
    if (sends.empty() || sends.back().rank != destinations[n])
      sends.push_back({destinations[n], 0});
    copy_payload(place, items.data() + n * item_bytes, item_bytes);
    place += item_bytes;
    ++sends.back().count;
  }

  const ForwardingSchedule schedule(communicator, sends);
  Routed<std::byte> routed;
  for (const Segment& segment : schedule.receives())
    routed.sources.insert(routed.sources.end(), segment.count, segment.rank);
  routed.items.resize(routed.sources.size() * item_bytes);

  MessageLog log;
  log.begin();
  Forwarder forwarder(mpi::k_setup_tag);
  forwarder.start(communicator, schedule, sorted.data(), routed.items.data(), item_bytes, log);
  forwarder.finish();
  log.report("route", -1);
  return routed;
}

}  // namespace octant
