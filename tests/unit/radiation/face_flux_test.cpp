// Fluxes of radiation through faces.
#include "radiation/face_flux.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace octant::radiation {
namespace {

using State = FaceState<double>;

State state_of(double energy, double x, double y, double z) {
  State state{{{energy, x, y, z}}, 0.0};
  state.square = limit_reduced_flux(state.of);
  return state;
}

// States with reduced fluxes of all lengths and directions; some are collimated.
std::vector<State> states() {
  std::vector<State> all{state_of(1.0, 0.0, 0.0, 0.0),  state_of(2.0, 1.0, 0.0, 0.0),
                         state_of(2.0, 0.0, -1.0, 0.0), state_of(1e-200, 0.0, 0.0, 0.0),
                         state_of(3.0, 0.6, 0.8, 0.0),  state_of(1e20, 0.0, 0.0, 0.999)};
  for (int n = 0; n < 500; ++n) {
    const RandomStream stream(4, static_cast<std::uint64_t>(n), 0);
    double f[3], square = 0.0;
    for (int d = 0; d < 3; ++d) {
      f[d] = 2.0 * stream.uniform(static_cast<std::uint64_t>(d)) - 1.0;
      square += f[d] * f[d];
    }
    const double scale = std::min(1.0, 1.3 * stream.uniform(3)) / std::sqrt(square);
    all.push_back(state_of(std::exp(20.0 * stream.uniform(4) - 10.0), scale * f[0], scale * f[1],
                           scale * f[2]));
  }
  return all;
}

// Flux and slowest and fastest wave along an axis, from the equations as they are published.
struct Published {
  double flux[k_moments], slowest, fastest;

  Published(int axis, const Moments<double>& w) {
    const double f2 = std::min(1.0, square_of_flux(w)), root = std::sqrt(4.0 - 3.0 * f2);
    const double chi = (3.0 + 4.0 * f2) / (5.0 + 2.0 * root), along = w[k_flux_x + axis];
    flux[0] = w[0] * along;
    for (int d = 0; d < 3; ++d) {
      const double direct = f2 > 0.0 ? w[k_flux_x + d] * along / f2 : 0.0;
      flux[k_flux_x + d] =
          w[0] * (0.5 * (1.0 - chi) * (d == axis) + 0.5 * (3.0 * chi - 1.0) * direct);
    }
    // Skinner & Ostriker (2013), eq. 41: mu = cosine of the flux's angle with the axis
    const double f = std::sqrt(f2), mu = f2 > 0.0 ? along / f : 0.0;
    const double spread = std::sqrt(
        std::max(0.0, 2.0 / 3.0 * (4.0 - 3.0 * f2 - root) + 2.0 * mu * mu * (2.0 - f2 - root)));
    slowest = (mu * f - spread) / root;
    fastest = (mu * f + spread) / root;
  }
};

TEST(FaceFlux, between_two_states_is_that_of_harten_lax_and_van_leer) {
  const std::vector<State> all = states();
  for (std::size_t n = 0; n + 1 < all.size(); ++n)
    for (int axis = 0; axis < 3; ++axis)
      for (const double depth : {0.0, 0.5, 30.0}) {
        const State &left = all[n], &right = all[n + 1];
        const Moments<double> found = flux_between(axis, left, right, depth);
        const Published l(axis, left.of), r(axis, right.of);
        const double up = std::max({l.fastest, r.fastest, 0.0}),
                     down = std::min({l.slowest, r.slowest, 0.0});
        const double largest = std::max(left.of[0], right.of[0]);
        for (int m = 0; m < k_moments; ++m) {
          const double below = m == 0 ? left.of[0] : left.of[0] * left.of[m],
                       above = m == 0 ? right.of[0] : right.of[0] * right.of[m];
          const double mixing = m == 0 ? 1.0 / std::max(1.0, depth) : 1.0;
          const double expected =
              (up * l.flux[m] - down * r.flux[m] + up * down * mixing * (above - below)) /
              std::max(up - down, 1e-30);
          // The square root of a difference of nearly equal numbers has errors of 1e-8.
          ASSERT_NEAR(found[m], expected, 1e-7 * largest) << n << ", moment " << m;
        }
      }
}

TEST(FaceFlux, between_equal_states_is_the_physical_flux) {
  for (const State& state : states())
    for (int axis = 0; axis < 3; ++axis) {
      const Moments<double> found = flux_between(axis, state, state, 0.0);
      const Published expected(axis, state.of);
      for (int m = 0; m < k_moments; ++m)
        ASSERT_NEAR(found[m], expected.flux[m], 1e-14 * state.of[0]) << "moment " << m;
    }
}

TEST(FaceFlux, of_mirror_images_is_the_mirror_image) {
  const std::vector<State> all = states();
  for (std::size_t n = 0; n + 1 < all.size(); ++n)
    for (int axis = 0; axis < 3; ++axis) {
      const Moments<double> flux = flux_between(axis, all[n], all[n + 1], 2.0);
      State left = all[n + 1], right = all[n];
      left.of[k_flux_x + axis] = -left.of[k_flux_x + axis];
      right.of[k_flux_x + axis] = -right.of[k_flux_x + axis];
      const Moments<double> mirrored = flux_between(axis, left, right, 2.0);
      for (int m = 0; m < k_moments; ++m)
        ASSERT_EQ(mirrored[m], m == k_flux_x + axis ? flux[m] : -flux[m]) << "moment " << m;
    }
}

TEST(FaceFlux, has_the_same_bits_in_every_lane) {
  using P = SimdTraits<WideDouble>;
  const std::vector<State> all = states();
  for (std::size_t n = 0; n + P::width < all.size(); ++n) {
    FaceState<WideDouble> left, right;
    for (int m = 0; m < k_moments; ++m) {
      left.of[m] = P::generate([&](int i) { return all[n + static_cast<std::size_t>(i)].of[m]; });
      right.of[m] =
          P::generate([&](int i) { return all[n + 1 + static_cast<std::size_t>(i)].of[m]; });
    }
    left.square = limit_reduced_flux(left.of);
    right.square = limit_reduced_flux(right.of);
    const Moments<WideDouble> found = flux_between(1, left, right, WideDouble(0.3));
    for (int lane = 0; lane < P::width; ++lane) {
      Moments<double> a, b;
      for (int m = 0; m < k_moments; ++m) {
        a[m] = P::lane(left.of[m], lane);
        b[m] = P::lane(right.of[m], lane);
      }
      const Moments<double> expected = flux_between(1, State{a, P::lane(left.square, lane)},
                                                    State{b, P::lane(right.square, lane)}, 0.3);
      for (int m = 0; m < k_moments; ++m) ASSERT_EQ(P::lane(found[m], lane), expected[m]);
    }
  }
}

TEST(FaceFlux, slopes_are_those_of_the_monotonised_central_difference) {
  EXPECT_EQ(half_limited_slope(1.0, 2.0, 3.0), 0.5);   // central
  EXPECT_EQ(half_limited_slope(1.0, 2.0, 10.0), 1.0);  // twice the smaller difference
  EXPECT_EQ(half_limited_slope(10.0, 2.0, 1.0), -1.0);
  EXPECT_EQ(half_limited_slope(1.0, 2.0, 1.0), 0.0);  // an extremum
  EXPECT_EQ(half_limited_slope(-1.0, -2.0, -2.0), 0.0);
}

}  // namespace
}  // namespace octant::radiation
