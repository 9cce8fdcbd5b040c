// What is measured of a flow against sums over its cells.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "dns/incompressible_flow.hpp"

namespace octant::dns {

namespace {

// Convection between plates at z = 0 and 1.2, where the fluid leaves through both sides along y.
struct Convection {
  GridOptions grid;
  FlowParameters flow;
  ScalarOptions scalar;

  Convection() {
    grid.cells = {11, 6, 9};
    grid.size = {1.0, 0.7, 1.2};
    grid.stretching = Stretching::tanh_lower;
    flow.boundary[1] = {Side::outflow, Side::outflow};
    flow.boundary_velocity[2][1] = {0.5, 0.0, 0.0};
    scalar.enabled = true;
    scalar.diffusivity = 0.03;
    scalar.values[2] = {1.0, -0.5};
  }
};

class Measure : public testing::Test {
 protected:
  Measure()
      : domain_(Communicator::world(), Grid(c_.grid, false), Boundaries(c_.flow, c_.grid.size),
                {1, 1}),
        flow_(domain_, c_.flow, c_.scalar, {}, {}) {
    State& s = flow_.state();
    Field* fields[] = {&s.u, &s.v, &s.w, &flow_.scalar()};
    for (int f = 0; f < 4; ++f)
      for (int k = 0; k < domain_.nz; ++k)
        for (int j = 0; j < domain_.ny; ++j)
          for (int i = 0; i < domain_.nx; ++i)
            (*fields[f])(i, j, k) = std::sin(1.0 + f + 2.3 * i + 0.7 * j * k) + 0.1 * f;
    for (int k = 0; k < domain_.nz; ++k)
      for (int i = 0; i < domain_.nx; ++i) s.v(i, -1, k) = k == 4 && i == 7 ? 9.0 : 0.2;
    flow_.complete();
  }

  // The mean over the volume of an expression of (i, j, k).
  template <class Expression>
  double mean(const ZLine& height, const Expression& expression) const {
    double sum = 0.0;
    for (int k = 0; k < domain_.nz; ++k)
      for (int j = 0; j < domain_.ny; ++j)
        for (int i = 0; i < domain_.nx; ++i) sum += height[k] * expression(i, j, k);
    return sum * domain_.grid.dx * domain_.grid.dy / domain_.grid.volume();
  }

  Convection c_;
  Domain domain_;
  Flow flow_;
};

TEST_F(Measure, takes_means_over_the_cells_of_each_component) {
  const Totals t = measure(flow_);
  const State& s = flow_.state();
  for (int c = 0; c < k_components; ++c) {
    const Field& q = s.velocity(c);
    const ZLine& height = c == k_w ? domain_.dz_face : domain_.dz_cell;
    EXPECT_NEAR(t.mean[c], mean(height, [&](int i, int j, int k) { return q(i, j, k); }), 1e-14);
    EXPECT_NEAR(t.kinetic[c],
                mean(height, [&](int i, int j, int k) { return 0.5 * q(i, j, k) * q(i, j, k); }),
                1e-14);
  }
  const Field& scalar = flow_.scalar();
  EXPECT_NEAR(t.scalar_mean,
              mean(domain_.dz_cell, [&](int i, int j, int k) { return scalar(i, j, k); }), 1e-14);
}

TEST_F(Measure, finds_the_range_of_the_scalar_and_its_values_at_sides) {
  const Field& scalar = flow_.scalar();
  double smallest = -0.5, largest = 1.0;  // at the plates
  for (int k = 0; k < domain_.nz; ++k)
    for (int j = 0; j < domain_.ny; ++j)
      for (int i = 0; i < domain_.nx; ++i) {
        smallest = std::min(smallest, scalar(i, j, k));
        largest = std::max(largest, scalar(i, j, k));
      }
  EXPECT_LT(smallest, -0.6);
  EXPECT_EQ(measure(flow_).scalar_range, largest - smallest);
}

TEST_F(Measure, finds_the_extremes_on_lower_faces_too) {
  const Totals t = measure(flow_);
  const State& s = flow_.state();
  double divergence = 0.0, rate = 0.0;
  for (int k = 0; k < domain_.nz; ++k)
    for (int j = 0; j < domain_.ny; ++j)
      for (int i = 0; i < domain_.nx; ++i) {
        const double x = 1.0 / domain_.grid.dx, y = 1.0 / domain_.grid.dy;
        const double z = 1.0 / domain_.dz_cell[k];
        divergence = std::max(divergence, std::abs(x * (s.u(i, j, k) - s.u(i - 1, j, k)) +
                                                   y * (s.v(i, j, k) - s.v(i, j - 1, k)) +
                                                   z * (s.w(i, j, k) - s.w(i, j, k - 1))));
        // The mean speed through both faces of a cell along each axis.
        const auto speed = [](double lower, double upper) {
          return 0.5 * (std::abs(lower) + std::abs(upper));
        };
        rate = std::max(rate, x * speed(s.u(i - 1, j, k), s.u(i, j, k)) +
                                  y * speed(s.v(i, j - 1, k), s.v(i, j, k)) +
                                  z * speed(s.w(i, j, k - 1), s.w(i, j, k)));
      }
  EXPECT_EQ(t.largest[k_v], 9.0);
  EXPECT_NEAR(t.divergence, divergence, 1e-12);
  EXPECT_NEAR(t.advection_rate, rate, 1e-12);
}

TEST_F(Measure, takes_shear_and_fluxes_at_both_plates) {
  const Totals t = measure(flow_);
  const State& s = flow_.state();
  const Field& scalar = flow_.scalar();
  const int last = domain_.nz - 1;
  double shear[2] = {}, flux[2] = {};
  for (int j = 0; j < domain_.ny; ++j)
    for (int i = 0; i < domain_.nx; ++i) {
      shear[0] += (s.u(i, j, 0) - 0.0) / (0.5 * domain_.dz_cell[0]);
      shear[1] += (0.5 - s.u(i, j, last)) / (0.5 * domain_.dz_cell[last]);
      flux[0] -= (scalar(i, j, 0) - 1.0) / (0.5 * domain_.dz_cell[0]);
      flux[1] -= (-0.5 - scalar(i, j, last)) / (0.5 * domain_.dz_cell[last]);
    }
  const double columns = domain_.nx * domain_.ny;
  for (int end = 0; end < 2; ++end) {
    EXPECT_NEAR(t.wall_shear[end], c_.flow.viscosity * shear[end] / columns, 1e-13);
    EXPECT_NEAR(t.scalar_flux[end], c_.scalar.diffusivity * flux[end] / columns, 1e-13);
  }
}

}  // namespace

}  // namespace octant::dns
