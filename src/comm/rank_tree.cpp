#include "comm/rank_tree.hpp"

#include <algorithm>

#include "comm/mpi_layer.hpp"
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
  OCTANT_REQUIRE(ranks >= 1, "a rank tree requires at least one rank, but there are {}", ranks);
  for (const int factor : factors_) groups_.push_back(groups_.back() * factor);
}

// Group g of m begins at rank floor(g ranks / m): sizes differ by at most one, and the children of
// a group cover exactly the ranks of the group.
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

namespace {

void send_now(mpi::Comm& comm, std::span<const std::int64_t> values, int destination) {
  mpi::Requests request;
  request.send(comm, std::as_bytes(values), destination, mpi::k_setup_tag);
  request.wait();
}

void receive_now(mpi::Comm& comm, std::span<std::int64_t> values, int source) {
  mpi::Requests request;
  request.receive(comm, std::as_writable_bytes(values), source, mpi::k_setup_tag);
  request.wait();
}

}  // namespace

// Reduces along a binomial tree whose root is the group's first rank, then broadcasts.
void Descent::sum_in_place(std::span<std::int64_t> values) const {
  const auto [first, count] = tree_.group(level_, communicator_.rank());
  const int place = communicator_.rank() - first;
  mpi::Comm& comm = communicator_.handle();
  std::vector<std::int64_t> received(values.size());
  int stride = 1;
  for (; stride < count && place % (2 * stride) == 0; stride *= 2) {
    if (place + stride >= count) continue;
    receive_now(comm, received, first + place + stride);
    for (std::size_t n = 0; n < values.size(); ++n) values[n] += received[n];
  }
  if (stride < count) {
    send_now(comm, values, first + place - stride);
    receive_now(comm, values, first + place - stride);
  }
  for (stride /= 2; stride >= 1; stride /= 2)
    if (place + stride < count) send_now(comm, values, first + place + stride);
}

std::vector<std::byte> Descent::exchange(std::span<const std::span<const std::byte>> parts) {
  const int rank = communicator_.rank(), own = child();
  mpi::Comm& comm = communicator_.handle();
  mpi::Requests requests;
  for (int index = 0; index < tree_.factor(level_); ++index) {
    if (index == own || tree_.child(level_, rank, index).count == 0) continue;
    requests.send(comm, parts[index], tree_.partner(level_, rank, index), mpi::k_setup_tag);
  }
  std::vector<std::byte> received;
  for (int index = 0; index < tree_.factor(level_); ++index) {
    if (index == own) continue;
    for (const int sender : tree_.senders(level_, rank, index)) {
      const auto bytes = mpi::receive_any_length(comm, sender, mpi::k_setup_tag);
      received.insert(received.end(), bytes.begin(), bytes.end());
    }
  }
  requests.wait();
  ++level_;
  return received;
}

}  // namespace octant
