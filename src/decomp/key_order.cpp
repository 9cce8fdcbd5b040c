#include "decomp/key_order.hpp"

#include <algorithm>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "decomp/wall_search.hpp"
#include "decomp/work.hpp"

namespace octant {
namespace {

constexpr int k_max_counters = 256;

// Relative tolerance of the numbers of keys per counting rank; each counts a contiguous range of
// keys.
constexpr double k_tolerance = 0.2;

// Bits by which each pass of the search narrows the interval of a wall, unless the wall meets the
// tolerance before.
constexpr int k_bits_per_pass = 6;

struct KeyQuery {
  Key key;
  std::int64_t index;  // index among the sender's keys
  std::int64_t rows;
};

struct Answer {
  std::int64_t index;
  std::int64_t row;
};

// Returns the first keys of the ranges of all counting ranks except the first.
std::vector<Key> counter_ranges(const Communicator& communicator, std::span<const Key> keys,
                                int counters) {
  std::int64_t largest_bit = 0;
  for (const Key key : keys) {
    while (key >> largest_bit != 0) ++largest_bit;
  }
  const LineRange all_keys{0, Key{1} << communicator.max(largest_bit)};
  std::vector<LinePoint> points;
  points.reserve(keys.size());
  for (const Key key : keys) points.push_back({key, 1});
  std::vector<Key> grains;
  for (int bit = 3 * k_key_bits_per_axis / k_bits_per_pass * k_bits_per_pass; bit >= 0;
       bit -= k_bits_per_pass) {
    grains.push_back(Key{1} << bit);
  }
  const std::vector<std::int32_t> equal_parts(counters, 1);
  return find_walls(all_keys, points, {equal_parts, grains, k_tolerance},
                    reduction_over(communicator).sum);
}

// Returns the rank that counts each key; ranges of keys are assigned to ranks in ascending order.
std::vector<int> counting_ranks(std::span<const Key> keys, std::span<const Key> walls, int ranks) {
  const auto counters = static_cast<std::int64_t>(walls.size()) + 1;
  std::vector<int> destinations;
  destinations.reserve(keys.size());
  for (const Key key : keys) {
    const auto counter = std::upper_bound(walls.begin(), walls.end(), key) - walls.begin();
    destinations.push_back(static_cast<int>(counter * ranks / counters));
  }
  return destinations;
}

// Counts the received keys; returns the row of each, in the order of reception.
std::vector<Answer> count(const Communicator& communicator, std::span<const KeyQuery> queries) {
  std::vector<std::size_t> order(queries.size());
  for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return queries[a].key < queries[b].key; });
  bool unique = true;
  for (std::size_t n = 1; n < order.size(); ++n) {
    unique = unique && queries[order[n - 1]].key != queries[order[n]].key;
  }
  OCTANT_REQUIRE(!communicator.any(!unique), "two blocks of one level have the same key");
  std::int64_t rows = 0;
  for (const KeyQuery& block : queries) rows += block.rows;
  std::int64_t before = communicator.exclusive_scan(rows);
  std::vector<Answer> answers(queries.size());
  for (const std::size_t n : order) {
    answers[n] = {queries[n].index, before};
    before += queries[n].rows;
  }
  return answers;
}

}  // namespace

std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys) {
  return rows_in_key_order(communicator, keys, std::vector<std::int64_t>(keys.size(), 1));
}

std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys,
                                            std::span<const std::int64_t> counts) {
  const int counters = std::min(communicator.size(), k_max_counters);
  const auto walls = counter_ranges(communicator, keys, counters);
  std::vector<KeyQuery> own;
  own.reserve(keys.size());
  for (std::size_t n = 0; n < keys.size(); ++n)
    own.push_back({keys[n], static_cast<std::int64_t>(n), counts[n]});
  const auto queries = route(communicator, counting_ranks(keys, walls, communicator.size()),
                             std::span<const KeyQuery>(own));
  const auto answers = count(communicator, queries.items);
  const auto answered = route(communicator, queries.sources, std::span<const Answer>(answers));
  std::vector<std::int64_t> rows(keys.size());
  for (const Answer& answer : answered.items) {
    rows[static_cast<std::size_t>(answer.index)] = answer.row;
  }
  return rows;
}

}  // namespace octant
