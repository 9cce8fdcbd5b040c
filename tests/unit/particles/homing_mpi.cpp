// Particles and their blocks: through drifts, refinement, migration, files.
#include <set>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "swarm.hpp"

namespace octant::particles::test {
namespace {

// Every particle is in an octant, without finer blocks, of the block that it is listed under.
void expect_all_at_home(Swarm& swarm) {
  const int N = swarm.mesh.geometry().block_size();
  for (int l = 0; l <= swarm.mesh.geometry().max_level(); ++l) {
    const ParticleSet& set = swarm.particles.set(l);
    const LevelFrame frame(swarm.mesh.geometry(), l);
    std::vector<std::int32_t> rows(set.count());
    for (std::size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<std::int32_t>(n);
    const auto homes = set.homes(rows);
    std::vector<double> x[3];
    for (int d = 0; d < 3; ++d) x[d] = set.reals(d, rows);
    for (std::size_t n = 0; n < rows.size(); ++n) {
      ASSERT_GE(homes[n], 0);
      const auto block = morton_decode(swarm.mesh.blocks(l).key(homes[n]));
      int octant = 0;
      for (int d = 0; d < 3; ++d) {
        const auto cell = frame.cell_of(d, x[d][n]) - block[d] * N;
        ASSERT_TRUE(cell >= 0 && cell < N) << "level " << l << " axis " << d << ": " << cell;
        octant |= (cell >= N / 2) << d;
      }
      ASSERT_FALSE(swarm.mesh.blocks(l).refined(homes[n]) >> octant & 1);
    }
  }
}

// Ids 0 .. count - 1 are there once each.
void expect_ids(Swarm& swarm, std::int64_t count) {
  ASSERT_EQ(swarm.totals().count, count);
  const auto rows = swarm.particles.file_rows();
  const auto ids = swarm.particles.read_ids(swarm.all_own());
  for (std::size_t n = 0; n < ids.size(); ++n)
    ASSERT_EQ(static_cast<std::int64_t>(ids[n]), rows[n]);
}

class Crowd : public testing::TestWithParam<int> {};

TEST_P(Crowd, loses_and_doubles_nobody_through_steps_regrids_and_migrations) {
  constexpr std::int64_t k_count = 600;
  const int levels = GetParam() == 8 ? 2 : 3;
  Swarm reference(small_box(GetParam(), levels, "periodic"), alone());
  Swarm swarm(small_box(GetParam(), levels, "periodic"), Communicator::world());
  const auto pull = [](const Point& x) {
    return Point{std::sin(2.0 * M_PI * x[1]), std::cos(2.0 * M_PI * x[0] / 1.5), 0.1};
  };
  std::set<int> finest;
  for (Swarm* s : {&reference, &swarm}) {
    s->particles.add(scattered(s->mesh.communicator(), k_count, 1.0));
    for (int round = 0; round < 5; ++round) {
      // Here and there, and nowhere: that removes all levels at once.
      const RandomStream random(7, round, 0);
      const Point centre{1.5 * random.uniform(0), random.uniform(1), random.uniform(2)};
      s->refine(centre, round % 4 == 3 ? 0.0 : 0.3 + 0.3 * random.uniform(3));
      finest.insert(s->mesh.finest_level());
      expect_all_at_home(*s);
      if (s == &swarm) {
        s->migrate(static_cast<Decomposition>(round % 3));
        expect_all_at_home(*s);
      }
      const double cell = s->mesh.geometry().cell_size(0);
      for (int step = 0; step < 2; ++step) s->advance(0, 0.25 * cell, pull);
      expect_all_at_home(*s);
      expect_ids(*s, k_count);
    }
  }
  EXPECT_EQ(finest, (std::set<int>{0, levels}));
  EXPECT_EQ(swarm.fingerprint(), reference.fingerprint());
  const ParticleTotals totals = swarm.totals(), expected = reference.totals();
  EXPECT_EQ(totals.mass, expected.mass);
  EXPECT_EQ(totals.momentum, expected.momentum);
  EXPECT_EQ(totals.kinetic_energy, expected.kinetic_energy);
}

INSTANTIATE_TEST_SUITE_P(Blocks, Crowd, testing::Values(2, 4, 8),
                         [](const auto& info) { return "of_" + std::to_string(info.param); });

TEST(Particles, outside_of_the_domain_or_without_mass_are_bad_input) {
  Swarm swarm(small_box(4, 0, "periodic"), Communicator::world());
  ParticleBatch batch = scattered(Communicator::world(), 100);
  for (std::size_t n = 0; n < batch.size(); ++n)
    if (batch.id[n] == 31) batch.position[n][1] = 1.25;
  try {
    swarm.particles.add(batch);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("dark particle 31 is at ("), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("outside the domain"), std::string::npos);
  }
  for (std::size_t n = 0; n < batch.size(); ++n)
    if (batch.id[n] == 31) batch.position[n][1] = 1.0;  // the upper end counts as inside
  swarm.particles.add(batch);
  EXPECT_EQ(swarm.totals().count, 100);
  ParticleBatch weightless = single(Communicator::world(), {0.1, 0.1, 0.1});
  for (double& mass : weightless.mass) mass = 0.0;
  EXPECT_THROW(swarm.particles.add(weightless), InputError);
}

TEST(Particles, come_back_from_their_columns_bit_by_bit) {
  const Kind stars{.name = "dark",
                   .description = "old and young",
                   .columns = {{"birth_time", "time", "when it was born"},
                               {"explosions", "1", "so far", std::int64_t{0}},
                               {"metallicity", "1", "share of metals", 0.02}}};
  Swarm swarm(small_box(4, 2, "periodic"), Communicator::world(), stars);
  swarm.refine({0.5, 0.5, 0.5}, 0.5);
  ParticleBatch batch = scattered(Communicator::world(), 400, 1.0);
  std::vector<double> times;
  std::vector<std::int64_t> explosions;
  for (const std::uint64_t id : batch.id) {
    times.push_back(0.1 * static_cast<double>(id));
    explosions.push_back((std::int64_t{1} << 62) + static_cast<std::int64_t>(id));  // no double
  }
  batch.columns = {{"birth_time", times}, {"explosions", explosions}};
  swarm.particles.add(batch);
  swarm.advance(0, 0.03, [](const Point& x) { return x; });

  // Every second particle first, as batches of rows do.
  std::vector<std::int64_t> own;
  for (std::int64_t n = 0; n < swarm.particles.count(); n += 2) own.push_back(n);
  for (std::int64_t n = 1; n < swarm.particles.count(); n += 2) own.push_back(n);
  ParticleBatch copy;
  copy.id = swarm.particles.read_ids(own);
  copy.mass = swarm.particles.read_masses(own);
  for (const Column& column : stars.columns)
    copy.columns[column.name] = swarm.particles.read_column(column.name, own);
  const auto x = swarm.particles.read_positions(own), v = swarm.particles.read_velocities(own);
  for (std::size_t n = 0; n < own.size(); ++n) {
    EXPECT_EQ(std::get<0>(copy.columns.at("birth_time"))[n], 0.1 * static_cast<double>(copy.id[n]));
    EXPECT_EQ(std::get<1>(copy.columns.at("explosions"))[n],
              (std::int64_t{1} << 62) + static_cast<std::int64_t>(copy.id[n]));
    EXPECT_EQ(std::get<0>(copy.columns.at("metallicity"))[n], 0.02);
    copy.position.push_back({x[3 * n], x[3 * n + 1], x[3 * n + 2]});
    copy.velocity.push_back({v[3 * n], v[3 * n + 1], v[3 * n + 2]});
  }
  Swarm other(small_box(4, 2, "periodic"), Communicator::world(), stars);
  other.particles.add(copy);
  EXPECT_EQ(other.fingerprint(), swarm.fingerprint());
  EXPECT_EQ(other.totals().mass, swarm.totals().mass);
}

TEST(Particles, with_the_same_id_are_found_out) {
  Swarm swarm(small_box(4, 0, "periodic"), Communicator::world());
  swarm.particles.add(single(Communicator::world(), {0.1, 0.1, 0.1}));
  swarm.particles.add(single(Communicator::world(), {0.9, 0.9, 0.9}));
  EXPECT_THROW(swarm.particles.file_rows(), RunError);
}

TEST(Particles, are_counted_by_the_blocks_that_hold_them) {
  Swarm swarm(small_box(4, 2, "periodic"), Communicator::world());
  swarm.refine({0.5, 0.5, 0.5}, 0.5);
  swarm.particles.add(scattered(Communicator::world(), 400));
  std::int64_t sum = 0;
  for (int l = 0; l <= swarm.mesh.finest_level(); ++l)
    for (const int count : swarm.particles.counts_by_slot(l)) sum += count;
  EXPECT_EQ(Communicator::world().sum(sum), 400);
  EXPECT_GT(swarm.particles.bytes(), 0);
}

}  // namespace
}  // namespace octant::particles::test
