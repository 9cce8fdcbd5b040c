// Copies of particles near own blocks, against a look at all pairs.
#include "particles/particle_halo.hpp"

#include <gtest/gtest.h>

#include "swarm.hpp"

namespace octant::particles::test {
namespace {

struct HaloCase {
  int block_size;
  std::string boundary;
  double radius;
};

class Halo : public testing::TestWithParam<HaloCase> {};

// The least distance of a point from a box, of all periodic images.
double distance(const Swarm& swarm, const Point& x, const Point& corner, double side) {
  double least = 1e300;
  for (int image = 0; image < 27; ++image) {
    const int shift[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
    double square = 0.0;
    for (int d = 0; d < 3; ++d) {
      if (shift[d] != 0 && !swarm.mesh.geometry().periodic(d)) square = 1e300;
      const double size = swarm.mesh.geometry().upper()[d] - swarm.mesh.geometry().lower()[d];
      const double at = x[d] + shift[d] * size;
      square += std::pow(std::max({0.0, corner[d] - at, at - corner[d] - side}), 2);
    }
    least = std::min(least, std::sqrt(square));
  }
  return least;
}

bool near_own_leaves(const Swarm& swarm, const Point& x, double radius) {
  for (int l = 0; l <= swarm.mesh.finest_level(); ++l) {
    const mesh::TreeLevel& blocks = swarm.mesh.blocks(l);
    const double side = swarm.mesh.geometry().cell_size(l) * swarm.mesh.geometry().octant_size();
    for (const int slot : blocks.own())
      for (int o = 0; o < 8; ++o) {
        if ((blocks.refined(slot) >> o & 1) != 0) continue;
        Point corner = swarm.mesh.geometry().origin(l, morton_decode(blocks.key(slot)));
        for (int d = 0; d < 3; ++d) corner[d] += (o >> d & 1) * side;
        if (distance(swarm, x, corner, side) <= radius) return true;
      }
  }
  return false;
}

TEST_P(Halo, has_all_that_are_near_and_no_others) {
  const auto& [block_size, boundary, radius] = GetParam();
  const Kind kind{.name = "sinks",
                  .description = "holes",
                  .columns = {{"spin", "1", "of the hole"},
                              {"mergers", "1", "so far", std::int64_t{0}},
                              {"age", "time", "of the hole", 3.0}}};
  Swarm swarm(small_box(block_size, 2, boundary), Communicator::world(), kind);
  swarm.refine({0.4, 0.9, 0.5}, 0.6);
  swarm.migrate(Decomposition::hilbert);
  ASSERT_EQ(swarm.mesh.finest_level(), 2);
  constexpr std::uint64_t k_count = 200;
  const auto in_kind = [&](ParticleBatch batch) {
    std::vector<double> spins;
    std::vector<std::int64_t> mergers;
    for (std::uint64_t& id : batch.id) {
      spins.push_back(0.5 * static_cast<double>(id));
      mergers.push_back(static_cast<std::int64_t>(id) << 40);
      id += kind.first_id();
    }
    batch.columns = {{"spin", spins}, {"mergers", mergers}};
    return batch;
  };
  swarm.particles.add(in_kind(scattered(Communicator::world(), k_count)));
  const ParticleBatch all = in_kind(scattered(alone(), k_count));

  // Only every second one is requested.
  std::vector<std::int64_t> asked;
  const auto ids = swarm.particles.read_ids(swarm.all_own());
  for (std::size_t n = 0; n < ids.size(); ++n)
    if (ids[n] % 2 == 0) asked.push_back(static_cast<std::int64_t>(n));
  const ParticleHalo halo(swarm.particles, asked, radius);
  const ParticleBatch& copies = halo.particles();
  std::size_t found = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all.id[n] % 2 != 0 || !near_own_leaves(swarm, all.position[n], radius)) continue;
    ASSERT_LT(found, copies.size());
    EXPECT_EQ(copies.id[found], all.id[n]);
    EXPECT_EQ(copies.position[found], all.position[n]);
    EXPECT_EQ(copies.velocity[found], all.velocity[n]);
    EXPECT_EQ(copies.mass[found], all.mass[n]);
    EXPECT_EQ(std::get<0>(copies.columns.at("spin"))[found],
              std::get<0>(all.columns.at("spin"))[n]);
    EXPECT_EQ(std::get<1>(copies.columns.at("mergers"))[found],
              std::get<1>(all.columns.at("mergers"))[n]);
    EXPECT_EQ(std::get<0>(copies.columns.at("age"))[found], 3.0);
    ++found;
  }
  EXPECT_EQ(found, copies.size());
  EXPECT_GT(found, 0u);
}

// Radii from less than a cell, 1/8 / 4 and coarser, to several blocks.
INSTANTIATE_TEST_SUITE_P(Boxes, Halo,
                         testing::Values(HaloCase{2, "periodic", 0.11},
                                         HaloCase{4, "periodic", 0.02},
                                         HaloCase{4, "periodic", 0.3}, HaloCase{4, "periodic", 0.5},
                                         HaloCase{8, "periodic", 0.07},
                                         HaloCase{4, "outflow", 0.11},
                                         HaloCase{8, "reflecting", 0.3}),
                         [](const auto& info) {
                           return std::to_string(info.param.block_size) + info.param.boundary +
                                  std::to_string(std::lround(100 * info.param.radius));
                         });

}  // namespace
}  // namespace octant::particles::test
