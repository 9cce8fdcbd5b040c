// The tree of ranks that the k-section decomposition and the k-section exchange share.
#pragma once

#include <vector>

namespace octant {

// Contiguous ranks first .. first + count - 1.
struct RankRange {
  int first;
  int count;

  int end() const { return first + count; }
  bool contains(int rank) const { return rank >= first && rank < end(); }
  bool operator==(const RankRange&) const = default;
};

// A node at level l is a group of contiguous ranks, with k_l children of equal size; the k_l are
// the prime factors of the number of ranks in descending order (cuRAMSES paper, eq. 1-2). The root,
// at level 0, holds all ranks; a node at level `levels()` is one rank. Only the k_l are stored.
class RankTree {
 public:
  explicit RankTree(int ranks);  // ranks >= 1

  int ranks() const { return ranks_; }
  int levels() const { return static_cast<int>(factors_.size()); }
  // k_l of level 0 <= l < levels().
  int factor(int level) const { return factors_[level]; }
  const std::vector<int>& factors() const { return factors_; }

  // The number of ranks in a node at level 0 <= l <= levels().
  int group_size(int level) const { return group_sizes_[level]; }
  // The node of this level that a rank belongs to.
  RankRange group(int level, int rank) const;
  // Child 0 <= c < factor(level) of that node.
  RankRange child(int level, int rank, int index) const;
  // Which child of its node at this level a rank belongs to.
  int child_index(int level, int rank) const;
  // The rank at the same place within sibling `index` of the rank's child: the one that it
  // exchanges with on behalf of the two siblings (itself for its own index).
  int partner(int level, int rank, int index) const;

  // Messages that each rank sends in one k-section exchange: the sum of (k_l - 1), eq. 7.
  int messages_per_exchange() const;

 private:
  int ranks_;
  std::vector<int> factors_;
  std::vector<int> group_sizes_;  // by level, 0 .. levels()
};

}  // namespace octant
