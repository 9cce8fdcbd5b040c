#include "bench/stars_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "amr/amr_simulation.hpp"
#include "bench/command.hpp"
#include "bench/report.hpp"

namespace octant::bench {

namespace {

struct StarsRequest {
  int cells = 64, repeats = 5;
};

// One in `cells_per_dense_one` cells is dense enough for stars; a quantum forms there with
// probability 0.01.
struct StarsCase {
  const char* name;
  int cells_per_dense_one;
};
constexpr StarsCase k_stars_cases[] = {{"none", 0}, {"sparse", 1000}, {"some", 30}, {"all", 1}};

AmrOptions stars_options(const StarsRequest& request, const StarsCase& c) {
  std::string densities;
  for (int n = 0; n < std::max(c.cells_per_dense_one, 1); ++n)
    densities += n == 0 && c.cells_per_dense_one > 0 ? "1.0" : ", 0.01";
  if (c.cells_per_dense_one == 0) densities = "0.01";
  return AmrOptions::from_text(
      R"(
problem.name = "cooling_cell"
problem.temperature_over_mu = [100.0]
mesh.upper = [1e30, 1e30, 1e30]
mesh.block_size = 8
hydro.gamma = 1.6666666666666667
units.length = 1.0
units.density = 2.2e-24
units.time = 3.15576e13
gravity.enabled = true
gravity.constant = 1.5e-4
stars.enabled = true
)",
      "octant bench stars",
      {fmt::format("mesh.base_cells=[{0}, {0}, {0}]", request.cells),
       fmt::format("problem.hydrogen_density=[{}]", densities),
       fmt::format("stars.mass={}", 0.1 * 1e90 / std::pow(request.cells, 3) * 2.2e-24 / 2e33)});
}

// Seconds for star formation in a step on the slowest rank, and the number of stars formed.
std::pair<double, std::int64_t> form_once(const Communicator& communicator, AmrOptions& options) {
  constexpr double k_step = 2.25;  // Myr, for one quantum in a hundred cells
  AmrSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  simulation.step(1e-12 * k_step);
  simulation.timers().reset();
  communicator.barrier();
  simulation.step(k_step);
  return {communicator.max(simulation.timers().seconds("stars")),
          simulation.matter().kind("stars")->assigned_ids()};
}

void declare(Options& options, StarsRequest& request) {
  options.count("--cells", request.cells, "Number of cells along each axis; a multiple of 8");
  options.count("--repeats", request.repeats, "Number of runs per case; the median is reported");
}

void measure_all(const StarsRequest& request, const Communicator& communicator, Report& report) {
  const double cells = std::pow(request.cells, 3);
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  report.line(fmt::format("{} rank(s) of {} thread(s); median of {}; time per core\n",
                          communicator.size(), threads, request.repeats));
  for (const StarsCase& c : k_stars_cases) {
    AmrOptions options = stars_options(request, c);
    std::vector<double> seconds;
    std::int64_t stars = 0;
    for (int n = 0; n < request.repeats; ++n) {
      const auto [once, formed] = form_once(communicator, options);
      seconds.push_back(once);
      stars = formed;
    }
    const double median = seconds[median_index(seconds)];
    const double each = 1e9 * median * communicator.size() * threads / cells;
    report.line(fmt::format("{:<8} {:>9.6f} s {:>9.2f} ns per cell {:>9} stars", c.name, median,
                            each, stars));
    report.add(JsonObject()
                   .add("case", c.name)
                   .add("leaf_cells", static_cast<std::int64_t>(cells))
                   .add("stars", stars)
                   .add("seconds", median)
                   .add("nanoseconds_per_cell", each));
  }
}

}  // namespace

int stars_bench(const std::vector<std::string>& words) {
  return run_command<StarsRequest>("stars", "Cost of star formation per cell", declare, measure_all,
                                   words);
}

}  // namespace octant::bench
