#include "comm/rank_tree.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant {

namespace {

std::vector<int> prime_factors_descending(int number) {
  std::vector<int> factors;
  for (int p = 2; p <= number / p; ++p)
    for (; number % p == 0; number /= p) factors.push_back(p);
  if (number > 1) factors.push_back(number);
  std::reverse(factors.begin(), factors.end());
  return factors;
}

}  // namespace

RankTree::RankTree(int ranks) : ranks_(ranks), factors_(prime_factors_descending(ranks)) {
  OCTANT_REQUIRE(ranks >= 1, "a rank tree of {} ranks", ranks);
  group_sizes_.push_back(ranks);
  for (const int factor : factors_) group_sizes_.push_back(group_sizes_.back() / factor);
}

RankRange RankTree::group(int level, int rank) const {
  const int size = group_sizes_[level];
  return {rank / size * size, size};
}

RankRange RankTree::child(int level, int rank, int index) const {
  const int size = group_sizes_[level + 1];
  return {group(level, rank).first + index * size, size};
}

int RankTree::child_index(int level, int rank) const {
  return rank % group_sizes_[level] / group_sizes_[level + 1];
}

int RankTree::partner(int level, int rank, int index) const {
  return child(level, rank, index).first + rank % group_sizes_[level + 1];
}

int RankTree::messages_per_exchange() const {
  int messages = 0;
  for (const int factor : factors_) messages += factor - 1;
  return messages;
}

}  // namespace octant
