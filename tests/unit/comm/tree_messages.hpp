// Numbers of messages that the k-section exchange is expected to send.
#pragma once

#include "comm/rank_tree.hpp"

namespace octant {

// Messages that a rank sends in one exchange: one for every sibling that is not empty, which is the
// sum of (k_l - 1), eq. 7 of the cuRAMSES paper, where groups are equal.
inline int messages_per_exchange(const RankTree& tree, int rank) {
  int messages = 0;
  for (int level = 0; level < tree.levels(); ++level)
    for (int index = 0; index < tree.factor(level); ++index)
      messages +=
          index != tree.child_index(level, rank) && tree.child(level, rank, index).count > 0;
  return messages;
}

}  // namespace octant
