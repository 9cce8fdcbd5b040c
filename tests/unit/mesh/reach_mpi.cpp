// Spheres find the leaf octants that they meet, on whatever level and rank.
#include "mesh/reach.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

// Box of an octant, and its images across periodic boundaries.
struct OctantBox {
  OctantBox(const Geometry& geometry, int level, const BlockCoordinates& block, int octant)
      : side(geometry.cell_size(level) * geometry.octant_size()) {
    const Point corner = geometry.origin(level, block);
    for (int d = 0; d < 3; ++d) {
      const double low = corner[d] + (octant >> d & 1) * side;
      const double size = geometry.upper()[d] - geometry.lower()[d];
      const int others = geometry.periodic(d) ? 1 : 0;
      for (int image = -others; image <= others; ++image) lows[d].push_back(low + image * size);
    }
  }

  // The squared distance of a point, by looking at all images.
  double squared_distance(const Point& x) const {
    double sum = 0.0;
    for (int d = 0; d < 3; ++d) {
      double least = 1e300;
      for (const double low : lows[d])
        least = std::min(least, std::max({0.0, low - x[d], x[d] - (low + side)}));
      sum += least * least;
    }
    return sum;
  }

  double side;
  std::array<std::vector<double>, 3> lows;
};

// Calls visit(level, slot, octant) for this rank's leaf octants.
template <class Visit>
void for_leaf_octants(const Mesh& mesh, const Visit& visit) {
  for (int level = 0; level <= mesh.finest_level(); ++level)
    for (const int slot : mesh.blocks(level).own())
      for (int octant = 0; octant < 8; ++octant)
        if (!(mesh.blocks(level).refined(slot) >> octant & 1)) visit(level, slot, octant);
}

// A number of spheres at random places, the same on all ranks.
std::vector<Sphere> random_spheres(const Geometry& geometry, double largest_radius) {
  std::vector<Sphere> spheres(60);
  for (std::size_t n = 0; n < spheres.size(); ++n) {
    const RandomStream stream(3, n, 0);
    for (int d = 0; d < 3; ++d)
      spheres[n].centre[d] =
          geometry.lower()[d] + stream.uniform(d) * (geometry.upper()[d] - geometry.lower()[d]);
    spheres[n].radius = largest_radius * stream.uniform(3);
  }
  return spheres;
}

// Those with a centre in this rank's leaf octants, which become their places, and their numbers.
std::vector<Sphere> own_spheres(const Mesh& mesh, const std::vector<Sphere>& all, bool with_place,
                                std::vector<int>& numbers) {
  std::vector<Sphere> own;
  for_leaf_octants(mesh, [&](int level, int slot, int octant) {
    const OctantBox box(mesh.geometry(), level, morton_decode(mesh.blocks(level).key(slot)),
                        octant);
    for (std::size_t n = 0; n < all.size(); ++n) {
      if (box.squared_distance(all[n].centre) > 0.0) continue;
      own.push_back(all[n]);
      if (with_place) own.back().level = level, own.back().slot = slot;
      numbers.push_back(static_cast<int>(n));
    }
  });
  return own;
}

using Place = std::tuple<int, int, int>;  // sphere, level, slot

void expect_all_met(const Mesh& mesh, double largest_radius, bool with_place) {
  const std::vector<Sphere> all = random_spheres(mesh.geometry(), largest_radius);
  std::vector<int> numbers;
  const std::vector<Sphere> own = own_spheres(mesh, all, with_place, numbers);
  const auto reached = reach<int>(mesh, own, numbers);
  EXPECT_TRUE(reached.any);

  std::map<Place, int> expected, found;
  for_leaf_octants(mesh, [&](int level, int slot, int octant) {
    const OctantBox box(mesh.geometry(), level, morton_decode(mesh.blocks(level).key(slot)),
                        octant);
    for (std::size_t n = 0; n < all.size(); ++n) {
      const double radius = all[n].radius;
      if (box.squared_distance(all[n].centre) <= radius * radius)
        expected[{static_cast<int>(n), level, slot}] |= 1 << octant;
    }
  });
  for (const SphereOverlap& overlap : reached.overlaps) {
    const Place place{reached.items[overlap.item], overlap.level, overlap.slot};
    EXPECT_EQ(found.count(place), 0u);
    found[place] = overlap.octants;
  }
  EXPECT_EQ(found.size(), expected.size());
  for (const auto& [place, octants] : expected)
    EXPECT_EQ(found[place], octants)
        << "sphere " << std::get<0>(place) << " of radius " << all[std::get<0>(place)].radius
        << ", level " << std::get<1>(place) << (with_place ? ", from its block" : "");
  EXPECT_EQ(reached.items.size(), reached.sources.size());
  EXPECT_TRUE(std::is_sorted(reached.sources.begin(), reached.sources.end()));
}

TEST(Reach, finds_every_leaf_octant_across_levels_faces_and_ranks) {
  for (const char* boundary : {"periodic", "outflow"})
    for (const int block_size : {2, 4, 8}) {
      MeshFixture f(small_box(block_size, 3, boundary), {std::min(block_size, 2)}, 8);
      f.refine_at_random(4, 0.3);
      ASSERT_GE(f.mesh.finest_level(), 2);
      for (const double radius : {1e-3, 0.05, 0.2, 0.5})
        for (const bool with_place : {true, false}) expect_all_met(f.mesh, radius, with_place);
    }
}

TEST(Reach, says_on_all_ranks_whether_any_rank_has_an_item) {
  MeshFixture f(small_box(4, 0, "periodic"), {2}, 8);
  EXPECT_FALSE(reach<int>(f.mesh, {}, {}).any);
  const Sphere sphere{{0.5, 0.5, 0.5}, 0.01, -1, -1};
  const std::size_t own = f.mesh.communicator().is_root() ? 1 : 0;
  const int item = 1;
  EXPECT_TRUE(reach<int>(f.mesh, std::span(&sphere, own), std::span(&item, own)).any);
}

TEST(Reach, is_no_more_than_half_of_a_periodic_domain) {
  MeshFixture f(small_box(4, 0, "periodic"), {2}, 8);
  const Sphere sphere{{0.5, 0.5, 0.5}, 0.51, -1, -1};
  EXPECT_THROW(reach<int>(f.mesh, std::span(&sphere, 1), std::vector<int>{1}), RunError);
}

TEST(NearestImage, is_across_the_boundary_where_that_is_shorter) {
  const Geometry periodic(small_box(4, 0, "periodic"));
  const Position way = nearest_image(periodic, {0.1, 0.5, 0.9}, {1.4, 0.6, 0.1});
  EXPECT_NEAR(way[0], -0.2, 1e-15);
  EXPECT_NEAR(way[1], 0.1, 1e-15);
  EXPECT_NEAR(way[2], 0.2, 1e-15);
  const Geometry open(small_box(4, 0, "outflow"));
  EXPECT_NEAR(nearest_image(open, {0.1, 0.5, 0.9}, {1.4, 0.6, 0.1})[0], 1.3, 1e-15);
}

}  // namespace
}  // namespace octant::mesh::test
