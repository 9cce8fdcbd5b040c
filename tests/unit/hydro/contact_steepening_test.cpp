// Jumps of the density that gas carries along.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "hydro/hydro_options.hpp"
#include "tests/unit/hydro/uniform_blocks.hpp"

namespace octant::hydro::test {
namespace {

HydroOptions rk3_of(const std::string& reconstruction, bool contact_steepening) {
  HydroOptions options;
  options.integrator = Integrator::rk3;
  options.reconstruction = reconstruction;
  options.contact_steepening = contact_steepening;
  return options;
}

// A slab of ten times the density, once around the box: how many cells its two sides lie in, with
// densities of more than a twentieth of the jump from both.
int cells_of_contacts(const std::string& reconstruction, bool contact_steepening) {
  const int cells = 64;
  UniformBlocks box(rk3_of(reconstruction, contact_steepening), {{cells, 8, 8}, 8, 8, 1.0 / cells});
  box.set([](double x, double, double) -> std::array<double, 5> {
    return {x > 0.25 && x < 0.75 ? 1.0 : 0.1, 1, 0, 0, 0.1};
  });
  box.run_until(1.0, 0.8);
  int count = 0;
  for (int x = 0; x < cells; ++x) {
    const double share = (box.at(k_mass, x, 3, 3) - 0.1) / 0.9;
    count += share > 0.05 && share < 0.95;
    EXPECT_GT(share, -0.01);
    EXPECT_LT(share, 1.01);
  }
  return count;
}

TEST(ContactSteepening, a_jump_of_the_density_stays_within_four_cells) {
  for (const std::string reconstruction : {"ppm", "ppm26"}) {
    EXPECT_GE(cells_of_contacts(reconstruction, false), 10) << reconstruction;
    EXPECT_LE(cells_of_contacts(reconstruction, true), 2 * 4) << reconstruction;
  }
}

// The density of sound has as much pressure beside it as it can.
TEST(ContactSteepening, sound_and_what_is_smooth_keep_their_bits) {
  const double gamma = 1.4;
  const auto sound = [&](double x, double, double) -> std::array<double, 5> {
    const double s = 0.1 * std::sin(2 * M_PI * x);
    return {1 + s, s, 0, 0, (1 + gamma * s) / gamma};
  };
  const auto smooth = [&](double x, double, double) -> std::array<double, 5> {
    return {1 + 0.3 * std::sin(2 * M_PI * x), 1, 0, 0, 1};
  };
  for (const std::string reconstruction : {"ppm", "ppm26"})
    for (const PrimitiveAt& flow : {PrimitiveAt(sound), PrimitiveAt(smooth)}) {
      const auto values = [&](bool contact_steepening) {
        UniformBlocks box(rk3_of(reconstruction, contact_steepening), {{32, 8, 8}, 8, 8, 1.0 / 32});
        box.set(flow);
        box.run_until(0.1, 0.8);
        return box.values(k_hydro_variables);
      };
      EXPECT_EQ(values(true), values(false)) << reconstruction;
    }
}

TEST(ContactSteepening, is_refused_where_there_are_no_parabolas_to_steepen) {
  HydroOptions options;
  options.contact_steepening = true;
  options.reconstruction = "ppm";
  EXPECT_THROW(options.finish(), InputError);
  options.integrator = Integrator::rk3;
  options.finish();
  EXPECT_TRUE(options.contact_steepening);
  options.reconstruction = "plm";
  EXPECT_THROW(options.finish(), InputError);
}

}  // namespace
}  // namespace octant::hydro::test
