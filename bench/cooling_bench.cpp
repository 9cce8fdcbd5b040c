#include "bench/cooling_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <Kokkos_Core.hpp>

#include "amr/amr_simulation.hpp"
#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/report.hpp"
#include "core/clock.hpp"
#include "core/random.hpp"
#include "subgrid/cooling/original.hpp"
#include "subgrid/cooling/table.hpp"

namespace octant::bench {

namespace {

// Cells of random density, temperature and metallicity, and a time step in Myr.
struct CoolingCase {
  std::string name;
  double min_density, max_density, coldest, hottest, step;  // cm^-3, K, Myr
};

const std::vector<CoolingCase> k_cooling_cases{
    {"mixed_0.1", 1e-6, 10.0, 1e3, 1e8, 0.1}, {"mixed_1", 1e-6, 10.0, 1e3, 1e8, 1.0},
    {"mixed_10", 1e-6, 10.0, 1e3, 1e8, 10.0}, {"thin_0.1", 1e-7, 1e-3, 3e3, 3e7, 0.1},
    {"thin_1", 1e-7, 1e-3, 3e3, 3e7, 1.0},    {"thin_10", 1e-7, 1e-3, 3e3, 3e7, 10.0},
};

std::vector<std::string> names_of_cases() {
  std::vector<std::string> names;
  for (const CoolingCase& c : k_cooling_cases) names.push_back(c.name);
  return names;
}

struct CoolingRequest {
  Choice cases{names_of_cases(), "all"};
  std::string table;
  std::string method = "exact";
  int cells = 64, repeats = 5;
};

// Path of the reference data's cooling table, if the environment specifies the folder.
std::string reference_table() {
  const char* folder = std::getenv("OCTANT_DATA");
  const std::string path =
      fmt::format("{}/cooling/CloudyData_UVB=HM2012_with_MMW.h5", folder ? folder : "");
  return std::filesystem::is_regular_file(path) ? path : "";
}

// Log-uniform random numbers. Lists of three prime lengths repeat together only after seven
// thousand million cells.
std::vector<double> random_list(int count, double least, double most, std::uint64_t seed) {
  std::vector<double> list;
  for (int n = 0; n < count; ++n) {
    RandomStream random(seed, static_cast<std::uint64_t>(n), 0);
    list.push_back(least * std::pow(most / least, random.uniform(0)));
  }
  return list;
}

AmrOptions run_options(const CoolingRequest& request, const CoolingCase& c) {
  const auto list = [](const char* name, const std::vector<double>& values) {
    return fmt::format("problem.{}=[{}]", name, fmt::join(values, ", "));
  };
  return AmrOptions::from_text(
      R"(
problem.name = "cooling_cell"
mesh.upper = [1e30, 1e30, 1e30]
mesh.block_size = 8
hydro.gamma = 1.6666666666666667
units.length = 3.0856775814913673e18
units.density = 2.2e-24
units.time = 3.15576e13
cooling.enabled = true
)",
      "octant bench cooling",
      {fmt::format("mesh.base_cells=[{0}, {0}, {0}]", request.cells),
       fmt::format("cooling.table=\"{}\"", request.table), "cooling.method=" + request.method,
       list("hydrogen_density", random_list(1999, c.min_density, c.max_density, 1)),
       list("temperature_over_mu", random_list(1997, c.coldest, c.hottest, 2)),
       list("metals", random_list(1993, 1e-5, 0.02, 3))});
}

// Seconds for all cells on the slowest rank, after a step that prepares the table.
double measure_once(const Communicator& communicator, AmrOptions& options, double step) {
  AmrSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  simulation.step(1e-12 * step);
  simulation.timers().reset();
  communicator.barrier();
  simulation.step(step);
  return communicator.max(simulation.timers().seconds("cooling"));
}

void measure_cells(const CoolingRequest& request, const Communicator& communicator,
                   Report& report) {
  const double cells = std::pow(request.cells, 3);
  const auto chosen = request.cases.selected();
  for (const CoolingCase& c : k_cooling_cases) {
    if (std::ranges::find(chosen, c.name) == chosen.end()) continue;
    AmrOptions options = run_options(request, c);
    std::vector<double> seconds;
    for (int n = 0; n < request.repeats; ++n)
      seconds.push_back(measure_once(communicator, options, c.step));
    const double median = seconds[median_index(seconds)];
    const double cores = communicator.size() * Kokkos::DefaultHostExecutionSpace().concurrency();
    const double each = 1e6 * median * cores / cells;
    report.line(fmt::format("{:<12} {:>8.4f} s {:>8.4f} us per cell", c.name, median, each));
    report.add(JsonObject()
                   .add("case", c.name)
                   .add("method", request.method)
                   .add("table", request.table)
                   .add("step_megayears", c.step)
                   .add("cells", static_cast<std::int64_t>(cells))
                   .add("seconds", median)
                   .add("microseconds_per_cell", each));
  }
}

void measure_preparation(const CoolingRequest& request, const Communicator& communicator,
                         Report& report) {
  using namespace subgrid::cooling;
  const bool has_table = !request.table.empty();
  const CoolingTable table =
      has_table ? read_cooling_table(communicator, request.table) : CoolingTable{};
  std::vector<double> seconds;
  for (int n = 0; n < request.repeats; ++n) {
    Clock clock;
    if (has_table) refined_nodes(slice_at(table, {}, 0.5 + n));
    else original_nodes({}, 0.5 + n, communicator);
    seconds.push_back(communicator.max(seconds_with_kernels(clock)));
  }
  const double median = seconds[median_index(seconds)];
  report.line(fmt::format("{:<12} {:>8.4f} s", "table", median));
  report.add(JsonObject()
                 .add("case", "table")
                 .add("method", request.method)
                 .add("table", request.table)
                 .add("seconds", median));
}

void declare(Options& options, CoolingRequest& request) {
  options.choice("--case", request.cases,
                 "Gas state (low density, or all densities) and time step in Myr");
  options.file("--table", request.table,
               "Grackle table (default: the table in OCTANT_DATA, otherwise rates of "
               "cooling.method = \"original\")");
  options.count("--cells", request.cells, "Number of cells along each axis; a multiple of 8");
  options.count("--repeats", request.repeats, "Number of runs per case; the median is reported");
}

void measure_all(const CoolingRequest& asked, const Communicator& communicator, Report& report) {
  CoolingRequest request = asked;
  if (request.table.empty()) request.table = reference_table();
  if (request.table.empty()) request.method = "original";
  report.line(fmt::format("{} rank(s) of {} thread(s), {} {}; median of {}; time per core\n",
                          communicator.size(), Kokkos::DefaultHostExecutionSpace().concurrency(),
                          request.method, request.table, request.repeats));
  measure_cells(request, communicator, report);
  measure_preparation(request, communicator, report);
}

}  // namespace

int cooling_bench(const std::vector<std::string>& words) {
  return run_command<CoolingRequest>("cooling", "Cost of radiative cooling per cell", declare,
                                     measure_all, words);
}

}  // namespace octant::bench
