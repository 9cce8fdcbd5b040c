// Random states of cells with gas and radiation.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/random.hpp"
#include "radiation/exchange.hpp"

namespace octant::radiation::test {

inline constexpr Light k_light{10.0, 10.0, 0.5};
inline constexpr Light k_reduced{10.0, 0.1, 0.5};

inline Material ideal(double heat_capacity, bool moves = true) {
  return {heat_capacity, 0.0, moves};
}

inline double norm(const double (&a)[3]) {
  return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

struct Draw {
  RandomStream stream;
  std::uint32_t count = 0;
  explicit Draw(std::uint64_t key) : stream(12345, key, 0) {}
  double uniform(double low, double high) { return low + (high - low) * stream.uniform(count++); }
  double decade(double low, double high) { return std::pow(10.0, uniform(low, high)); }
  void vector(double size, double (&a)[3]) {
    for (int d = 0; d < 3; ++d) a[d] = uniform(-1, 1);
    const double scale = size / norm(a);
    for (int d = 0; d < 3; ++d) a[d] *= scale;
  }
};

// Gas with a velocity of up to `speed` c and sound speeds of 1e-8 c to 1e-2 c, and radiation with
// 1e-12 to 1e12 times its energy.
inline RadiatingCell random_cell(Draw& draw, const Light& light, double speed) {
  RadiatingCell cell;
  cell.density = draw.decade(-2, 2);
  const double inertia = cell.density * light.c;
  cell.internal = inertia * light.c * draw.decade(-16, -4);
  cell.energy = cell.internal * light.reduced / light.c * draw.decade(-12, 12);
  draw.vector(inertia * draw.uniform(0, speed), cell.momentum);
  draw.vector(light.c * cell.energy * draw.uniform(0, 1), cell.flux);
  return cell;
}

// Heat capacity with which the gas would have the energy density of the radiation times `ratio`.
inline double heat_capacity_for(const RadiatingCell& cell, const Light& light, double ratio) {
  const double T = std::pow(ratio * cell.energy / light.constant, 0.25);
  return cell.internal / (cell.density * T);
}

}  // namespace octant::radiation::test
