#include "cosmology/initial_generator.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "comm/communicator.hpp"

namespace octant::cosmology {
namespace {

using pencil::Cells;

std::vector<double> cells_of_noise(std::uint64_t seed, const Cells& cells) {
  const pencil::PencilGrid grid(Communicator::world(), cells, {1, 1});
  pencil::PeriodicFourier fourier(grid);
  fourier.for_each_mode([&](const pencil::Mode& mode, std::complex<double>& value) {
    value = noise_mode(seed, mode, cells);
  });
  std::vector<double> values(static_cast<std::size_t>(cells[0]) * cells[1] * cells[2]);
  fourier.backward(values.data());
  return values;
}

TEST(WhiteNoise, is_normal_and_uncorrelated_in_space) {
  const int n = 64;
  const auto noise = cells_of_noise(7, {n, n, n});
  const auto count = static_cast<double>(noise.size());
  double mean = 0.0, square = 0.0, fourth = 0.0;
  for (const double value : noise) {
    mean += value / count;
    square += value * value / count;
    fourth += std::pow(value, 4) / count;
  }
  const double error = 1.0 / std::sqrt(count);
  EXPECT_LT(std::abs(mean), 1e-12);
  EXPECT_LT(std::abs(square - 1.0), 4.0 * std::sqrt(2.0) * error);
  EXPECT_LT(std::abs(fourth - 3.0), 4.0 * std::sqrt(96.0) * error);
  for (const int distance : {1, 2, 3, n, n * n, n * n + n + 1}) {
    double product = 0.0;
    for (std::size_t i = 0; i + distance < noise.size(); ++i)
      product += noise[i] * noise[i + distance] / count;
    EXPECT_LT(std::abs(product), 4.0 * error) << distance;
  }
}

TEST(WhiteNoise, waves_of_any_length_have_variance_1_and_independent_parts) {
  const int most = 12;
  double real = 0.0, imaginary = 0.0, product = 0.0, count = 0.0;
  for (int z = 1; z <= most; ++z)
    for (int y = -most; y <= most; ++y)
      for (int x = -most; x <= most; ++x, ++count) {
        const auto wave = noise_amplitude(3, x, y, z);
        real += wave.real() * wave.real();
        imaginary += wave.imag() * wave.imag();
        product += wave.real() * wave.imag();
      }
  const double error = 1.0 / std::sqrt(2.0 * count);
  EXPECT_NEAR(real / count, 0.5, 4.0 * error);
  EXPECT_NEAR(imaginary / count, 0.5, 4.0 * error);
  EXPECT_NEAR(product / count, 0.0, 4.0 * error);
}

TEST(WhiteNoise, opposite_waves_are_conjugate_and_seeds_differ) {
  for (const auto& [x, y, z] :
       {Cells{1, 2, 3}, Cells{4, 0, 0}, Cells{5, -2, 0}, Cells{-3, 1, -7}}) {
    EXPECT_EQ(noise_amplitude(5, x, y, z), std::conj(noise_amplitude(5, -x, -y, -z)));
    EXPECT_NE(noise_amplitude(5, x, y, z), noise_amplitude(6, x, y, z));
  }
  EXPECT_EQ(noise_amplitude(5, 0, 0, 0), 0.0);
}

TEST(WhiteNoise, modes_of_the_grid_belong_to_real_values) {
  // A transform back and forth leaves the modes as they were only if they are those of real values.
  for (const Cells& cells : {Cells{6, 4, 8}, Cells{5, 6, 7}}) {
    const pencil::PencilGrid grid(Communicator::world(), cells, {1, 1});
    pencil::PeriodicFourier fourier(grid);
    fourier.forward(cells_of_noise(2, cells).data());
    fourier.for_each_mode([&](const pencil::Mode& mode, std::complex<double>& value) {
      EXPECT_LT(std::abs(value - noise_mode(2, mode, cells)), 1e-12)
          << mode.x << " " << mode.y << " " << mode.z;
    });
  }
}

}  // namespace
}  // namespace octant::cosmology
