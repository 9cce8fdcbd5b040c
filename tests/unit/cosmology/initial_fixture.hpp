// Boxes of cells that differ by rank, and moments of fields over all ranks.
#pragma once

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "comm/reproducible_sum.hpp"
#include "cosmology/initial_conditions.hpp"

namespace octant::cosmology::initial_fixture {

using pencil::Box;
using pencil::Range;
using enum InitialQuantity;

inline Box box(Range x, Range y, Range z) { return {{x, y, z}}; }

// Blocks of `size`^3 cells of a grid, dealt out to the ranks in turn.
inline std::vector<Box> blocks(const Communicator& communicator, const Box& extent, int size) {
  std::vector<Box> own;
  int n = 0;
  for (int z = extent[2].begin; z < extent[2].end; z += size)
    for (int y = extent[1].begin; y < extent[1].end; y += size)
      for (int x = extent[0].begin; x < extent[0].end; x += size)
        if (n++ % communicator.size() == communicator.rank())
          own.push_back(box({x, x + size}, {y, y + size}, {z, z + size}));
  return own;
}

struct Moments {
  double mean, rms;  // the latter about zero
  double deviation() const { return std::sqrt(rms * rms - mean * mean); }
};

inline Moments moments(const Communicator& communicator, const std::vector<double>& values) {
  ReproducibleSum sums[2];
  for (const double value : values) {
    sums[0] += value;
    sums[1] += value * value;
  }
  reproducible_sum(communicator, sums);
  const auto count = static_cast<double>(communicator.sum(std::ssize(values)));
  return {sums[0].to_double() / count, std::sqrt(sums[1].to_double() / count)};
}

// sum(a b) / sum(b b) over all ranks.
inline double ratio(const Communicator& communicator, const std::vector<double>& a,
                    const std::vector<double>& b) {
  ReproducibleSum sums[2];
  for (std::size_t n = 0; n < a.size(); ++n) {
    sums[0] += a[n] * b[n];
    sums[1] += b[n] * b[n];
  }
  reproducible_sum(communicator, sums);
  return sums[0].to_double() / sums[1].to_double();
}

}  // namespace octant::cosmology::initial_fixture
