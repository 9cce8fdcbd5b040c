#include "bench/hydro_case.hpp"

#include <vector>

#include <fmt/format.h>

namespace octant::bench {

namespace {

// Sound wave oblique to the grid, with an amplitude for which neighbouring cells differ.
constexpr const char* k_uniform = R"(
[problem]
name = "sound_wave"
wave = [1, 1, 1]
amplitude = 0.1
velocity = [0.3, 0.2, 0.1]
)";

// Blast wave from the eight cells around the centre. In smooth flow Octant's jump across a cell,
// |q+ - q-| / (|q+| + |q-|), equals 2 |q+ - q| / (q+ + q) between neighbours, the criterion of
// RAMSES, so the thresholds are the same.
constexpr const char* k_amr_sedov = R"(
[problem]
name = "sedov"
energy = 1.0
density = 1.0
ambient_pressure = 1e-5
centre = [0.5, 0.5, 0.5]
radius_cells = 1.0

[refine]
gradient_fields = ["density", "pressure"]
gradient = [0.1, 0.1]
buffer = 1
)";

AmrOptions options_on(const HydroCase& c, std::vector<std::string> settings) {
  settings.insert(
      settings.end(),
      {fmt::format("mesh.block_size={}", c.block_size),
       fmt::format("mesh.max_level={}", c.is_uniform() ? 0 : 2), "hydro.gamma=1.4",
       "hydro.scheme=" + c.scheme, "hydro.reconstruction=" + c.reconstruction,
       "hydro.limiter=" + c.limiter, "hydro.riemann=" + c.riemann,
       "hydro.dual_energy=" + c.dual_energy, "execution.schedule=" + c.schedule, "time.cfl=0.8"});
  if (c.batch_megabytes > 0)
    settings.push_back(fmt::format("execution.batch_megabytes={}", c.batch_megabytes));
  return AmrOptions::from_text(c.is_uniform() ? k_uniform : k_amr_sedov, "octant bench hydro",
                               settings);
}

}  // namespace

AmrOptions run_options(const HydroCase& hydro_case) {
  return options_on(hydro_case,
                    {fmt::format("mesh.base_cells=[{0}, {0}, {0}]", hydro_case.base_cells())});
}

AmrOptions level_options(const HydroCase& hydro_case, const std::array<int, 3>& blocks) {
  const int N = hydro_case.block_size;
  const auto [x, y, z] = blocks;
  return options_on(hydro_case, {fmt::format("mesh.base_cells=[{}, {}, {}]", N * x, N * y, N * z),
                                 fmt::format("mesh.upper=[{}.0, {}.0, {}.0]", x, y, z)});
}

}  // namespace octant::bench
