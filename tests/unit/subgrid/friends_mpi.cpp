// Friends of friends over ranks: the same groups however bodies are spread.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "subgrid/friends/distributed.hpp"
#include "tests/unit/subgrid/bound_points.hpp"

namespace octant::subgrid::friends {
namespace {

using Bodies = std::vector<Body>;

constexpr Point k_unit_box{1.0, 1.0, 1.0};

// Ids are no indices: they come in another order.
std::uint64_t id_of(std::size_t n) { return (n * 7919 + 11) % 1'000'003; }

Bodies random_bodies(int count, int clusters, double spread, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  Bodies bodies(count);
  for (int n = 0; n < count; ++n) {
    for (int d = 0; d < 3; ++d) {
      const double x = n < clusters
                           ? unit(random)
                           : bodies[n % clusters].position[d] + spread * (unit(random) - 0.5);
      bodies[n].position[d] = x - std::floor(x);
      bodies[n].velocity[d] = unit(random);
    }
    bodies[n].mass = unit(random);
    bodies[n].id = id_of(n);
  }
  return bodies;
}

// Ways to spread bodies over ranks.
enum class Spread { slabs, cards, halves, last_rank };
constexpr Spread k_spreads[] = {Spread::slabs, Spread::cards, Spread::halves, Spread::last_rank};

int owner_of(Spread spread, const Body& body, std::size_t n, int ranks) {
  switch (spread) {
    case Spread::slabs: return std::min(static_cast<int>(body.position[0] * ranks), ranks - 1);
    case Spread::cards: return static_cast<int>(n % ranks);
    case Spread::halves: return body.position[1] < 0.5 ? 0 : ranks - 1;
    case Spread::last_rank: return ranks - 1;
  }
  return 0;
}

// The labels that one rank finds among all, for the bodies of each rank, compared with those that
// ranks find together.
template <class Criterion, class IndexCriterion>
DistributedGroups expect_groups_of_one_rank(const Bodies& all, const Linking& linking,
                                            Spread spread, const Criterion& criterion,
                                            const IndexCriterion& of_indices) {
  const auto world = Communicator::world();
  std::vector<Point> points;
  for (const Body& body : all) points.push_back(body.position);
  const auto groups = find_groups(Method::cells, points, linking, of_indices);
  std::vector<std::uint64_t> least(all.size(), std::numeric_limits<std::uint64_t>::max());
  for (std::size_t n = 0; n < all.size(); ++n)
    least[groups[n]] = std::min(least[groups[n]], all[n].id);

  Bodies own;
  std::vector<std::uint64_t> expected;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (owner_of(spread, all[n], n, world.size()) != world.rank()) continue;
    own.push_back(all[n]);
    expected.push_back(least[groups[n]]);
  }
  FastestMethod fastest;
  auto found = find_groups(world, own, linking, fastest, criterion);
  EXPECT_EQ(found.label, expected);
  return found;
}

TEST(FriendsMpi, groups_do_not_depend_on_where_bodies_are) {
  unsigned seed = 0;
  for (const Spread spread : k_spreads)
    for (const double length : {0.002, 0.02, 0.06, 0.3, 0.8})
      for (const Point& period :
           {Point{k_open, k_open, k_open}, k_unit_box, Point{1.0, k_open, 1.0}}) {
        const int count = length < 0.1 ? 2000 : 60;
        expect_groups_of_one_rank(random_bodies(count, count / 4, 3.0 * length, ++seed),
                                  Linking{length, period}, spread, NearBodies{}, Near{});
      }
}

TEST(FriendsMpi, bound_groups_do_not_depend_on_where_bodies_are) {
  const Bodies all = random_bodies(2000, 300, 0.08, 77);
  std::vector<Point> velocity;
  std::vector<double> mass;
  for (const Body& body : all) {
    velocity.push_back(body.velocity);
    mass.push_back(body.mass);
  }
  for (const Spread spread : k_spreads)
    for (const double gravity : {0.0, 2e-3, 2e-2})
      expect_groups_of_one_rank(all, Linking{0.03, k_unit_box}, spread, BoundBodies{gravity},
                                Bound{velocity, mass, gravity});
}

TEST(FriendsMpi, a_chain_over_ranks_takes_few_rounds) {
  const int n = 100'000;
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  Bodies chain(n);
  for (int i = 0; i < n; ++i) {
    chain[i].position.fill((order[i] + 0.5) / n);
    chain[i].id = id_of(i);
  }
  const Linking linking{1.8 / n};
  for (const Spread spread : k_spreads) {
    const auto found = expect_groups_of_one_rank(chain, linking, spread, NearBodies{}, Near{});
    // Dealt out like cards, nearly every body is a part of its own.
    const int most = spread == Spread::cards ? 2 + std::bit_width(std::uint64_t{n}) : 6;
    EXPECT_LE(found.rounds, most);
    if (spread == Spread::slabs || spread == Spread::halves) {
      EXPECT_LE(found.copies, 8) << "copies are of bodies at faces alone";
    }
  }
}

TEST(FriendsMpi, none_and_one_are_no_special_cases) {
  const auto world = Communicator::world();
  FastestMethod fastest;
  const auto none = find_groups(world, Bodies{}, Linking{0.1}, fastest);
  EXPECT_TRUE(none.label.empty());
  EXPECT_EQ(none.rounds, 0);
  Bodies one;
  if (world.rank() == world.size() - 1) one.push_back({.position = {0.5, 0.5, 0.5}, .id = 7});
  const auto found = find_groups(world, one, Linking{0.1, k_unit_box}, fastest);
  EXPECT_EQ(found.label, std::vector<std::uint64_t>(one.size(), 7));
}

TEST(FriendsMpi, a_body_that_cannot_be_linked_is_an_error_on_every_rank) {
  const auto world = Communicator::world();
  FastestMethod fastest;
  Bodies bodies(1, Body{.position = {0.5, 0.5, 0.5}});
  if (world.rank() == world.size() - 1)
    bodies[0].position[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(find_groups(world, bodies, Linking{0.1}, fastest), RunError);
  bodies[0].position[1] = 2.0 * world.rank();
  if (world.size() > 1) {
    EXPECT_THROW(find_groups(world, bodies, Linking{0.1, k_unit_box}, fastest), RunError);
  }
}

}  // namespace
}  // namespace octant::subgrid::friends
