#include <gtest/gtest.h>

#include "mesh/field_pool.hpp"

namespace octant::mesh {
namespace {

TEST(FieldPool, fields_lie_beside_each_other_in_memory_that_was_there) {
  FieldPool pool;
  const double* begin = pool.allocate("large", 100).data();
  const auto first = pool.allocate("first", 40), second = pool.allocate("second", 60);
  EXPECT_EQ(first.data(), begin);
  EXPECT_EQ(second.data(), begin + 40);
}

TEST(FieldPool, memory_is_used_anew_once_nobody_refers_to_it) {
  FieldPool pool;
  auto first = pool.allocate("first", 64);
  const double* begin = first.data();
  const auto kept = Kokkos::subview(first, std::pair(8, 16));
  first = {};
  EXPECT_NE(pool.allocate("second", 64).data(), begin);
}

TEST(FieldPool, a_larger_field_takes_the_place_of_an_empty_one) {
  FieldPool pool;
  pool.allocate("small", 64);
  pool.allocate("large", 128);
  const auto one = pool.allocate("half", 64), other = pool.allocate("half", 64);
  EXPECT_EQ(other.data(), one.data() + 64);
}

}  // namespace
}  // namespace octant::mesh
