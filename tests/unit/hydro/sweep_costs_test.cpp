#include "hydro/sweep_costs.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/counted.hpp"

namespace octant::hydro {
namespace {

SweepCosts costs_of(const HydroOptions& options, int patch = 8, double a0 = 0.0) {
  SweepArguments sweep;
  sweep.tiles.patch = patch;
  sweep.a0 = a0;
  return sweep_costs(options, sweep);
}

TEST(SweepCosts, bytes_are_those_of_values_that_kernels_read_and_write) {
  HydroOptions options;
  options.riemann = "hllc";
  const SweepCosts costs = costs_of(options);
  const double cell = 5 * 8.0;
  EXPECT_EQ(costs.sweep.bytes, 2 * cell);
  EXPECT_EQ(costs.states.bytes, 7 * cell) << "a cell, and the states on its six faces";
  EXPECT_EQ(costs.fluxes.bytes, 9 * cell) << "six states, three fluxes";
  EXPECT_EQ(costs.update.bytes, 5 * cell) << "three fluxes, a state there and back";
  // Two layers of ghosts at faces and one at edges: 512 + 6 * 128 + 12 * 8 of 512 cells.
  EXPECT_EQ(costs.gather.bytes, 2 * cell * 1376 / 512);
  EXPECT_EQ(costs_of({}, 8, 0.5).update.bytes, 6 * cell) << "and the step's first state";
  const SweepCosts with_sensor = costs_of({});
  EXPECT_EQ(with_sensor.states.bytes, 7 * cell + 24) << "and three strengths of shocks";
  EXPECT_EQ(with_sensor.fluxes.bytes, 9 * cell + 24);
  HydroOptions with_scalar;
  with_scalar.dual_energy = DualEnergy::on;
  EXPECT_EQ(costs_of(with_scalar).update.bytes, 5 * 6 * 8.0);
}

TEST(SweepCosts, operations_are_those_of_the_formulas) {
  HydroOptions options;
  options.riemann = "llf";
  options.limiter = "minmod";
  const SweepCosts costs = costs_of(options);
  // Both conserved states and physical fluxes of 19, the fastest signal of 7, and for each variable
  // three sums and two products.
  EXPECT_EQ(costs.fluxes.operations, 3 * (2 * 19 + 7 + 5 * 5));
  // An inverse, three velocities, and 8 for the pressure.
  EXPECT_NEAR(costs.gather.operations, 12 * 1376.0 / 512, 1e-9);
  EXPECT_EQ(costs.sweep.operations, costs.gather.operations + costs.states.operations +
                                        costs.fluxes.operations + costs.update.operations);
}

TEST(SweepCosts, parabolas_take_more_operations_than_straight_lines) {
  HydroOptions lines, parabolas;
  parabolas.reconstruction = "ppm";
  EXPECT_GT(costs_of(parabolas).states.operations, 1.2 * costs_of(lines).states.operations);
  HydroOptions stages = lines;
  stages.integrator = Integrator::rk2;
  EXPECT_LT(costs_of(stages).states.operations, costs_of(lines).states.operations);
}

TEST(SweepCosts, what_states_decide_is_not_counted) {
  HydroOptions options;
  options.riemann = "exact";
  EXPECT_EQ(costs_of(options).fluxes.operations, 0.0);
  EXPECT_EQ(costs_of(options).sweep.operations, 0.0);
  options = {};
  options.reconstruction = "ppm26";
  EXPECT_EQ(costs_of(options).states.operations, 0.0);
}

class RepairWork : public testing::Test {
 protected:
  RepairWork() {
    heard().clear();
    kernel_work_callback = [](std::string_view kernel, const KernelWork& work) {
      heard()[std::string(kernel)] = work;
    };
  }
  ~RepairWork() override { kernel_work_callback = nullptr; }

  static std::map<std::string, KernelWork>& heard() {
    static std::map<std::string, KernelWork> all;
    return all;
  }
};

TEST_F(RepairWork, is_that_of_states_in_and_around_a_cell_and_of_its_faces) {
  HydroOptions options;
  options.riemann = "llf";
  SweepArguments sweep;
  sweep.tiles.patch = 8;
  record_repair(options, sweep, 10);
  const SweepCosts costs = costs_of(options);
  const KernelWork states = heard()["hydro::states_of_cells"],
                   fluxes = heard()["hydro::fluxes_of_cells"];
  EXPECT_EQ(states.items, 70);
  EXPECT_EQ(states.operations, 70 * costs.states.operations);
  EXPECT_EQ(fluxes.items, 60);
  EXPECT_EQ(fluxes.bytes, 60 * 3 * 5 * 8) << "two states, and a flux";
  EXPECT_EQ(fluxes.operations, 60 * (2 * 19 + 7 + 5 * 5));
}

TEST_F(RepairWork, of_judging_a_cell_is_that_of_its_primitive_state) {
  const KernelCost cost = cost_of_validation(HydroOptions{}.gas());
  EXPECT_EQ(cost.bytes, 5 * 8.0);
  EXPECT_EQ(cost.operations, 12.0) << "an inverse, three velocities, and 8 for the pressure";
}

TEST(Counted, counts_what_changes_a_value) {
  const Counted a = 3.0, b = 4.0;
  Counted found;
  EXPECT_EQ(operations_of([&] { found = square_root(a * a + b * b); }), 4.0);
  EXPECT_EQ(found.value(), 5.0);
  EXPECT_EQ(operations_of([&] { found = select(a < b, max(a, b), -a); }), 0.0);
  EXPECT_EQ(operations_of([&] { found = fused_multiply_add(a, b, a); }), 2.0);
}

}  // namespace
}  // namespace octant::hydro
