#include "pencil/halo_pieces.hpp"

namespace octant::pencil {

HaloPieces::HaloPieces(const Communicator& ranks, bool periodic) {
  const int size = ranks.size(), rank = ranks.rank();
  if (rank > 0 || periodic) neighbour[0] = (rank - 1 + size) % size;
  if (rank < size - 1 || periodic) neighbour[1] = (rank + 1) % size;
  for (int other = 0; other < size; ++other) {
    if (other != neighbour[0] && other != neighbour[1]) continue;
    std::int64_t pieces = 0;
    // Our upper end fills the lower ghosts of the one above, and comes first.
    for (const int end : {1, 0})
      if (neighbour[end] == other) send_ends.push_back(end), ++pieces;
    for (const int end : {0, 1})
      if (neighbour[end] == other) receive_ends.push_back(end);
    segments.push_back({other, pieces});
  }
}

}  // namespace octant::pencil
