#include "bench/timed_placement.hpp"

#include <algorithm>
#include <utility>

#include "core/clock.hpp"

namespace octant::bench {

using namespace octant::placement;

namespace {

double thread_seconds() { return 1e-9 * static_cast<double>(thread_cpu_ns()); }

}  // namespace

TimedPlacement place_timed(const PolicyOptions& options, const BlockList& blocks, int ranks) {
  TimedPlacement result;
  const double begin = thread_seconds();
  const Policy policy = policy_of(options);
  const Policy timed = [&](const BlockList& part, int part_ranks) {
    const double part_begin = thread_seconds();
    Owners owners = policy(part, part_ranks);
    result.slowest_zone_seconds =
        std::max(result.slowest_zone_seconds, thread_seconds() - part_begin);
    ++result.zones;
    result.largest_zone_blocks = std::max(result.largest_zone_blocks, std::ssize(part.costs));
    return owners;
  };
  result.owners = zone_by_zone(blocks, zones_of(options, blocks, ranks), timed);
  if (options.most_blocks > 0)
    result.owners =
        within_capacity(blocks, std::move(result.owners), Capacity(ranks, options.most_blocks));
  result.seconds = thread_seconds() - begin;
  return result;
}

}  // namespace octant::bench
