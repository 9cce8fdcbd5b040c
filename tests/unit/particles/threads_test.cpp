// Particles on several threads: what one thread after the other would give.
#include <gtest/gtest.h>

#include "particles/masses.hpp"
#include "swarm.hpp"

namespace octant::particles::test {
namespace {

TEST(Deposit, on_several_threads_has_the_bits_of_one) {
  Swarm swarm(small_box(4, 0, "periodic"), Communicator::world());
  const ParticleBatch batch = scattered(Communicator::world(), 20000);
  swarm.particles.add(batch);
  Particles::deposit(swarm.kinds(), 0);

  const LevelFrame frame(swarm.mesh.geometry(), 0);
  const double quantum = swarm.particles.quantum(0);
  std::map<std::array<int, 3>, std::int64_t> expected;
  for (std::size_t n = 0; n < batch.size(); ++n) {
    const auto& [x, y, z] = batch.position[n];
    const HomeBlock whole_domain{{0, 0, 0}, 0};
    const Cloud cloud = cloud_of(frame, whole_domain, {x, y, z});
    const auto mass = static_cast<std::int64_t>(batch.mass[n] / quantum + 0.5);
    const std::int64_t upper = share(mass, cloud.weight[2]);
    for (int c = 0; c < 2; ++c) {
      const std::int64_t layer = c == 0 ? mass - upper : upper,
                         back = share(layer, cloud.weight[1]);
      for (int b = 0; b < 2; ++b) {
        const std::int64_t row = b == 0 ? layer - back : back, right = share(row, cloud.weight[0]);
        for (int a = 0; a < 2; ++a) {
          const int upper_cell[3] = {a, b, c};
          std::array<int, 3> cell;
          for (int d = 0; d < 3; ++d) {
            const double below = std::floor(frame.in_cells(d, batch.position[n][d]) - 0.5);
            cell[d] = (static_cast<int>(below) + upper_cell[d] + frame.cells[d]) % frame.cells[d];
          }
          expected[cell] += a == 0 ? row - right : right;
        }
      }
    }
  }
  swarm.for_masses([&](int, const std::array<int, 3>& cell, std::int64_t mass) {
    EXPECT_EQ(mass, expected[cell]);
  });
}

TEST(Particles, keep_together_what_belongs_together_when_threads_sort_them) {
  Swarm swarm(small_box(4, 1, "periodic"), Communicator::world());
  swarm.particles.add(scattered(Communicator::world(), 20000));
  const std::uint64_t before = swarm.fingerprint();
  swarm.refine({0.5, 0.5, 0.5}, 0.5);  // most change their block
  EXPECT_GT(swarm.particles.set(1).count(), 1000);
  EXPECT_EQ(swarm.fingerprint(), before);
}

}  // namespace
}  // namespace octant::particles::test
