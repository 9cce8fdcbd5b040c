#include "subgrid/black_holes/spin.hpp"

#include <cmath>

#include "core/error.hpp"

namespace octant::subgrid {

namespace {

double dot(const SpinVector& a, const SpinVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

SpinVector scaled(const SpinVector& a, double factor) {
  return {factor * a[0], factor * a[1], factor * a[2]};
}

SpinVector sum(const SpinVector& a, const SpinVector& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

double length(const SpinVector& a) { return std::sqrt(dot(a, a)); }

}  // namespace

double efficiency_in_disc(const SpinVector& spin, const SpinVector& disc) {
  return radiative_efficiency(dot(spin, disc) < 0.0 ? -length(spin) : length(spin));
}

SpinVector spin_after_chunk(const SpinVector& spin, const DiscChunk& chunk) {
  const double a = length(spin);
  const auto grown = [&](double from) {
    return chunk.arrested ? spin_after_arrested_disc(from, chunk.mass_ratio)
                          : spin_after_thin_disc(from, chunk.mass_ratio);
  };
  if (a == 0.0) return scaled(chunk.direction, grown(0.0));
  const SpinVector of_hole = scaled(spin, 1.0 / a);
  const SpinVector total = sum(of_hole, scaled(chunk.direction, chunk.angular_momentum));
  const bool against = dot(of_hole, chunk.direction) < -0.5 * chunk.angular_momentum;
  // 0 if both cancel: the direction of the black hole's spin is then unchanged
  const double total_length = length(total);
  const SpinVector axis = total_length > 0.0 ? scaled(total, 1.0 / total_length) : of_hole;
  // A spin opposite to the inner disc decreases to zero and then grows again in the direction of
  // the disc.
  return scaled(axis, against ? -grown(-a) : grown(a));
}

SpinVector spin_of_merger(double q, const SpinVector& spin1, const SpinVector& spin2,
                          const SpinVector& orbital_angular_momentum) {
  constexpr double k_s4 = -0.129, k_s5 = -0.384, k_t0 = -2.686, k_t2 = -3.454, k_t3 = 2.353;
  OCTANT_REQUIRE(q > 0.0 && q <= 1.0, "black-hole merger with a mass ratio of {}; expected 0 to 1",
                 q);
  OCTANT_REQUIRE(length(orbital_angular_momentum) > 0.0,
                 "black-hole merger without orbital angular momentum");
  const SpinVector l = scaled(orbital_angular_momentum, 1.0 / length(orbital_angular_momentum));
  const double q2 = q * q, nu = q / ((1.0 + q) * (1.0 + q));
  const double squares =
      dot(spin1, spin1) + dot(spin2, spin2) * q2 * q2 + 2.0 * dot(spin1, spin2) * q2;
  const double along_orbit = dot(spin1, l) + dot(spin2, l) * q2;
  const double orbital = k_s4 / ((1.0 + q2) * (1.0 + q2)) * squares +
                         (k_s5 * nu + k_t0 + 2.0) / (1.0 + q2) * along_orbit +
                         2.0 * std::sqrt(3.0) + k_t2 * nu + k_t3 * nu * nu;
  const SpinVector together = sum(spin1, sum(scaled(spin2, q2), scaled(l, orbital * q)));
  return scaled(together, 1.0 / ((1.0 + q) * (1.0 + q)));
}

SpinVector limited_spin(const SpinVector& spin) {
  const double a = length(spin);
  return a > k_largest_spin ? scaled(spin, k_largest_spin / a) : spin;
}

}  // namespace octant::subgrid
