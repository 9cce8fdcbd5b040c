#include "cosmology/noise.hpp"

#include <array>
#include <cmath>

#include "core/error.hpp"
#include "core/random.hpp"

namespace octant::cosmology {

namespace {

using pencil::Box;
using pencil::Range;

std::uint64_t key_of(int x, int y, int z) {
  return static_cast<std::uint64_t>(x) | static_cast<std::uint64_t>(y) << 20 |
         static_cast<std::uint64_t>(z) << 40;
}

// The cells of half the resolution that cover a box.
Box coarser(const Box& box) {
  Box coarse;
  for (int axis = 0; axis < 3; ++axis)
    coarse.range[axis] = {box[axis].begin / 2, (box[axis].end + 1) / 2};
  return coarse;
}

// Eight normal numbers of a coarse cell and the level of its children.
std::array<double, 8> eight_normals(std::uint64_t seed, std::uint64_t key, int level) {
  const RandomStream stream(seed, key, static_cast<std::uint32_t>(level));
  std::array<double, 8> normals;
  for (int n = 0; n < 4; ++n) {
    const auto pair = stream.normal_pair(static_cast<std::uint32_t>(n));
    normals[2 * n] = pair.first;
    normals[2 * n + 1] = pair.second;
  }
  return normals;
}

// The numbers of the eight children of a cell, given its own: eight independent ones from which the
// part along (1, ..., 1) is replaced. That keeps variances 1 and covariances 0.
std::array<double, 8> children(double own, std::array<double, 8> normals) {
  const double sum = ((normals[0] + normals[1]) + (normals[2] + normals[3])) +
                     ((normals[4] + normals[5]) + (normals[6] + normals[7]));
  const double shift = own / std::sqrt(8.0) - sum / 8.0;
  for (double& value : normals) value += shift;
  return normals;
}

std::vector<double> coarsest(std::uint64_t seed, const Box& box) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(box.cells()));
  for (int z = box[2].begin; z < box[2].end; ++z)
    for (int y = box[1].begin; y < box[1].end; ++y)
      for (int x = box[0].begin; x < box[0].end; ++x)
        values.push_back(RandomStream(seed, key_of(x, y, z), 0).normal_pair(0).first);
  return values;
}

// `level` doublings after the coarsest grid.
std::vector<double> noise_of_level(std::uint64_t seed, int level, const Box& box) {
  if (level == 0) return coarsest(seed, box);
  const Box parents = coarser(box);
  const std::vector<double> coarse = noise_of_level(seed, level - 1, parents);
  std::vector<double> values(static_cast<std::size_t>(box.cells()));
  const auto [nx, ny, nz] = box.shape();
  const double* own = coarse.data();
  for (int z = parents[2].begin; z < parents[2].end; ++z)
    for (int y = parents[1].begin; y < parents[1].end; ++y)
      for (int x = parents[0].begin; x < parents[0].end; ++x, ++own) {
        const auto eight = children(*own, eight_normals(seed, key_of(x, y, z), level));
        for (int n = 0; n < 8; ++n) {
          const int i = 2 * x + (n & 1), j = 2 * y + (n >> 1 & 1), k = 2 * z + (n >> 2);
          if (!box[0].contains(i) || !box[1].contains(j) || !box[2].contains(k)) continue;
          const std::int64_t row = std::int64_t{k - box[2].begin} * ny + (j - box[1].begin);
          values[static_cast<std::size_t>(row * nx + (i - box[0].begin))] = eight[n];
        }
      }
  return values;
}

}  // namespace

std::vector<double> white_noise(std::uint64_t seed, int side, const Box& box) {
  OCTANT_REQUIRE(side >= 1 && side <= 1 << 20, "noise on a grid of {}^3 cells", side);
  for (int axis = 0; axis < 3; ++axis)
    OCTANT_REQUIRE(box[axis].begin >= 0 && box[axis].end <= side, "cells {} to {} of a grid of {}",
                   box[axis].begin, box[axis].end - 1, side);
  if (box.cells() == 0) return {};
  int level = 0;
  for (int coarse = side; coarse % 2 == 0; coarse /= 2) ++level;
  return noise_of_level(seed, level, box);
}

}  // namespace octant::cosmology
