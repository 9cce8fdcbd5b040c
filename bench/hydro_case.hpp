// Test cases of `octant bench hydro`.
#pragma once

#include <array>
#include <string>

#include "amr/amr_options.hpp"

namespace octant::bench {

// Case of the benchmark.
struct HydroCase {
  std::string name = "uniform";  // or "amr_sedov"
  std::string scheme = "muscl_hancock", reconstruction = "plm", limiter = "minmod";
  std::string riemann = "hllc", dual_energy = "off", schedule = "auto";
  int block_size = 16;
  int cells = 0;            // on level 0 along each axis; 0: 128 (uniform) or 32 (amr_sedov)
  int steps = 0;            // coarse steps; 0: 10 or 50
  int batch_megabytes = 0;  // 0: default of execution.batch_megabytes

  // Number of cells of the base grid along each axis.
  int base_cells() const { return cells > 0 ? cells : is_uniform() ? 128 : 32; }
  // Number of coarse steps.
  int coarse_steps() const { return steps > 0 ? steps : is_uniform() ? 10 : 50; }
  // True for the uniform flow, false for the adaptive one.
  bool is_uniform() const { return name == "uniform"; }
};

// Returns the validated parameters of the run, with the problem prepared. Throws InputError for
// inconsistent parameters.
AmrOptions run_options(const HydroCase& hydro_case);

// Parameters of the uniform flow on a level with the given number of blocks along each axis.
AmrOptions level_options(const HydroCase& hydro_case, const std::array<int, 3>& blocks);

}  // namespace octant::bench
