// States at the 26 points on the surface of a cell.
#include <cmath>
#include <type_traits>

#include <gtest/gtest.h>

#include "hydro/surface_lines.hpp"

namespace octant::hydro::test {
namespace {

// Density that rises along (4, 3, -2) with a superposed roughness, and an almost constant pressure,
// so that some lines through the cell in the middle have a contact there.
double rising(int x, int y, int z) { return x + 0.75 * y - 0.5 * z; }
double rough(int n, int x, int y, int z) {
  const double s = rising(x, y, z);
  if (n == k_pressure) return 1 + 0.001 * s;
  const int noise = (37 * x + 59 * y + 83 * z + 29 * x * y + 31 * y * z + 17 * x * z + 499) % 41;
  return 2 + s / (1 + std::abs(s)) + 0.2 * noise / 41;
}

// Densities that the reconstruction of Octo-Tiger has at these points (commit bf8f8f2f:
// reconstruct_ppm and find_contact_discs), without and with its detection of contacts: values of an
// independent implementation, in the order of direction(). The centre has the mean of the cell.
constexpr double k_states[k_points] = {
    1.75449090205188, 1.95745257452575, 2.26823461091754, 1.89139566395664, 2.21226287262873,
    2.45081300813008, 2.18428184281843, 2.42152535811072, 2.39376314742168, 1.71354602939969,
    1.85452961672474, 2.2579945799458,  1.76287262872629, 2.03414634146341, 2.28550135501355,
    1.88509485094851, 2.34198606271777, 2.38463086146013, 1.62310250724885, 1.66465350367789,
    1.95907859078591, 1.76168699186992, 1.8560298102981,  2.23787262872629, 1.79622531939605,
    2.16165311653117, 2.37152535811072};
constexpr double k_steepened_states[k_points] = {
    1.6861014324429,  1.95745257452575, 2.30662020905923, 1.88525270541821, 2.23146895990412,
    2.63475609756098, 2.16991869918699, 2.53341076267905, 2.45361589629882, 1.65627001724563,
    1.8616724738676,  2.38373983739837, 1.7244747698464,  2.03414634146341, 2.29925080666486,
    1.85040650406504, 2.37909407665505, 2.46021187484602, 1.45307862868838, 1.53975996902826,
    1.96626016260163, 1.73384146341463, 1.83682372302271, 2.27301840790517, 1.72334494773519,
    2.16165311653117, 2.47975222609369};

TEST(SurfaceLines, are_those_of_octo_tiger) {
  double deviation[k_points], steepened[k_points];
  const auto density = [](int x, int y, int z) { return rough(k_density, x, y, z); };
  deviation[k_centre] = steepened[k_centre] = 0;
  SurfaceLines<false>::deviations<double>(std::true_type(), density, deviation);
  SurfaceLines<false>::deviations<double>(std::true_type(), density, steepened);
  SurfaceLines<false>::steepen(std::true_type(), rough, 5.0 / 3.0, steepened);
  for (int p = 0; p < k_points; ++p) {
    EXPECT_NEAR(density(0, 0, 0) + deviation[p], k_states[p], 1e-13) << p;
    EXPECT_NEAR(density(0, 0, 0) + steepened[p], k_steepened_states[p], 1e-13) << p;
  }
}

// A crest at the centre of the cell: monotone parabolas are flat there along every line.
TEST(SurfaceLines, keep_a_smooth_extremum_along_the_axes_alone) {
  const auto crest = [](int x, int y, int z) { return 1 - 0.01 * (x * x + y * y + z * z); };
  double kept[k_points], flat[k_points];
  SurfaceLines<true>::deviations<double>(std::true_type(), crest, kept);
  SurfaceLines<false>::deviations<double>(std::true_type(), crest, flat);
  for (int p = 0; p < k_points; ++p) {
    if (p == k_centre) continue;
    EXPECT_EQ(flat[p], 0) << p;
    EXPECT_NEAR(kept[p], is_on_axis(direction(p)) ? -0.01 / 6 : 0.0, 1e-15) << p;
  }
}

}  // namespace
}  // namespace octant::hydro::test
