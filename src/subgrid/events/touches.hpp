// Who is near whom: the blocks that events touch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/reach.hpp"
#include "subgrid/events/event.hpp"

namespace octant::subgrid {

// How touched blocks are found. All find the same cells.
enum class EventSearch {
  blocks,  // from each event down the tree: the work is that of the events
  bins,    // every cell looks at the events in the 27 bins around it (curamses.txt, eq. 11)
  brute    // every cell looks at every event
};
constexpr auto names_of(EventSearch) { return std::array{"blocks", "bins", "brute"}; }

// The blocks of a level on this rank with cells that events reach, or happen in, in the order of
// their keys, and by block the events: begins[b] .. begins[b + 1] of `events`, which are places in
// a list in the order of ids.
struct TouchedBlocks {
  std::vector<int> slots;
  std::vector<std::int32_t> begins{0};
  std::vector<std::int32_t> events;
};

// By level. `places` are the events that have leaf cells of this rank within their reach, in the
// order of ids; `met` says which octants they meet, with items that count in `places`.
std::vector<TouchedBlocks> find_touched_blocks(const mesh::Mesh& mesh, EventSearch search,
                                               std::span<const EventPlace> places,
                                               std::span<const mesh::Met> met);

}  // namespace octant::subgrid
