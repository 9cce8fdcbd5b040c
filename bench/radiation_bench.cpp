#include "bench/radiation_bench.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "amr/amr_simulation.hpp"
#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/report.hpp"
#include "bench/triad.hpp"
#include "core/clock.hpp"

namespace octant::bench {

namespace {

struct RadiationRequest {
  Choice cases{{"transport", "absorption", "moving", "photons"}, "all"};
  std::vector<int> block_sizes{8, 16};
  int cells = 64, substeps = 10, repeats = 5;
};

// An octant around a source of ionising photons in three groups; the gas within half of the box is
// already ionised.
AmrOptions ionised_region(const RadiationRequest& request, int block_size) {
  return AmrOptions::from_text(fmt::format(R"toml(
[problem]
name = "expression"
density = "1e-3"
temperature = "r < 3.3 ? 1e4 : 100"
species = {{ionized_hydrogen = "r < 3.3 ? 0.999 : 0", ionized_helium = "r < 3.3 ? 0.9 : 0"}}

[mesh]
base_cells = [{0}, {0}, {0}]
block_size = {1}
upper = [6.6, 6.6, 6.6]
boundary_x = ["reflecting", "outflow"]
boundary_y = ["reflecting", "outflow"]
boundary_z = ["reflecting", "outflow"]

[units]
length = "1 kpc"
density = 1.6726e-24
time = "1 Myr"

[hydro]
moves = false
gamma = "5/3"

[radiation]
speed_ratio = 0.05
max_substeps = {2}

[ionization]
enabled = true
source_x = [0.0]
source_y = [0.0]
source_z = [0.0]
source_rates = [5e48]
)toml",
                                           request.cells, block_size, request.substeps),
                               "bench radiation", {});
}

// A wave of radiation in gas at rest, which absorbs and emits in the case "absorption", or in gas
// that absorbs, emits and moves with up to 1/100 of the speed of light.
AmrOptions wave(const RadiationRequest& request, const std::string& name, int block_size) {
  const bool moves = name == "moving";
  return AmrOptions::from_text(
      fmt::format(R"toml(
[problem]
name = "expression"
density = "1 + 0.5 * sin(2 * pi * y)"
pressure = "1"
velocity = ["{4} * sin(2 * pi * y)", "{4} * cos(2 * pi * z)", "0"]
fields = {{radiation_energy = "2 + sin(2 * pi * x) * cos(2 * pi * z)", radiation_flux_x = "0.5"}}

[mesh]
base_cells = [{0}, {0}, {0}]
block_size = {1}

[hydro]
moves = {5}

[radiation]
enabled = true
light_speed = {6}
constant = 1.0
max_substeps = {2}
planck_opacity = {3}
rosseland_opacity = {3}
)toml",
                  request.cells, block_size, request.substeps, name == "transport" ? 0.0 : 10.0,
                  moves ? 1.0 : 0.0, moves, moves ? 100.0 : 1.0),
      "bench radiation", {});
}

// Shortest times of a step, and those that its parts take.
struct RadiationCost {
  double seconds = std::numeric_limits<double>::infinity(), cpu_seconds = seconds;
  double transport = seconds, chemistry = seconds;
};

// Shortest times of a step of the gas, which consists of substeps of the radiation.
RadiationCost measure_case(const Communicator& communicator, const RadiationRequest& request,
                           const std::string& name, int block_size) {
  AmrOptions options =
      name == "photons" ? ionised_region(request, block_size) : wave(request, name, block_size);
  AmrSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  RadiationCost cost;
  for (int n = 0; n <= request.repeats; ++n) {
    const double dt = simulation.stable_dt();
    communicator.barrier();
    simulation.timers().reset();
    const std::int64_t cpu = process_cpu_ns();
    const Clock clock;
    simulation.step(dt);
    const double seconds = communicator.max(seconds_with_kernels(clock));
    const auto busy = static_cast<double>(communicator.sum(process_cpu_ns() - cpu));
    simulation.measure();
    if (n == 0) continue;  // first touch of all memory
    cost.seconds = std::min(cost.seconds, seconds);
    cost.cpu_seconds = std::min(cost.cpu_seconds, 1e-9 * busy);
    cost.transport = std::min(cost.transport, simulation.timers().seconds("radiation"));
    cost.chemistry = std::min(cost.chemistry, simulation.timers().seconds("ionization"));
  }
  return cost;
}

void declare(Options& options, RadiationRequest& request) {
  options.choice("--case", request.cases, "Benchmark case");
  options.counts("--block-size", request.block_sizes,
                 "Number of cells along each side of a block, one or several");
  options.count("--cells", request.cells, "Number of cells along each axis");
  options.count("--substeps", request.substeps, "Number of substeps per step");
  options.count("--repeats", request.repeats, "Number of steps; the shortest times are reported");
}

void measure_all(const RadiationRequest& request, const Communicator& communicator,
                 Report& report) {
  constexpr const char* k_row = "{:<12} {:>6} {:>14} {:>16} {:>16}";
  report.line(fmt::format("{} rank(s), {}^3 cells, {} substeps per step; shortest of {}\n",
                          communicator.size(), request.cells, request.substeps, request.repeats));
  report.line(
      fmt::format(k_row, "case", "block", "substeps M/s", "substeps M/cpu s", "kernels only M/s"));
  const double work = 1.0 * request.cells * request.cells * request.cells * request.substeps;
  for (const std::string& name : request.cases.selected())
    for (const int block_size : request.block_sizes) {
      const RadiationCost cost = measure_case(communicator, request, name, block_size);
      report.line(fmt::format(k_row, name, block_size,
                              fmt::format("{:.2f}", 1e-6 * work / cost.seconds),
                              fmt::format("{:.2f}", 1e-6 * work / cost.cpu_seconds),
                              fmt::format("{:.2f}", 1e-6 * work / cost.transport)));
      JsonObject object;
      object.add("case", name)
          .add("block_size", block_size)
          .add("cells", request.cells)
          .add("ranks", communicator.size())
          .add("seconds", cost.seconds)
          .add("cpu_seconds", cost.cpu_seconds)
          .add("transport_seconds", cost.transport)
          .add("chemistry_seconds", cost.chemistry)
          .add("cell_substeps_per_second", work / cost.seconds);
      report.add(object);
    }
}

}  // namespace

int radiation_bench(const std::vector<std::string>& words) {
  return run_command<RadiationRequest>("radiation",
                                       "Transport of radiation and its exchange with the gas",
                                       declare, measure_all, words);
}

}  // namespace octant::bench
