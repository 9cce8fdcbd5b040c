// Riemann solvers, face by face.
#include <gtest/gtest.h>

#include "core/simd.hpp"
#include "hydro/riemann.hpp"
#include "hydro/shock_sensor.hpp"

namespace octant::hydro::test {
namespace {

template <int Axis>
void expect_hybrid_between_hllc_and_hll() {
  const IdealGas gas{Gas{}};
  const State<double> left{1.0, 0.3, -0.2, 0.7, 1.0}, right{0.4, -0.1, 0.9, 0.2, 3.0};
  const State<double> hllc = Hllc::flux<Axis>(left, right, gas);
  const State<double> hll = Hll::flux<Axis>(left, right, gas);
  const auto hybrid = [&](double shock) { return HllcHybrid::flux<Axis>(left, right, shock, gas); };
  for (int n = 0; n < k_hydro_variables; ++n) {
    EXPECT_EQ(hybrid(0.0)[n], hllc[n]) << n;
    EXPECT_NEAR(hybrid(0.5)[n], 0.5 * (hllc[n] + hll[n]), 1e-15) << n;
    EXPECT_NEAR(hybrid(1.0)[n], hll[n], 1e-15) << n;
  }
}

TEST(HllcHybrid, lies_between_hllc_and_hll) {
  expect_hybrid_between_hllc_and_hll<0>();
  expect_hybrid_between_hllc_and_hll<1>();
  expect_hybrid_between_hllc_and_hll<2>();
}

// A wall: mirrored states, whose flux is the pressure alone.
template <class Solver>
State<double> flux_of(const State<double>& left, const State<double>& right, double shock) {
  if constexpr (k_senses_shocks<Solver>)
    return Solver::template flux<1>(left, right, shock, IdealGas(Gas{}));
  else return Solver::template flux<1>(left, right, IdealGas(Gas{}));
}
template <class Solver>
void expect_no_flux_through_a_wall() {
  for (const double speed : {-7.1, -0.31, 0.0, 1e-9, 0.17, 3.3})
    for (const double shock : {0.0, 0.37, 1.0}) {
      const State<double> inside{0.7, 0.4, speed, -0.3, 1.3};
      State<double> mirrored = inside;
      mirrored[k_velocity_y] = -speed;
      const State<double> flux = flux_of<Solver>(inside, mirrored, shock);
      for (const int n : {k_mass, k_momentum_x, k_momentum_z, k_energy})
        EXPECT_EQ(flux[n], 0.0) << Solver::name << ", variable " << n << ", speed " << speed;
    }
}

TEST(RiemannSolvers, let_nothing_pass_a_wall) {
  expect_no_flux_through_a_wall<Llf>();
  expect_no_flux_through_a_wall<Hll>();
  expect_no_flux_through_a_wall<Hllc>();
  expect_no_flux_through_a_wall<HllcHybrid>();
  expect_no_flux_through_a_wall<HllcLowMach>();
}

// Contacts and shear layers at rest stay as they are.
template <class Solver>
void expect_contacts_to_stay() {
  const State<double> left{1.0, 0.0, 0.8, -0.2, 1.3}, right{0.1, 0.0, -0.5, 0.4, 1.3};
  State<double> flux;
  if constexpr (k_senses_shocks<Solver>)
    flux = Solver::template flux<0>(left, right, 0.0, IdealGas(Gas{}));
  else flux = Solver::template flux<0>(left, right, IdealGas(Gas{}));
  for (const int n : {k_mass, k_momentum_y, k_momentum_z, k_energy})
    EXPECT_EQ(flux[n], 0.0) << Solver::name << ", variable " << n;
  EXPECT_NEAR(flux[k_momentum_x], 1.3, 1e-15);
}

TEST(RiemannSolvers, keep_contacts_and_shear_layers_at_rest) {
  expect_contacts_to_stay<Hllc>();
  expect_contacts_to_stay<HllcHybrid>();
  expect_contacts_to_stay<HllcLowMach>();
}

TEST(HllcLowMach, is_hllc_where_the_flow_is_faster_than_sound) {
  const State<double> left{1.0, 0.3, -1.9, 0.7, 1.0}, right{1.4, -0.1, -2.1, 0.2, 1.1};
  const State<double> slow_l{1.0, 1e-4, 0.0, 0.0, 1.0}, slow_r{1.0, -1e-4, 0.0, 0.0, 1.0};
  const IdealGas gas{Gas{}};
  for (int n = 0; n < k_hydro_variables; ++n)
    EXPECT_EQ(HllcLowMach::flux<0>(left, right, 0.0, gas)[n], Hllc::flux<0>(left, right, gas)[n]);
  // The pressure that two slow streams build up is smaller by about twice the Mach number.
  const double push = HllcLowMach::flux<0>(slow_l, slow_r, 0.0, gas)[k_momentum_x] - 1.0;
  const double full = Hllc::flux<0>(slow_l, slow_r, gas)[k_momentum_x] - 1.0;
  EXPECT_LT(push, 3e-4 * full);
  EXPECT_GT(push, 1e-4 * full);
}

// Primitive variables around a cell with a state on either side, along one axis.
struct AroundJump {
  State<double> below, above;
  int axis;
  double operator()(int n, int x, int y, int z) const {
    const int o = axis == 0 ? x : axis == 1 ? y : z;
    return o < 0 ? below[n] : o > 0 ? above[n] : 0.5 * (below[n] + above[n]);
  }
};
Vector<double> transverse_strengths(const AroundJump& cell) {
  Vector<double> strengths{};
  find_transverse_shocks<double>(cell, 1.4,
                                 [&](int axis, double strength) { strengths[axis] = strength; });
  return strengths;
}

TEST(ShockSensor, marks_the_faces_along_a_strong_shock) {
  for (int axis = 0; axis < 3; ++axis) {
    State<double> behind{8.2, 0.0, 0.0, 0.0, 41.8}, before{1.4, 0.0, 0.0, 0.0, 1.0};
    behind[k_velocity_x + axis] = 4.86;
    const Vector<double> found = transverse_strengths({behind, before, axis});
    for (int other = 0; other < 3; ++other) EXPECT_EQ(found[other], other == axis ? 0.0 : 1.0);
    // Towards lower places, and as seen by a moving observer.
    std::swap(behind, before);
    for (State<double>* w : {&behind, &before}) (*w)[k_velocity_x + axis] *= -1;
    for (State<double>* w : {&behind, &before}) (*w)[k_velocity_x + axis] += 3.0;
    EXPECT_EQ(transverse_strengths({behind, before, axis})[(axis + 1) % 3], 1.0);
  }
}

TEST(ShockSensor, finds_no_shock_in_contacts_rarefactions_and_pressure_noise) {
  const auto strength = [](const State<double>& below, const State<double>& above) {
    return transverse_strengths({below, above, 0})[1];
  };
  EXPECT_EQ(strength({10.0, 0.1, 5.0, 0.0, 1.0}, {0.1, 0.1, -5.0, 0.0, 1.0}), 0.0);   // contact
  EXPECT_EQ(strength({1.0, -2.0, 0.0, 0.0, 1.0}, {0.2, 2.0, 0.0, 0.0, 0.1}), 0.0);    // rarefaction
  EXPECT_EQ(strength({1.0, 0.01, 0.0, 0.0, 10.0}, {0.3, 0.0, 0.0, 0.0, 2.0}), 0.0);   // atmosphere
  EXPECT_EQ(strength({1.0, 0.5, 0.0, 0.0, 3e-6}, {1.0, -0.5, 0.0, 0.0, 1e-6}), 0.0);  // cold gas
}

// Compressed along x, stretched along y, as in a vortex: no shock.
TEST(ShockSensor, finds_no_shock_in_a_vortex) {
  const auto cell = [](int n, int x, int y, int) -> double {
    if (n == k_pressure) return 1.0 + 0.5 * x;
    if (n == k_velocity_x) return -0.4 * x;
    if (n == k_velocity_y) return 0.4 * y;
    return n == k_density ? 1.0 : 0.0;
  };
  find_transverse_shocks<double>(cell, 1.4, [](int, double strength) { EXPECT_EQ(strength, 0.0); });
}

}  // namespace
}  // namespace octant::hydro::test
