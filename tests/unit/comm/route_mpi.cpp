#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "comm/route.hpp"
#include "core/error.hpp"

namespace octant {
namespace {

struct Item {
  std::int16_t source;
  std::int32_t number;
  char unused;

  bool operator==(const Item&) const = default;
};

// Where rank `source` sends its items, known to all ranks.
std::vector<int> destinations_of(int source, int ranks, unsigned seed) {
  std::mt19937 random(1000 * seed + source);
  std::vector<int> destinations(random() % 4 == 0 ? 0 : random() % 40);
  for (int& destination : destinations) destination = static_cast<int>(random() % ranks);
  return destinations;
}

TEST(RouteMpi, items_arrive_by_source_and_in_the_order_of_sending) {
  const auto world = Communicator::world();
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto destinations = destinations_of(world.rank(), world.size(), seed);
    std::vector<Item> items;
    for (std::size_t n = 0; n < destinations.size(); ++n)
      items.push_back({static_cast<std::int16_t>(world.rank()), static_cast<int>(n), 'x'});

    std::vector<Item> expected_items;
    std::vector<int> expected_sources;
    for (int source = 0; source < world.size(); ++source) {
      const auto theirs = destinations_of(source, world.size(), seed);
      for (std::size_t n = 0; n < theirs.size(); ++n) {
        if (theirs[n] != world.rank()) continue;
        expected_items.push_back({static_cast<std::int16_t>(source), static_cast<int>(n), 'x'});
        expected_sources.push_back(source);
      }
    }

    const auto routed = route(world, destinations, std::span<const Item>(items));
    EXPECT_EQ(routed.items, expected_items);
    EXPECT_EQ(routed.sources, expected_sources);
  }
}

TEST(RouteMpi, nothing_sent_is_nothing_received) {
  const auto routed = route(Communicator::world(), {}, std::span<const double>{});
  EXPECT_TRUE(routed.items.empty());
  EXPECT_TRUE(routed.sources.empty());
}

TEST(RouteMpi, flags_of_every_rank_reach_all_ranks) {
  const auto world = Communicator::world();
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::int64_t own = std::int64_t{1} << rank;
    std::int64_t one = world.rank() == rank ? own : 0, every = std::int64_t{1} << world.rank();
    const int destination = rank;
    const double item = 1.0;
    const std::span to(&destination, world.rank() == rank ? 0 : 1);
    const auto routed = route(world, to, std::span(&item, to.size()), one);
    EXPECT_EQ(one, own);
    EXPECT_EQ(std::ssize(routed.items), world.rank() == rank ? world.size() - 1 : 0);
    route(world, {}, std::span<const double>{}, every);
    EXPECT_EQ(every, (std::int64_t{1} << world.size()) - 1);
  }
}

TEST(RouteMpi, a_destination_that_does_not_exist_is_an_error) {
  const auto world = Communicator::world();
  const int destination = world.size();
  const double item = 1.0;
  EXPECT_THROW(route(world, std::span(&destination, 1), std::span(&item, 1)), RunError);
}

}  // namespace
}  // namespace octant
