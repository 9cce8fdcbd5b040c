#include "comm/rank_tree.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant {

namespace {

constexpr int k_largest_factor = 7;

std::vector<int> prime_factors_descending(int number) {
  std::vector<int> factors;
  for (int p = 2; p <= number / p; ++p)
    for (; number % p == 0; number /= p) factors.push_back(p);
  if (number > 1) factors.push_back(number);
  std::reverse(factors.begin(), factors.end());
  return factors;
}

std::vector<int> halvings(int number) {
  std::vector<int> factors;
  for (std::int64_t groups = 1; groups < number; groups *= 2) factors.push_back(2);
  return factors;
}

std::vector<int> factors_of(int ranks) {
  const auto primes = prime_factors_descending(ranks);
  return primes.empty() || primes.front() <= k_largest_factor ? primes : halvings(ranks);
}

}  // namespace

RankTree::RankTree(int ranks) : ranks_(ranks), factors_(factors_of(ranks)), groups_{1} {
  OCTANT_REQUIRE(ranks >= 1, "a rank tree of {} ranks", ranks);
  for (const int factor : factors_) groups_.push_back(groups_.back() * factor);
}

// Group g of m begins at rank floor(g ranks / m): sizes differ by at most one, and the bounds of
// its children begin and end with its own.
RankRange RankTree::ranks_of(int level, std::int64_t group) const {
  const std::int64_t groups = groups_[level];
  const auto first = static_cast<int>(group * ranks_ / groups);
  const auto end = static_cast<int>((group + 1) * ranks_ / groups);
  return {first, end - first};
}

std::int64_t RankTree::group_of(int level, int rank) const {
  return ((rank + std::int64_t{1}) * groups_[level] - 1) / ranks_;
}

RankRange RankTree::child(int level, int rank, int index) const {
  return ranks_of(level + 1, group_of(level, rank) * factors_[level] + index);
}

int RankTree::child_index(int level, int rank) const {
  return static_cast<int>(group_of(level + 1, rank) % factors_[level]);
}

int RankTree::partner(int level, int rank, int index) const {
  const RankRange sibling = child(level, rank, index);
  const int place = rank - group(level + 1, rank).first;
  return sibling.first + place % sibling.count;
}

std::vector<int> RankTree::senders(int level, int rank, int index) const {
  const RankRange own = group(level + 1, rank), sibling = child(level, rank, index);
  std::vector<int> senders;
  for (int place = rank - own.first; place < sibling.count; place += own.count)
    senders.push_back(sibling.first + place);
  return senders;
}

int RankTree::messages_per_exchange(int rank) const {
  int messages = 0;
  for (int level = 0; level < levels(); ++level) {
    for (int index = 0; index < factor(level); ++index)
      messages += index != child_index(level, rank) && child(level, rank, index).count > 0;
  }
  return messages;
}

}  // namespace octant
