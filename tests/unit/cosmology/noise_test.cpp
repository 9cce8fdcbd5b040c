#include "cosmology/noise.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace octant::cosmology {
namespace {

using pencil::Box;
using pencil::Range;

Box cube(int begin, int end) { return {{Range{begin, end}, Range{begin, end}, Range{begin, end}}}; }

TEST(WhiteNoise, is_normal_and_uncorrelated) {
  const int n = 64;
  const auto noise = white_noise(7, n, cube(0, n));
  const auto count = static_cast<double>(noise.size());
  double mean = 0.0, square = 0.0, fourth = 0.0;
  for (const double value : noise) {
    mean += value / count;
    square += value * value / count;
    fourth += std::pow(value, 4) / count;
  }
  const double error = 1.0 / std::sqrt(count);
  EXPECT_LT(std::abs(mean), 4.0 * error);
  EXPECT_LT(std::abs(square - 1.0), 4.0 * std::sqrt(2.0) * error);
  EXPECT_LT(std::abs(fourth - 3.0), 4.0 * std::sqrt(96.0) * error);
  for (const int distance : {1, 2, 3, n, n * n, n * n + n + 1}) {
    double product = 0.0;
    for (std::size_t i = 0; i + distance < noise.size(); ++i)
      product += noise[i] * noise[i + distance] / count;
    EXPECT_LT(std::abs(product), 4.0 * error) << distance;
  }
}

TEST(WhiteNoise, of_a_finer_grid_has_that_of_the_coarser_one_as_its_means) {
  const int n = 12;
  const auto coarse = white_noise(3, n, cube(0, n)), fine = white_noise(3, 2 * n, cube(0, 2 * n));
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        double sum = 0.0;
        for (int c = 0; c < 8; ++c)
          sum += fine[((2 * z + c / 4) * 2 * n + 2 * y + c / 2 % 2) * 2 * n + 2 * x + c % 2];
        EXPECT_NEAR(sum / std::sqrt(8.0), coarse[(z * n + y) * n + x], 1e-14);
      }
}

TEST(WhiteNoise, of_a_cell_does_not_depend_on_the_box_asked_for) {
  const int n = 24;
  const auto all = white_noise(5, n, cube(0, n));
  const Box box{{Range{3, 24}, Range{7, 8}, Range{10, 17}}};
  const auto part = white_noise(5, n, box);
  std::size_t next = 0;
  for (int z = 10; z < 17; ++z)
    for (int x = 3; x < 24; ++x) EXPECT_EQ(part[next++], all[(z * n + 7) * n + x]);
  EXPECT_EQ(next, part.size());
  EXPECT_NE(white_noise(6, n, box), part);
}

}  // namespace
}  // namespace octant::cosmology
