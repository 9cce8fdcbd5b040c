#include <limits>
#include <span>

#include <gtest/gtest.h>

#include "gravity/gas_work.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"

namespace octant::gravity::test {
namespace {

double total_withheld_work(GasWork& work, const Communicator& communicator) {
  ReproducibleSum sum = work.take_withheld_work();
  reproducible_sum(communicator, std::span(&sum, 1));
  return sum.to_double();
}

// A step under a uniform force of 1 along x, in which 0.2 flow through each cell and sweeps take
// 0.01 of each energy; and in one cell what is no number, if there is such a cell.
double spared_in_a_step(GasWork& work, Gas& gas, bool one_broken) {
  const std::int64_t slots = gas.mesh.blocks(0).slots(), cells = 64;
  mesh::DeviceArray<double> force("force", 3 * cells * slots);
  for (std::int64_t n = 0; n < slots * cells; ++n) force(n / cells * 3 * cells + n % cells) = 1.0;
  const VectorField acceleration{{force.data(), 3 * cells}, cells};

  constexpr double half_step = 0.05;
  work.kick(0, half_step, Half::first, acceleration);
  for (const int slot : gas.mesh.blocks(0).own())
    for (std::int64_t c = 0; c < cells; ++c) {
      work.mass_flow(0)[slot * 3 * cells + c] = 0.2;
      work.energy_taken(0)[slot * cells + c] += 0.01;
    }
  if (one_broken && gas.mesh.communicator().rank() == 0)
    work.mass_flow(0)[gas.mesh.blocks(0).own().front() * 3 * cells] =
        std::numeric_limits<double>::quiet_NaN();
  work.add_first_half_of_work(0, acceleration);
  work.kick(0, half_step, Half::second, acceleration);
  return total_withheld_work(work, gas.mesh.communicator());
}

void rest(Gas& gas) {
  double* const fields = gas.mesh.fields(0).blocks(mesh::LevelFields::k_now);
  gas.for_cells(0, [&](const Point&, std::int64_t cell) {
    for (int n = 0; n < 5; ++n) fields[cell + n * gas.mesh.layout().stride_variable] = n % 4 == 0;
  });
}

TEST(GasWork, counts_what_flows_would_have_cost_beyond_kicks) {
  Gas gas(box({8, 8, 8}, 4));
  rest(gas);
  GasWork work(gas.mesh);
  work.set_energy_update({.heat_fraction = 0.0, .counts_withheld = true});
  // Flows have 0.2 of work in them, kicks 0.1^2 / 2 of kinetic energy, in a box of volume 1.
  const double each = 0.005 - 0.2 - 0.01;
  EXPECT_NEAR(spared_in_a_step(work, gas, false), each, 1e-14);
  EXPECT_EQ(total_withheld_work(work, gas.mesh.communicator()), 0.0);
  rest(gas);
  EXPECT_NEAR(spared_in_a_step(work, gas, true), each * 511.0 / 512.0, 1e-14);
}

}  // namespace
}  // namespace octant::gravity::test
