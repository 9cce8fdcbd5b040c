// Kick and drift: interpolated forces, orbits, reversal.
#include <cmath>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "swarm.hpp"
#include "tests/unit/kernel_watch.hpp"

namespace octant::particles::test {
namespace {

TEST(Kick, by_a_constant_field_is_exact_everywhere) {
  for (const char* boundary : {"periodic", "outflow"}) {
    Swarm swarm(small_box(4, 3, boundary), Communicator::world());
    swarm.refine({0.3, 0.9, 0.5}, 0.6);
    swarm.migrate(Decomposition::morton);
    swarm.particles.add(scattered(Communicator::world(), 3000));
    ASSERT_GT(swarm.particles.global_counts()[swarm.mesh.finest_level()], 20);
    for (int l = 0; l <= swarm.mesh.finest_level(); ++l)
      swarm.kick(l, 0.1, [](const Point&) { return Point{0.7, -0.3, 1.9}; });
    const auto v = swarm.particles.read_velocities(swarm.all_own());
    for (std::size_t n = 0; n < v.size(); ++n)
      EXPECT_EQ(v[n], 0.1 * (n % 3 == 0 ? 0.7 : n % 3 == 1 ? -0.3 : 1.9));
  }
}

TEST(Kick, by_a_linear_field_is_exact_inside_a_level) {
  const auto linear = [](const Point& x) {
    return Point{1.0 + 2.0 * x[0] - x[1], 0.5 * x[2] - 3.0 * x[0], x[1] + x[2]};
  };
  Swarm swarm(small_box(4, 2, "outflow"), Communicator::world());
  swarm.refine({0.7, 0.5, 0.5}, 0.6);
  swarm.migrate(Decomposition::ksection);
  swarm.particles.add(scattered(Communicator::world(), 3000));
  for (int l = 0; l <= swarm.mesh.finest_level(); ++l) {
    swarm.kick(l, 1.0, linear);
    const ParticleSet& set = swarm.particles.set(l);
    const LevelFrame frame(swarm.mesh.geometry(), l);
    std::vector<std::int32_t> rows(set.count());
    for (std::size_t n = 0; n < rows.size(); ++n) rows[n] = static_cast<std::int32_t>(n);
    std::int64_t checked = 0;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const auto of = [&](int column) {
        return set.reals(column, std::vector<std::int32_t>{rows[n]})[0];
      };
      const Point x{of(0), of(1), of(2)};
      bool on_level = true;
      for (int corner = 0; corner < 8; ++corner) {
        BlockCoordinates block;
        for (int d = 0; d < 3; ++d) {
          const double cell = std::floor(frame.in_cells(d, x[d]) - 0.5) + (corner >> d & 1);
          on_level = on_level && cell >= 0.0 && cell < frame.cells[d];
          block[d] = static_cast<BlockCoordinate>(cell) / frame.block_size;
        }
        on_level = on_level && swarm.mesh.blocks(l).find(morton_encode(block)) != nullptr;
      }
      if (!on_level) continue;
      ++checked;
      for (int d = 0; d < 3; ++d) EXPECT_NEAR(of(k_velocity + d), linear(x)[d], 1e-13);
    }
    EXPECT_GT(swarm.mesh.communicator().sum(checked), 10) << "level " << l;
  }
}

// A linear spring towards the middle of the box, of which circular orbits take the time 1.
constexpr double k_omega = 2.0 * M_PI;
Point spring(const Point& x) {
  const double k = -k_omega * k_omega;
  return {k * (x[0] - 0.75), k * (x[1] - 0.5), k * (x[2] - 0.5)};
}

// How far from its start a particle is after one revolution in `steps` steps.
double opening(Swarm& swarm, int steps) {
  const Point start{0.75 + 0.3, 0.5, 0.51};
  swarm.particles.add(single(swarm.mesh.communicator(), start, {0.0, k_omega * 0.3, 0.0}));
  for (int n = 0; n < steps; ++n) swarm.advance(0, 1.0 / steps, spring);
  const auto x = swarm.particles.read_positions(swarm.all_own());
  double distance = 0.0;
  if (!x.empty()) distance = std::hypot(x[0] - start[0], x[1] - start[1]);
  return swarm.mesh.communicator().max(distance);
}

TEST(Orbit, across_blocks_and_ranks_closes_at_second_order) {
  double error[2];
  for (int n = 0; n < 2; ++n) {
    Swarm swarm(small_box(2, 0, "outflow"), Communicator::world());
    error[n] = opening(swarm, 100 << n);
  }
  // A phase error of (2 pi)^3 / (24 steps^2) on a circle of radius 0.3.
  EXPECT_NEAR(error[0], 0.3 * std::pow(k_omega, 3) / (24.0 * 1e4), 1e-4);
  EXPECT_NEAR(error[0] / error[1], 4.0, 0.1);
}

TEST(Orbit, across_levels_has_the_same_bits_on_any_number_of_ranks) {
  Swarm reference(small_box(4, 2, "periodic"), alone());
  Swarm swarm(small_box(4, 2, "periodic"), Communicator::world());
  for (Swarm* s : {&reference, &swarm}) s->refine({1.05, 0.5, 0.5}, 0.4);
  ASSERT_EQ(swarm.mesh.finest_level(), 2);
  swarm.migrate(Decomposition::hilbert);
  const double error = opening(swarm, 120);
  // Forces are off by half a cell's worth where the cloud reaches beyond its level's end.
  EXPECT_LT(error, 0.05);
  EXPECT_EQ(error, opening(reference, 120));
  EXPECT_EQ(swarm.fingerprint(), reference.fingerprint());
}

TEST(Leapfrog, runs_backwards_to_where_it_came_from) {
  Swarm swarm(small_box(4, 0, "periodic"), Communicator::world());
  const ParticleBatch batch = scattered(Communicator::world(), 300, 0.5);
  swarm.particles.add(batch);
  const auto wave = [](const Point& x) {
    return Point{std::sin(4.0 * M_PI * x[1]), std::cos(2.0 * M_PI * x[2]), 0.3};
  };
  for (const double dt : {0.05, -0.05})
    for (int n = 0; n < 20; ++n) swarm.advance(0, dt, wave);
  const auto all = swarm.all_own();
  const auto x = swarm.particles.read_positions(all);
  const auto ids = swarm.particles.read_ids(all);
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const RandomStream random(1, ids[n], 0);
    EXPECT_NEAR(x[3 * n], 1.5 * random.uniform(0), 1e-12);
    EXPECT_NEAR(x[3 * n + 1], random.uniform(1), 1e-12);
    EXPECT_NEAR(x[3 * n + 2], random.uniform(2), 1e-12);
  }
}

TEST(Drift, books_particles_beyond_open_boundaries_as_outflow) {
  Swarm swarm(small_box(4, 1, "outflow"), Communicator::world());
  swarm.particles.add(scattered(Communicator::world(), 1000, 1.0));
  std::int64_t beyond = 0;
  for (std::uint64_t id = 0; id < 1000; ++id) {
    const RandomStream random(1, id, 0);
    bool leaves = false;
    for (int d = 0; d < 3; ++d) {
      const double size = d == 0 ? 1.5 : 1.0;
      const double x = size * random.uniform(d) + 0.1 * (2.0 * random.uniform(3 + d) - 1.0);
      leaves = leaves || x < 0.0 || x >= size;
    }
    beyond += leaves;
  }
  const ParticleTotals before = swarm.totals();
  Particles::drift(swarm.kinds(), 0, 0.1);
  EXPECT_GT(beyond, 50);
  EXPECT_EQ(swarm.totals().count, 1000 - beyond);
  EXPECT_EQ(swarm.particles.outflow().count, 0);
  Particles::collect_outflow(std::span(&swarm.particles, 1), {}, 0.0);
  const ParticleOutflow& left = swarm.particles.outflow();
  const ParticleTotals after = swarm.totals();
  EXPECT_EQ(left.count, beyond);
  EXPECT_NEAR(left.amount[ParticleOutflow::mass], before.mass - after.mass, 1e-13 * before.mass);
  EXPECT_NEAR(left.amount[ParticleOutflow::kinetic], before.kinetic_energy - after.kinetic_energy,
              1e-13 * before.kinetic_energy);
  for (int d = 0; d < 3; ++d)
    EXPECT_NEAR(left.amount[ParticleOutflow::momentum + d], before.momentum[d] - after.momentum[d],
                1e-12 * before.mass);
  EXPECT_EQ(left.amount[ParticleOutflow::potential], 0.0);
}

TEST(Drift, comes_back_from_reflecting_boundaries) {
  Swarm swarm(small_box(4, 0, "reflecting"), Communicator::world());
  swarm.particles.add(single(Communicator::world(), {0.0625, 0.9375, 0.5}, {-1.0, 1.0, 0.0}));
  Particles::drift(swarm.kinds(), 0, 0.125);
  const auto all = swarm.all_own();
  const auto x = swarm.particles.read_positions(all), v = swarm.particles.read_velocities(all);
  if (!all.empty()) {
    EXPECT_EQ(x, (std::vector<double>{0.0625, 0.9375, 0.5}));
    EXPECT_EQ(v, (std::vector<double>{1.0, -1.0, 0.0}));
  }
  EXPECT_EQ(swarm.totals().count, 1);
}

TEST(Drift, too_far_beyond_the_end_of_a_level_is_an_error) {
  Swarm swarm(small_box(4, 1, "periodic"), Communicator::world());
  swarm.refine({0.25, 0.25, 0.25}, 0.3);
  ASSERT_EQ(swarm.mesh.finest_level(), 1);
  const double cell = swarm.mesh.geometry().cell_size(1);
  // The level ends somewhere between here and x = 1.
  swarm.particles.add(single(Communicator::world(), {0.25, 0.25, 0.25}, {1.0, 0.0, 0.0}));
  ASSERT_EQ(swarm.particles.global_counts()[1], 1);
  EXPECT_THROW(
      {
        for (double x = 0.25; x < 1.0; x += cell) Particles::drift(swarm.kinds(), 1, cell);
      },
      RunError);
}

TEST(Drift, tells_whether_a_statement_holds_on_any_rank) {
  const Communicator world = Communicator::world();
  Swarm swarm(small_box(4, 1, "periodic"), world);
  swarm.refine({0.25, 0.25, 0.25}, 0.3);
  swarm.migrate(Decomposition::hilbert);
  swarm.particles.add(scattered(world, 1000, 1.0));
  const bool is_last = world.rank() == world.size() - 1;
  for (const double dt : {0.0, 0.1}) {  // none, or many, change their rank
    for (const bool statement : {false, true}) {
      Particles::move(swarm.kinds(), 0, dt);
      EXPECT_EQ(Particles::find_blocks(swarm.kinds(), 0, statement && is_last), statement);
    }
  }
  EXPECT_EQ(swarm.totals().count, 1000);
}

TEST(CrossingTimes, are_those_of_the_fastest_particle_of_a_level) {
  Swarm swarm(small_box(4, 1, "periodic"), Communicator::world());
  swarm.particles.add(single(Communicator::world(), {0.3, 0.3, 0.3}, {0.5, -2.0, 1.0}));
  auto times = swarm.particles.crossing_times();
  swarm.mesh.communicator().min_in_place(std::span(times));
  EXPECT_EQ(times[0], 0.0625);
  EXPECT_EQ(times[1], std::numeric_limits<double>::infinity());
}

TEST(ParticleTotals, take_two_kernels_whatever_the_levels) {
  Swarm swarm(small_box(4, 2, "periodic"), Communicator::world());
  swarm.refine({0.7, 0.5, 0.5}, 0.6);
  swarm.particles.add(scattered(Communicator::world(), 3000, 1.0));
  const octant::test::KernelWatch watch;
  EXPECT_GT(swarm.totals().mass, 0.0);
  EXPECT_LE(watch.launches(), 2);
}

TEST(MassSums, follow_particles_that_change_level_to_the_last_bit) {
  Swarm swarm(small_box(4, 2, "periodic"), Communicator::world());
  swarm.refine({0.7, 0.5, 0.5}, 0.6);
  swarm.migrate(Decomposition::morton);
  swarm.particles.add(scattered(Communicator::world(), 3000, 1.0));
  std::vector<mesh::DeviceArray<double>> values;
  for (int l = 0; l <= swarm.mesh.finest_level(); ++l) {
    values.push_back(swarm.sampled(l, [l](const Point& x) {
      return Point{std::sin(7.0 * x[0]) * x[1] + l, 0.0, 0.0};
    }));
    Particles::drift(swarm.kinds(), l, 0.9 * swarm.mesh.geometry().cell_size(l));
  }
  const auto fields = [&] {
    std::vector<FieldNearby> fields;
    for (int l = 0; l <= swarm.mesh.finest_level(); ++l)
      fields.push_back(swarm.particles.fetch(l, swarm.field(values[l]),
                                             swarm.field(values[std::max(l - 1, 0)]), 1));
    return fields;
  };
  // The weighted sum, then those of squares by level.
  const auto totals = [&](const Particles::MassSums& sums) {
    std::vector<ReproducibleSum> all = sums.squared;
    all.insert(all.begin(), sums.weighted);
    reproducible_sum(swarm.mesh.communicator(), std::span<ReproducibleSum>(all));
    std::vector<double> numbers;
    for (const ReproducibleSum& sum : all) numbers.push_back(sum.to_double());
    return numbers;
  };
  Particles::MassSums sums = swarm.particles.mass_sums(fields(), fields(), 0);
  const auto before = totals(sums);
  Particles::MassSums* const wanted = &sums;
  Particles::synchronise(swarm.kinds(), 0, std::span(&wanted, 1));
  const auto after = totals(sums);
  EXPECT_EQ(after, totals(swarm.particles.mass_sums(fields(), fields(), 0)));
  ASSERT_EQ(after.size(), 4u);
  for (std::size_t n = 0; n < after.size(); ++n) EXPECT_NE(after[n], before[n]) << n;
}

}  // namespace
}  // namespace octant::particles::test
