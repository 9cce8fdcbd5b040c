// The tree of ranks that the k-section decomposition and the k-section exchange share.
#pragma once

#include <cstdint>
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

// A node at level l is a group of contiguous ranks with k_l children; the root, at level 0, holds
// all ranks, and a node at level `levels()` one rank. The k_l are the prime factors of the number
// of ranks in descending order (cuRAMSES paper, eq. 1-2), and children equal, as long as no factor
// exceeds 7. Other numbers of ranks are halved as evenly as can be: a prime factor p costs p - 1
// messages, all ranks at once for a prime number of them, where halves cost log2(ranks). Groups of
// one level differ by at most one rank then, and at the last level some are empty.
//
// Groups of a level are numbered in the order of their ranks. Only the k_l are stored.
class RankTree {
 public:
  explicit RankTree(int ranks);  // ranks >= 1

  int ranks() const { return ranks_; }
  int levels() const { return static_cast<int>(factors_.size()); }
  // k_l of level 0 <= l < levels().
  int factor(int level) const { return factors_[level]; }
  const std::vector<int>& factors() const { return factors_; }

  // The number of groups at level 0 <= l <= levels(), and the ranks of group 0 <= g < groups(l).
  std::int64_t groups(int level) const { return groups_[level]; }
  RankRange ranks_of(int level, std::int64_t group) const;

  // The group of this level that a rank belongs to: its number, and its ranks.
  std::int64_t group_of(int level, int rank) const;
  RankRange group(int level, int rank) const { return ranks_of(level, group_of(level, rank)); }
  // Child 0 <= c < factor(level) of that group.
  RankRange child(int level, int rank, int index) const;
  // Which child of its group at this level a rank belongs to.
  int child_index(int level, int rank) const;

  // The rank of sibling `index` of the rank's child that is sent what is meant for this sibling:
  // the one at the same place, counted round where the sibling is smaller. The sibling must not be
  // empty.
  int partner(int level, int rank, int index) const;
  // The ranks of sibling `index` whose partner a rank is: one at most if groups are equal, else at
  // most two.
  std::vector<int> senders(int level, int rank, int index) const;

  // Messages that a rank sends in one k-section exchange: one for every sibling that is not empty,
  // which is the sum of (k_l - 1), eq. 7, where groups are equal.
  int messages_per_exchange(int rank) const;

 private:
  int ranks_;
  std::vector<int> factors_;
  std::vector<std::int64_t> groups_;  // by level, 0 .. levels()
};

}  // namespace octant
