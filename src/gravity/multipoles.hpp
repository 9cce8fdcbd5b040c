// The potential far from an isolated mass distribution, from its Cartesian moments.
#pragma once

#include <array>
#include <vector>

#include "gravity/level_solver.hpp"

namespace octant::gravity {

// Moments sum(m x^a y^b z^c), a + b + c <= order, about a centre.
class Multipoles {
 public:
  static constexpr int order = 8;
  static constexpr int k_terms = (order + 1) * (order + 2) * (order + 3) / 6;

  Multipoles() { moments_.fill(0.0); }

  // The moments of a level that fills the domain: `density` is a field of its patches. The same
  // bits on any number of ranks. Collective.
  Multipoles(const LevelPatches& patches, const mesh::Geometry& geometry,
             const DeviceArray<double>& density);

  // -sum over the masses of m / |x - y|, by the Taylor expansion in y of 1 / |x - y|. Its error is
  // of the order of (size of the distribution / |x|)^(order + 1).
  double potential(const std::array<double, 3>& x) const;

 private:
  std::array<double, 3> centre_{};
  std::array<double, k_terms> moments_;
};

}  // namespace octant::gravity
