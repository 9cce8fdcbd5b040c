// Tensor-product lattice: points with independent coordinates along x, y and z, such as the cells
// of a box.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace octant {

// Point (i, j, k) has number (k n_y + j) n_x + i and lies at along[0][i], along[1][j], along[2][k].
struct Lattice {
  std::array<std::vector<double>, 3> along;

  // Number of points.
  std::int64_t points() const {
    std::int64_t count = 1;
    for (const auto& coordinates : along) count *= static_cast<std::int64_t>(coordinates.size());
    return count;
  }
  // Indices i, j, k of a point.
  std::array<std::size_t, 3> index(std::int64_t point) const {
    const auto n = static_cast<std::size_t>(point);
    const std::size_t nx = along[0].size(), ny = along[1].size();
    return {n % nx, n / nx % ny, n / nx / ny};
  }
  // Coordinates of a point.
  std::array<double, 3> position(std::int64_t point) const {
    const auto [i, j, k] = index(point);
    return {along[0][i], along[1][j], along[2][k]};
  }
};

}  // namespace octant
