// Tree of ranks for the k-section decomposition and the k-section exchange.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"

namespace octant {

// Contiguous ranks first .. first + count - 1.
struct RankRange {
  int first;
  int count;

  // One past the last rank.
  int end() const { return first + count; }
  // True if the rank is in the range.
  bool contains(int rank) const { return rank >= first && rank < end(); }
  bool operator==(const RankRange&) const = default;
};

// Tree of ranks. A node at level l is a group of contiguous ranks with k_l children; the root, at
// level 0, contains all ranks, and a node at level `levels()` one rank. The k_l are the prime
// factors of the number of ranks in descending order (cuRAMSES paper, eq. 1-2), with equal
// children, if no factor exceeds 7. Other numbers of ranks are halved as evenly as possible: a
// prime factor p costs p - 1 messages, up to all ranks at once, whereas halving costs log2(ranks).
// Group sizes of one level then differ by at most one, and at the last level some are empty.
//
// Groups of a level are numbered in the order of their ranks. Only the k_l are stored.
class RankTree {
 public:
  explicit RankTree(int ranks);  // Builds the tree for at least one rank.

  // Number of ranks.
  int ranks() const { return ranks_; }
  // Number of levels below the root.
  int levels() const { return static_cast<int>(factors_.size()); }
  // Factor k_l of level 0 <= l < levels().
  int factor(int level) const { return factors_[level]; }
  // All factors k_l.
  const std::vector<int>& factors() const { return factors_; }

  // Number of groups at level 0 <= l <= levels().
  std::int64_t groups(int level) const { return groups_[level]; }
  // Ranks of group 0 <= g < groups(l).
  RankRange ranks_of(int level, std::int64_t group) const;

  // Index of the group of this level that contains a rank.
  std::int64_t group_of(int level, int rank) const;
  // Ranks of the group of this level that contains a rank.
  RankRange group(int level, int rank) const { return ranks_of(level, group_of(level, rank)); }
  // Ranks of child 0 <= index < factor(level) of the group of this level that contains a rank.
  RankRange child(int level, int rank, int index) const;
  // Index, within the group of this level, of the child that contains a rank.
  int child_index(int level, int rank) const;

  // Rank in sibling `index` of the rank's child that receives the data for this sibling. Both ranks
  // have the same position in their groups, modulo the size of the sibling, which is not empty.
  int partner(int level, int rank, int index) const;
  // Ranks of sibling `index` whose partner() is the given rank: at most one if groups are equal,
  // else at most two.
  std::vector<int> senders(int level, int rank, int index) const;

 private:
  int ranks_;
  std::vector<int> factors_;
  std::vector<std::int64_t> groups_;  // by level, 0 .. levels()
};

// Descent in the tree of ranks, for algorithms that divide distributed data: at each level only the
// ranks of one group communicate, so that all groups of a level work in parallel.
// Each rank starts at the root and descends once per level of the tree, to the child that contains
// it. The ranks of a group call the same functions in the same order. No rank stores data for every
// rank of the run. The communicator must outlive the object.
class Descent {
 public:
  explicit Descent(const Communicator& communicator)
      : communicator_(communicator), tree_(communicator.size()) {}

  // Tree of ranks.
  const RankTree& tree() const { return tree_; }
  // Current level of this rank.
  int level() const { return level_; }
  // True at level tree().levels(), where a group has one rank.
  bool ends() const { return level_ == tree_.levels(); }
  // Number of this rank's group at its level.
  std::int64_t group() const { return tree_.group_of(level_, communicator_.rank()); }
  // Index of the child of the group that contains this rank.
  int child() const { return tree_.child_index(level_, communicator_.rank()); }

  // Replaces each value by its sum over the group's ranks, which all give arrays of equal length.
  // Takes at most 2 log2(ranks) sequential messages.
  void sum_in_place(std::span<std::int64_t> values) const;

  // Sends items[n] to child children[n] of the group, which must not be empty, and descends.
  // Returns the items on this rank: own ones in order, then those of each sending rank, in the
  // order of ranks.
  template <Copyable T>
  std::vector<T> route_to_children(std::span<const int> children, std::span<const T> items) {
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
  // Sends each sibling's part to the partner there, and descends. Returns the received bytes,
  // ordered by sender.
  std::vector<std::byte> exchange(std::span<const std::span<const std::byte>> parts);

  const Communicator& communicator_;
  RankTree tree_;
  int level_ = 0;
};

}  // namespace octant
