// Search for the blocks that events overlap.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/reach.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// Methods of the search. All give the same result.
enum class EventSearch {
  blocks,  // tree walk from each event: work proportional to the number of events
  bins,    // each leaf cell tests the events in the 27 bins around it
  brute    // each leaf cell tests every event
};
// Names of the methods in events.method.
constexpr auto names_of(EventSearch) { return std::array{"blocks", "bins", "brute"}; }

// Blocks of a level on this rank that contain an event or cells within the radius of one, in the
// order of their keys. The events of block b are events[begins[b]] to events[begins[b + 1] - 1],
// indices in a list of events sorted by id.
struct AffectedBlocks {
  std::vector<int> slots;
  std::vector<std::int32_t> begins{0};
  std::vector<std::int32_t> events;
};

// Returns the affected blocks by level. `places` are the events that may reach leaf cells of this
// rank, in the order of ids. `overlaps` lists the leaf octants within the events' radii; its items
// are indices in `places`.
std::vector<AffectedBlocks> find_affected_blocks(const mesh::Mesh& mesh, EventSearch search,
                                                 std::span<const EventRegion> places,
                                                 std::span<const mesh::SphereOverlap> overlaps);

}  // namespace octant::subgrid
