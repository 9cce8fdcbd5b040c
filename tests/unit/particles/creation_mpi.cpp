// Particles that are created and removed: numbers, owners, columns and sums.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "swarm.hpp"

namespace octant::particles::test {
namespace {

const Kind k_stars{.name = "stars",
                   .description = "stars",
                   .columns = {{"birth_time", "time", "when it was born", -1.0}}};

// A particle, or two, in every leaf cell that a draw picks, on the ranks that own them.
ParticleBatch births(const Swarm& swarm, int round) {
  ParticleBatch batch;
  const int N = swarm.mesh.geometry().block_size();
  for (int l = 0; l <= swarm.mesh.finest_level(); ++l) {
    const mesh::TreeLevel& blocks = swarm.mesh.blocks(l);
    const double dx = swarm.mesh.geometry().cell_size(l);
    for (const int slot : blocks.own()) {
      const auto corner = swarm.mesh.geometry().origin(l, morton_decode(blocks.key(slot)));
      for (int c = 0; c < N * N * N; ++c) {
        const int i = c % N, j = c / N % N, k = c / N / N;
        const int octant = (2 * i >= N) + 2 * (2 * j >= N) + 4 * (2 * k >= N);
        if ((blocks.refined(slot) >> octant & 1) != 0) continue;
        const RandomStream random(3 + l, blocks.key(slot) * (N * N * N) + c, round);
        for (int n = 0; n < 2 - static_cast<int>(8.0 * random.uniform(0)); ++n) {
          batch.position.push_back({corner[0] + (i + random.uniform(1 + n)) * dx,
                                    corner[1] + (j + random.uniform(3 + n)) * dx,
                                    corner[2] + (k + random.uniform(5 + n)) * dx});
          batch.velocity.push_back({random.uniform(7 + n), -1.0, 0.5});
          batch.mass.push_back(1.0 + random.uniform(9 + n));
        }
      }
    }
  }
  return batch;
}

// The numbers of own particles in the middle of the box.
std::vector<std::int64_t> in_the_middle(const Swarm& swarm) {
  std::vector<std::int64_t> found;
  const auto x = swarm.particles.read_positions(swarm.all_own());
  for (const std::int64_t n : swarm.all_own())
    if (std::abs(x[3 * n] - 0.75) < 0.3) found.push_back(n);
  return found;
}

// Block sizes: rank 0 orders particles in few blocks alone, and all ranks those in many.
class Creation : public testing::TestWithParam<int> {};

TEST_P(Creation, gives_the_same_particles_the_same_ids_whoever_owns_the_blocks) {
  Swarm reference(small_box(GetParam(), 2, "periodic"), alone(), k_stars);
  Swarm swarm(small_box(GetParam(), 2, "periodic"), Communicator::world(), k_stars);
  for (Swarm* s : {&reference, &swarm}) {
    s->refine({0.4, 0.9, 0.5}, 0.6);
    if (s == &swarm) s->migrate(Decomposition::hilbert);
    for (int round = 0; round < 3; ++round) {
      s->particles.create(births(*s, round));
      Particles::deposit(s->kinds(), 0);
      if (round == 1) s->particles.remove(in_the_middle(*s));
      if (s == &swarm) s->migrate(static_cast<Decomposition>(round));
      s->advance(0, 0.02, [](const Point& x) { return x; });
    }
  }
  ASSERT_EQ(swarm.mesh.finest_level(), 2);
  const ParticleTotals totals = swarm.totals(), expected = reference.totals();
  EXPECT_EQ(totals.count, expected.count);
  EXPECT_GT(totals.count, GetParam() == 2 ? 1000 : 100);
  EXPECT_EQ(totals.mass, expected.mass);
  EXPECT_EQ(swarm.particles.assigned_ids(), reference.particles.assigned_ids());
  EXPECT_EQ(swarm.fingerprint(), reference.fingerprint());
  Particles::deposit(swarm.kinds(), 0);
  Particles::deposit(reference.kinds(), 0);
  EXPECT_EQ(swarm.fingerprint_of_masses(), reference.fingerprint_of_masses());
}

INSTANTIATE_TEST_SUITE_P(BlockSizes, Creation, testing::Values(4, 2));

TEST(NewParticles, numbers_cells_in_the_order_of_level_and_key_without_gaps) {
  Swarm swarm(small_box(4, 1, "periodic"), Communicator::world(), k_stars);
  swarm.refine({0.4, 0.5, 0.5}, 0.6);
  swarm.migrate(Decomposition::hilbert);
  const ParticleBatch batch = births(swarm, 0);
  const auto ids = swarm.particles.create(batch);
  ASSERT_EQ(ids.size(), batch.size());
  EXPECT_EQ(swarm.particles.count(), std::ssize(ids));
  const auto count = Communicator::world().sum(std::ssize(ids));
  EXPECT_EQ(swarm.particles.assigned_ids(), count);
  // Every rank's births in one list: those of the ids in ascending order are in order of place.
  struct Birth {
    std::uint64_t id, cell;
    std::int64_t level;
  };
  std::vector<Birth> own;
  for (std::size_t n = 0; n < ids.size(); ++n)
    for (int l = swarm.mesh.finest_level(); l >= 0; --l) {
      const LevelFrame frame(swarm.mesh.geometry(), l);
      const mesh::Node* node = swarm.mesh.blocks(l).find(frame.block_at(batch.position[n]));
      if (!node || node->slot < 0) continue;
      BlockCoordinates cell;
      for (int d = 0; d < 3; ++d) cell[d] = frame.cell_of(d, batch.position[n][d]);
      own.push_back({ids[n], static_cast<std::uint64_t>(morton_encode(cell)), l});
      break;
    }
  auto all = Communicator::world().gather_to_root(std::span<const Birth>(own));
  std::sort(all.begin(), all.end(), [](const Birth& a, const Birth& b) { return a.id < b.id; });
  for (std::size_t n = 0; n < all.size(); ++n) {
    EXPECT_EQ(all[n].id, (std::uint64_t{1} << 62) + n);
    if (n == 0) continue;
    EXPECT_LE(std::tie(all[n - 1].level, all[n - 1].cell), std::tie(all[n].level, all[n].cell));
  }
  // What was not given has its initial value; file rows follow the ids.
  const auto times =
      std::get<0>(swarm.particles.read_column("birth_time", swarm.particles.in_order_of_id()));
  for (const double time : times) EXPECT_EQ(time, -1.0);
  const auto rows = swarm.particles.file_rows();
  std::int64_t before = -1;
  for (const std::int64_t n : swarm.particles.in_order_of_id()) {
    EXPECT_GT(rows[n], before);
    before = rows[n];
  }
}

TEST(NewParticles, goes_on_from_the_ids_that_were_ever_used) {
  Swarm swarm(small_box(4, 0, "periodic"), Communicator::world(), k_stars);
  ParticleBatch given = scattered(Communicator::world(), 50);
  for (std::uint64_t& id : given.id) id += std::uint64_t{1} << 62;
  swarm.particles.add(given);
  EXPECT_EQ(swarm.particles.assigned_ids(), 50);
  swarm.particles.remove(swarm.all_own());
  EXPECT_EQ(swarm.totals().count, 0);
  for (const std::uint64_t id : swarm.particles.create(births(swarm, 0)))
    EXPECT_GE(id, (std::uint64_t{1} << 62) + 50);
}

TEST(NewParticles, in_a_cell_of_another_rank_or_with_an_id_of_another_kind_is_an_error) {
  Swarm swarm(small_box(4, 1, "periodic"), Communicator::world(), k_stars);
  ParticleBatch twice = single(Communicator::world(), {0.3, 0.3, 0.3});
  EXPECT_THROW(swarm.particles.add(twice), InputError);  // of id 42
  twice.id.clear();
  if (Communicator::world().size() > 1) {
    // On all ranks at one place, that only one of them owns.
    ParticleBatch everywhere{
        .position = {{0.3, 0.3, 0.3}}, .velocity = {{0, 0, 0}}, .mass = {1.0}, .id = {}};
    EXPECT_THROW(swarm.particles.create(everywhere), RunError);
  }
  ParticleBatch outside{
      .position = {{0.3, 1.3, 0.3}}, .velocity = {{0, 0, 0}}, .mass = {1.0}, .id = {}};
  EXPECT_THROW(swarm.particles.create(outside), RunError);
}

TEST(Kinds, come_in_one_order_and_their_ids_differ) {
  const auto kinds = in_order({{"beacons", "lights"}, {"sinks", "holes"}, {"dark", "dark matter"}});
  ASSERT_EQ(kinds.size(), 3u);
  EXPECT_EQ(kinds[0].name, "dark");
  EXPECT_EQ(kinds[1].name, "sinks");
  EXPECT_EQ(kinds[2].name, "beacons");
  EXPECT_EQ(kinds[0].first_id(), 0u);
  EXPECT_EQ(k_stars.first_id(), std::uint64_t{1} << 62);
  EXPECT_EQ(kinds[1].first_id(), std::uint64_t{1} << 63);
  EXPECT_THROW(in_order({dark_matter(), dark_matter()}), RunError);
  EXPECT_THROW(in_order({{"dark", "dark matter", {{"mass", "mass", "again"}}}}), RunError);
  EXPECT_THROW(in_order({{"no word", "two words"}}), RunError);
}

constexpr int k_max_columns = 24;

// A kind with so many columns, real and whole in turns.
Kind motes(int columns) {
  Kind kind{.name = "motes", .description = "much is known of each"};
  for (int n = 0; n < columns; ++n) {
    Column column{fmt::format("column_{}", n), "1", "a number"};
    if (n % 2 == 1) column.initial = std::int64_t{0};
    kind.columns.push_back(column);
  }
  return kind;
}

TEST(Kinds, may_have_as_many_columns_as_are_carried) {
  EXPECT_EQ(in_order({motes(k_max_columns)}).size(), 1u);
  try {
    in_order({motes(k_max_columns + 1)});
    ADD_FAILURE() << "was taken";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("motes particles have 25 columns"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("at most 24"), std::string::npos) << error.what();
  }
}

TEST(Kinds, with_most_columns_keep_them_on_any_way_between_ranks) {
  const Kind kind = motes(k_max_columns);
  Swarm swarm(small_box(4, 2, "periodic"), Communicator::world(), kind);
  ParticleBatch batch = scattered(Communicator::world(), 500, 1.0);
  for (int n = 0; n < k_max_columns; ++n) {
    std::vector<double> reals;
    std::vector<std::int64_t> integers;
    for (const std::uint64_t id : batch.id) {
      reals.push_back(static_cast<double>(id) + 0.01 * n);
      integers.push_back(static_cast<std::int64_t>(100 * id) + n);
    }
    if (n % 2 == 0) batch.columns[kind.columns[n].name] = reals;
    else batch.columns[kind.columns[n].name] = integers;
  }
  swarm.particles.add(batch);
  for (const auto decomposition : {Decomposition::hilbert, Decomposition::ksection}) {
    swarm.refine({0.4, 0.9, 0.5}, 0.6);
    swarm.migrate(decomposition);
    swarm.advance(0, 0.05, [](const Point& x) { return x; });
  }
  EXPECT_EQ(Communicator::world().sum(swarm.particles.count()), 500);
  const auto ids = swarm.particles.read_ids(swarm.all_own());
  for (int n = 0; n < k_max_columns; ++n) {
    const ColumnValues values = swarm.particles.read_column(kind.columns[n].name, swarm.all_own());
    for (std::size_t p = 0; p < ids.size(); ++p) {
      if (n % 2 == 0) EXPECT_EQ(std::get<0>(values)[p], static_cast<double>(ids[p]) + 0.01 * n);
      else EXPECT_EQ(std::get<1>(values)[p], static_cast<std::int64_t>(100 * ids[p]) + n);
    }
  }
}

}  // namespace
}  // namespace octant::particles::test
