// Friends of friends on one rank: every method gives the groups of the definition.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "subgrid/friends/friends.hpp"
#include "tests/unit/subgrid/bound_points.hpp"

namespace octant::subgrid::friends {
namespace {

using Points = std::vector<Point>;

constexpr Point k_unit_box{1.0, 1.0, 1.0};
constexpr Method k_fast_methods[] = {Method::octree, Method::octree_threads, Method::cells};

// Points in a unit box: all over it, or close to some of them.
Points random_points(int count, int clusters, double spread, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  Points points(count);
  for (int n = 0; n < count; ++n)
    for (int d = 0; d < 3; ++d) {
      const double x =
          n < clusters ? unit(random) : points[n % clusters][d] + spread * (unit(random) - 0.5);
      points[n][d] = x - std::floor(x);
    }
  return points;
}

template <class Criterion = Near>
void expect_equal_groups(const Points& points, const Linking& linking,
                         const Criterion& criterion = {}) {
  const auto expected = find_groups(Method::brute, points, linking, criterion);
  for (const Method method : k_fast_methods)
    EXPECT_EQ(find_groups(method, points, linking, criterion), expected)
        << k_method_names[static_cast<int>(method)] << ", " << points.size() << " points, length "
        << linking.length;
}

TEST(Friends, groups_are_those_that_pairs_connect) {
  const Points points{{0.1, 0.5, 0.5},  {0.9, 0.5, 0.5},  {0.5, 0.5, 0.5},
                      {0.19, 0.5, 0.5}, {0.99, 0.5, 0.5}, {0.5, 0.62, 0.5}};
  for (int n = 0; n < k_methods; ++n) {
    const auto method = static_cast<Method>(n);
    EXPECT_EQ(find_groups(method, points, Linking{0.1}), (std::vector{0, 1, 2, 0, 1, 5}));
    EXPECT_EQ(find_groups(method, points, Linking{0.12, k_unit_box}),
              (std::vector{0, 0, 2, 0, 0, 2}));
  }
}

TEST(Friends, a_pair_as_far_apart_as_the_linking_length_is_linked) {
  const double length = 0.1;
  const Points linked{{0.0, 0.0, 0.0}, {length, 0.0, 0.0}};
  const Points apart{{0.0, 0.0, 0.0}, {std::nextafter(length, 1.0), 0.0, 0.0}};
  for (int n = 0; n < k_methods; ++n) {
    EXPECT_EQ(find_groups(static_cast<Method>(n), linked, Linking{length})[1], 0);
    EXPECT_EQ(find_groups(static_cast<Method>(n), apart, Linking{length})[1], 1);
  }
}

TEST(Friends, none_and_one_are_no_special_cases) {
  for (int n = 0; n < k_methods; ++n) {
    const auto method = static_cast<Method>(n);
    EXPECT_TRUE(find_groups(method, Points{}, Linking{0.1}).empty());
    EXPECT_EQ(find_groups(method, Points{{0.3, 0.2, 0.1}}, Linking{0.1, k_unit_box}),
              std::vector{0});
  }
}

TEST(Friends, all_methods_agree_whatever_the_length) {
  unsigned seed = 0;
  for (const double length : {0.0, 1e-7, 0.003, 0.03, 0.12, 0.19, 0.3, 0.45, 0.7, 1.5})
    for (const Point& period : {Point{k_open, k_open, k_open}, k_unit_box, Point{1.0, k_open, 1.0},
                                Point{k_open, 1.0, k_open}})
      for (const int clusters : {5, 40, 400})
        expect_equal_groups(random_points(400, clusters, 6.0 * length, ++seed),
                            Linking{length, period});
}

TEST(Friends, all_methods_agree_in_clumps_with_gaps_of_about_the_linking_length) {
  for (const double gap : {0.0199, 0.0201}) {  // between the surfaces of two dense clumps
    Points points = random_points(3000, 3000, 0.0, 5);
    for (int n = 0; n < 3000; ++n)
      for (int d = 0; d < 3; ++d)
        points[n][d] = 0.3 + 0.011 * points[n][d] + (d == 0 && n % 2 == 1 ? 0.011 + gap : 0.0);
    points.insert(points.end(), {{0.3109999, 0.305, 0.305}, {0.311 + gap, 0.305, 0.305}});
    const auto groups = find_groups(Method::cells, points, Linking{0.02, k_unit_box});
    EXPECT_EQ(groups[1], gap < 0.02 ? 0 : 1);
    expect_equal_groups(points, Linking{0.02, k_unit_box});
  }
}

TEST(Friends, only_bound_pairs_are_linked_where_that_is_asked) {
  const Points points = random_points(2000, 100, 0.05, 9);
  Points velocity = random_points(2000, 2000, 0.0, 10);
  std::vector<double> mass;
  for (int n = 0; n < 2000; ++n) mass.push_back(1.0 + n % 7);
  const Linking linking{0.02, k_unit_box};
  std::vector<int> sizes;
  for (const double gravity : {0.0, 1e-4, 1e-3, 1e3}) {
    const Bound bound{velocity, mass, gravity};
    expect_equal_groups(points, linking, bound);
    const auto groups = find_groups(Method::cells, points, linking, bound);
    int number = 0;
    for (int n = 0; n < 2000; ++n) number += groups[n] == n;
    sizes.push_back(number);
  }
  EXPECT_EQ(sizes[0], 2000);
  EXPECT_TRUE(sizes[0] > sizes[1] && sizes[1] > sizes[2] && sizes[2] > sizes[3]);
  EXPECT_EQ(find_groups(Method::cells, points, linking, Bound{velocity, mass, 1e3}),
            find_groups(Method::cells, points, linking));
}

TEST(Friends, two_masses_are_bound_if_their_energy_is_negative) {
  // Relative velocity 3, masses 2 and 4, G = 5: bound within r = 2 G (m1 + m2) / v^2 = 60 / 9.
  const Points velocity{{1.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}};
  const std::vector<double> mass{2.0, 4.0};
  const Bound bound{velocity, mass, 5.0};
  EXPECT_TRUE(bound(0, 1, std::pow(59.9 / 9.0, 2)));
  EXPECT_FALSE(bound(1, 0, std::pow(60.1 / 9.0, 2)));
}

TEST(Friends, a_chain_is_one_group_in_any_order) {
  const int n = 100000;
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (const bool shuffled : {false, true}) {
    if (shuffled) std::shuffle(order.begin(), order.end(), std::mt19937(3));
    Points points;
    for (const int i : order) points.push_back({(i + 0.5) / n, (i + 0.5) / n, (i + 0.5) / n});
    for (const Method method : k_fast_methods)
      EXPECT_EQ(find_groups(method, points, Linking{1.8 / n}), std::vector<int>(n, 0));
  }
}

TEST(Friends, a_clump_far_below_the_linking_length_costs_no_more_than_its_points) {
  // All pairs of so many points would take hours.
  Points points(1'000'000, Point{0.5, 0.25, 0.125});
  for (std::size_t n = 0; n < points.size(); n += 2) points[n][0] += 1e-9 * (n % 1000);
  points.back() = {0.9, 0.9, 0.9};
  std::vector<int> expected(points.size(), 0);
  expected.back() = static_cast<int>(points.size()) - 1;
  for (const Method method : k_fast_methods)
    EXPECT_EQ(find_groups(method, points, Linking{0.05, k_unit_box}), expected);
}

TEST(Friends, points_that_cannot_be_linked_are_refused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (int n = 0; n < k_methods; ++n) {
    const auto method = static_cast<Method>(n);
    EXPECT_THROW(find_groups(method, Points{{0.0, nan, 0.0}, {}}, Linking{0.1}), RunError);
    EXPECT_THROW(
        find_groups(method, Points{{0.0, 0.0, 0.0}, {1.1, 0.0, 0.0}}, Linking{0.1, k_unit_box}),
        RunError);
    EXPECT_THROW(find_groups(method, Points{{}, {}}, Linking{-1.0}), RunError);
  }
}

TEST(FastestMethod, tries_each_method_once_and_then_takes_the_fastest) {
  FastestMethod fastest;
  std::vector<int> tried(k_methods, 0);
  for (int n = 0; n < k_methods; ++n) {
    const Method method = fastest.choose(1000);
    ++tried[static_cast<int>(method)];
    fastest.record(method, 1000, method == Method::octree ? 1.0 : 2.0);
  }
  EXPECT_EQ(tried, std::vector<int>(k_methods, 1));
  EXPECT_EQ(fastest.choose(1000), Method::octree);
  EXPECT_EQ(fastest.choose(800), Method::octree);  // about as many
}

TEST(FastestMethod, never_tries_all_pairs_of_many_points) {
  FastestMethod fastest;
  for (int n = 0; n < 10; ++n) {
    const Method method = fastest.choose(1'000'000);
    EXPECT_NE(method, Method::brute);
    fastest.record(method, 1'000'000, 1.0 + n);
  }
}

}  // namespace
}  // namespace octant::subgrid::friends
