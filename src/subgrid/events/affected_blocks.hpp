// Search for pairs of events and the blocks that they overlap.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/reach.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// Search method for these pairs. All methods give the same result.
enum class EventSearch {
  blocks,  // tree walk from each event: work proportional to the events
  bins,    // each cell tests the events in the 27 bins around it (curamses.txt, eq. 11)
  brute    // each cell tests every event
};
// Names of the methods in events.method.
constexpr auto names_of(EventSearch) { return std::array{"blocks", "bins", "brute"}; }

// Blocks of a level on this rank with cells that events reach or that host an event, in the order
// of their keys, and the events of each block b: entries begins[b] .. begins[b + 1] of `events`,
// which are indices in a list sorted by id.
struct AffectedBlocks {
  std::vector<int> slots;
  std::vector<std::int32_t> begins{0};
  std::vector<std::int32_t> events;
};

// Returns the overlapped blocks by level. `places` are the events that reach leaf cells of this
// rank, in the order of ids; `met` lists the octants they overlap, with items that are indices in
// `places`.
std::vector<AffectedBlocks> find_affected_blocks(const mesh::Mesh& mesh, EventSearch search,
                                                 std::span<const EventRegion> places,
                                                 std::span<const mesh::Met> met);

}  // namespace octant::subgrid
