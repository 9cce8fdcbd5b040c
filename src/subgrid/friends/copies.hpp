// Copies of other ranks' bodies that are near one's own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

struct Body {
  Point position;
  Point velocity{};
  double mass = 0.0;
  std::uint64_t id = 0;
};

// Where a copy comes from: the index of the body on its rank.
struct Origin {
  int rank, index;
};

struct Copies {
  std::vector<Body> bodies;
  std::vector<Origin> origins;
};

// Of any two ranks with bodies within the linking length of each other, the higher one gets copies
// of the other's. Ranks find each other by the boxes around their bodies in the cells of a coarse
// grid, of which each belongs to a rank by a hash: no rank knows all boxes, or where the others'
// domains are. Throws RunError on every rank where linking is not possible. Collective.
Copies copies_within(const Communicator& communicator, std::span<const Body> bodies,
                     const Linking& linking);

}  // namespace octant::subgrid::friends
