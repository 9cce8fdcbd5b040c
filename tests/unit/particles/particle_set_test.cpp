#include "particles/particle_set.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace octant::particles {
namespace {

TEST(particle_set, memory_is_given_back_when_most_particles_have_left) {
  ParticleSet set(0, 0);
  set.append(std::vector<Word>(1000 * set.row_words(), 0), std::vector<std::int32_t>(1000, 0));
  const std::int64_t before = set.bytes();
  std::vector<std::int32_t> leaving(900);
  std::iota(leaving.begin(), leaving.end(), 0);
  set.remove(leaving);
  set.sort_if_disordered(1);
  ASSERT_EQ(set.count(), 100);
  EXPECT_LT(set.bytes(), before / 5);
}

}  // namespace
}  // namespace octant::particles
