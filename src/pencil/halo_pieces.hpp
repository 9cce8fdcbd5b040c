// What the halo exchange along one axis sends to whom. Internal to pencil/.
#pragma once

#include <optional>
#include <vector>

#include "comm/exchange_plan.hpp"

namespace octant::pencil {

// A piece is what fills the ghosts at one end of a neighbour; the pieces for one rank follow each
// other, the one for its lower end first. Ends are 0 below and 1 above.
struct HaloPieces {
  // `ranks` along the axis, at least two.
  HaloPieces(const Communicator& ranks, bool periodic);

  std::optional<int> neighbour[2];
  // In the order of the buffers: the own end that a piece is read from, and that beyond which one
  // belongs.
  std::vector<int> send_ends, receive_ends;
  std::vector<Segment> segments;  // of pieces: as many are sent to a rank as come from it
};

}  // namespace octant::pencil
