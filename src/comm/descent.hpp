// A walk down the tree of ranks, for algorithms that divide what all ranks hold: at each level the
// ranks of one group talk to each other alone, so that all groups of a level work at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/payload.hpp"
#include "comm/rank_tree.hpp"

namespace octant {

// Starts at the root; a rank goes down once per level of the tree, to the child that it belongs to.
// A group's ranks call the same functions in the same order. No rank holds anything per rank of the
// run. The communicator must outlive the walk.
class Descent {
 public:
  explicit Descent(const Communicator& communicator)
      : communicator_(communicator), tree_(communicator.size()) {}

  const RankTree& tree() const { return tree_; }
  int level() const { return level_; }
  bool ends() const { return level_ == tree_.levels(); }
  // The number of this rank's group among those of its level.
  std::int64_t group() const { return tree_.group_of(level_, communicator_.rank()); }
  int child() const { return tree_.child_index(level_, communicator_.rank()); }

  // Replaces each value by its sum over the group's ranks, which all give as many. At most
  // 2 log2(ranks) messages one after the other.
  void sum_in_place(std::span<std::int64_t> values) const;

  // Hands items[n] over to child children[n] of the group, which must not be empty, and goes down.
  // Returns what this rank holds now: its own items in their order, then those of each rank that
  // sent to it, in the order of ranks.
  template <Copyable T>
  std::vector<T> go_down(std::span<const int> children, std::span<const T> items) {
    std::vector<std::vector<T>> parts(tree_.factor(level_));
    for (std::size_t n = 0; n < items.size(); ++n) parts[children[n]].push_back(items[n]);
    std::vector<std::span<const std::byte>> bytes;
    for (const auto& part : parts) bytes.push_back(std::as_bytes(std::span(part)));
    std::vector<T> held = std::move(parts[child()]);
    const std::vector<T> received = items_of<T>(exchange(bytes));
    held.insert(held.end(), received.begin(), received.end());
    return held;
  }

 private:
  // Sends each sibling's part to the partner there, and goes down. Returns what came, sender by
  // sender.
  std::vector<std::byte> exchange(std::span<const std::span<const std::byte>> parts);

  const Communicator& communicator_;
  RankTree tree_;
  int level_ = 0;
};

}  // namespace octant
