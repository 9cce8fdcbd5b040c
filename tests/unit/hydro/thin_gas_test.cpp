// Gas that is all but empty, beside gas that is anything but.
#include <gtest/gtest.h>

#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

// A slab of cold gas, eight cells across, whose density and pressure grow inwards by a factor of
// e^2 in every cell, as gravity would have it on the right side; and gas of a millionth of its
// density and as much pressure on both sides, which leaves it at a third of its speed of sound.
constexpr int k_cells = 64;
constexpr double k_cold = 0.5, k_hot = 5e5;  // pressure over density

PrimitiveAt leaving_a_slab() {
  return [](double x, double, double) -> std::array<double, 5> {
    const double from_middle = x - k_cells / 2, beyond = std::abs(from_middle) - 4.0;
    const double pressure = beyond < 0.0 ? std::exp(std::min(-beyond / k_cold, 20.0)) : 1.0;
    return {pressure / (beyond < 0.0 ? k_cold : k_hot),
            beyond < 0.0 ? 0.0 : std::copysign(300.0, from_middle), 0.0, 0.0, pressure};
  };
}

// What is left of the density of thin gas where there is least of it on the right side, and how hot
// gas has become there, when sound has gone through some cells: rarefied as it is, it should have
// 0.7 of its density and 0.8 of its temperature.
struct Left {
  double density = 1.0, temperature = 0.0;
};

UniformBlocks after_a_while(const HydroOptions& options, BatchBuffer* batches = nullptr) {
  UniformBlocks box(options, {{k_cells, 8, 8}, 8, 8, 1.0});
  box.use(batches);
  box.set(leaving_a_slab());
  box.run_until(0.02, 0.8);
  return box;
}

Left left_beside_the_slab(UniformBlocks box) {
  Left left;
  for (int x = k_cells / 2; x < k_cells / 2 + 14; ++x) {
    double value[k_hydro_variables];
    for (int n = 0; n < k_hydro_variables; ++n) value[n] = box.at(n, x, 3, 3);
    const double kinetic = 0.5 * value[k_momentum_x] * value[k_momentum_x] / value[k_mass];
    const double pressure = (box.options().gamma - 1.0) * (value[k_energy] - kinetic);
    left.density = std::min(left.density, value[k_mass] * k_hot);
    left.temperature = std::max(left.temperature, pressure / value[k_mass] / k_hot);
  }
  return left;
}

void expect_cold_gas_to_stay(const HydroOptions& options) {
  const Left left = left_beside_the_slab(after_a_while(options));
  EXPECT_GT(left.density, 0.5) << options.reconstruction << " " << options.limiter;
  EXPECT_LT(left.temperature, 1.01) << options.reconstruction << " " << options.limiter;
}

HydroOptions falling_to_the_slab(Integrator integrator, const std::string& reconstruction,
                                 const std::string& limiter = "mc") {
  HydroOptions options;
  options.gamma = 5.0 / 3.0;
  options.acceleration = {-1.0, 0.0, 0.0};
  options.integrator = integrator;
  options.reconstruction = reconstruction;
  options.limiter = limiter;
  return options;
}

TEST(ThinGas, dense_gas_lets_none_out_that_is_hotter_than_any_around) {
  for (const Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2}) {
    for (const std::string limiter : {"mc", "huynh"})
      expect_cold_gas_to_stay(falling_to_the_slab(integrator, "plm", limiter));
    expect_cold_gas_to_stay(falling_to_the_slab(integrator, "ppm"));
  }
}
TEST(ThinGas, batches_give_the_same_bits) {
  for (const Integrator integrator : {Integrator::muscl_hancock, Integrator::rk2})
    for (const std::string reconstruction : {"plm", "ppm"}) {
      const HydroOptions options = falling_to_the_slab(integrator, reconstruction);
      BatchBuffer batches(1 << 20);
      EXPECT_EQ(after_a_while(options, &batches).values(k_hydro_variables),
                after_a_while(options).values(k_hydro_variables))
          << options.reconstruction << ", " << name_of(options.integrator);
    }
}

}  // namespace
}  // namespace octant::hydro::test
