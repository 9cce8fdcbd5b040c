// Exchange of energy and momentum in packs of cells.
#include <gtest/gtest.h>

#include <cstring>
#include <iterator>

#include "core/wide_simd.hpp"
#include "random_cells.hpp"

namespace octant::radiation::test {
namespace {

// Variables of a cell, in the order of RadiatingCells.
constexpr int k_variables = sizeof(RadiatingCell) / sizeof(double);

// Result of the exchange of a pack of cells with these variables.
template <class V>
struct PackResult {
  static constexpr int width = SimdTraits<V>::width;
  double variables[k_variables][width], outcome[width];

  PackResult(const RadiatingCell* cells, const Light& light, const Material& gas,
             const Opacity& opacity, double dt) {
    using P = SimdTraits<V>;
    RadiatingCells<V> pack;
    V* const of[k_variables] = {
        &pack.density, &pack.momentum[0], &pack.momentum[1], &pack.momentum[2], &pack.internal,
        &pack.energy,  &pack.flux[0],     &pack.flux[1],     &pack.flux[2],     &pack.surroundings};
    for (int n = 0; n < k_variables; ++n)
      *of[n] = P::generate([&](int lane) {
        double values[k_variables];
        std::memcpy(values, &cells[lane], sizeof values);
        return values[n];
      });
    P::store(outcome, exchange(pack, light, gas, opacity, dt));
    for (int n = 0; n < k_variables; ++n) P::store(variables[n], *of[n]);
  }
};

// Expects that every cell of a pack has the bits that it has alone.
template <class V>
void expect_bits_of_single_cells(const RadiatingCell* cells, const Light& light,
                                 const Material& gas, const Opacity& opacity, double dt) {
  const PackResult<V> pack(cells, light, gas, opacity, dt);
  for (int lane = 0; lane < SimdTraits<V>::width; ++lane) {
    RadiatingCell alone = cells[lane];
    ASSERT_EQ(pack.outcome[lane], exchange(alone, light, gas, opacity, dt));
    double values[k_variables];
    std::memcpy(values, &alone, sizeof values);
    for (int n = 0; n < k_variables; ++n) ASSERT_EQ(pack.variables[n][lane], values[n]) << n;
  }
}

TEST(Exchange, gives_every_cell_of_a_pack_the_bits_that_it_has_alone) {
  const Opacity opacities[] = {Opacity::constant(1.0, 1.0), Opacity::constant(5.0, 1.0, 10.0),
                               Opacity::power_law(1.0, 1.0, 1.0, 1.0, 1.0, -3.5),
                               Opacity::power_law(1.0, 2.0, 1.0, 1.0, 0.0, 3.0),
                               Opacity::power_law(1.0, 0.5, 1.0, 1.0, 300.0, 0.0)};
  constexpr int width = SimdTraits<WideDouble>::width;
  Draw draw(9);
  for (int n = 0; n < 3000; ++n) {
    const double fastest = n % 7 == 0 ? 0.9 : 0.1;  // some exchanges have no solution
    RadiatingCell cells[width];
    for (RadiatingCell& cell : cells) {
      cell = random_cell(draw, k_reduced, fastest);
      cell.surroundings = draw.decade(-3, 3);
      if (fastest > 0.5) cell.energy = cell.density * 100.0 * draw.decade(-3, 3);
    }
    Material gas = ideal(heat_capacity_for(cells[0], k_reduced, draw.decade(-6, 6)), n % 3 != 0);
    if (n % 5 == 0) gas.cubic = draw.decade(-3, 3);
    gas.has_surroundings = n % 4 == 0;
    const Opacity& opacity = opacities[n % std::size(opacities)];
    const double dt = draw.decade(-6, 6) / k_reduced.reduced;
    expect_bits_of_single_cells<WideDouble>(cells, k_reduced, gas, opacity, dt);
    expect_bits_of_single_cells<SimdDouble>(cells, k_reduced, gas, opacity, dt);
  }
}

}  // namespace
}  // namespace octant::radiation::test
