#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/runtime.hpp"
#include "driver/check_report.hpp"
#include "driver/command_line.hpp"
#include "driver/commands.hpp"
#include "driver/dns_simulation.hpp"
#include "driver/memory_need.hpp"
#include "driver/memory_table.hpp"

namespace octant::driver {

namespace {

// Nanoseconds of one core per cell and step, for the estimate of time: cautious round numbers for
// explicit, z-implicit and implicit diffusion.
constexpr double k_nanoseconds[] = {80.0, 100.0, 180.0};

// Larger grids are judged by two coarser ones, of so many cells at most.
constexpr double k_most_cells[] = {64.0 * 64 * 64, 96.0 * 96 * 96};
constexpr int k_fewest_along_axis = 8;

double cell_count(const DnsOptions& options) {
  const auto& cells = options.grid.cells;
  return 1.0 * cells[0] * cells[1] * cells[2];
}

// What a flow takes on a grid.
struct Need {
  double cells = 0.0, bytes = 0.0, step = 0.0;  // memory of the largest rank
  double measured_cells = 0.0;                  // of the largest grid that was made for that
  std::string processes;
};

Need measure_need(const Communicator& communicator, const DnsOptions& options) {
  DnsSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  return {cell_count(options), communicator.max(static_cast<double>(scarce_memory_use().peak)),
          simulation.stable_dt(), cell_count(options),
          pencil::to_string(simulation.tuning().processes)};
}

// The same run on a grid of so many cells. Heights from a file have only their own number of cells.
DnsOptions coarse_options(const DnsOptions& run, const RunRequest& request, double most_cells) {
  const double factor = std::cbrt(most_cells / cell_count(run));
  std::array<int, 3> cells = run.grid.cells;
  for (int axis = 0; axis < (run.grid.stretching == dns::Stretching::file ? 2 : 3); ++axis)
    cells[axis] = std::clamp(static_cast<int>(std::lround(factor * cells[axis])),
                             std::min(cells[axis], k_fewest_along_axis), cells[axis]);
  auto overrides = request.overrides;
  overrides.push_back(fmt::format("grid.cells=[{}, {}, {}]", cells[0], cells[1], cells[2]));
  return DnsOptions::from_file(request.file, overrides);
}

// Memory grows with the cells, and steps shrink with a power of them.
Need extrapolate(const Need& coarse, const Need& fine, double cells) {
  Need need = fine;
  need.cells = cells;
  need.bytes += (fine.bytes - coarse.bytes) / (fine.cells - coarse.cells) * (cells - fine.cells);
  const double power = std::log(fine.step / coarse.step) / std::log(fine.cells / coarse.cells);
  need.step *= std::pow(cells / fine.cells, power);
  return need;
}

void describe_run(const DnsOptions& options, CheckReport& report) {
  const auto& grid = options.grid;
  report.add("run", "model \"dns\", problem \"{}\"", options.problem_name);
  report.add("physics", "incompressible flow, viscosity {:.6g}{}", options.flow.viscosity,
             options.scalar.enabled ? ", with a scalar" : "");
  report.add("grid", "{} x {} x {} cells, {:.6g} x {:.6g} x {:.6g}", grid.cells[0], grid.cells[1],
             grid.cells[2], grid.size[0], grid.size[1], grid.size[2]);
  report.add_end("time.end", options.time.end, options.time.max_steps);
}

void describe_files(const DnsOptions& options, CheckReport& report) {
  const double fields = options.scalar.enabled ? 5.0 : 4.0;
  const double bytes = cell_count(options) * fields * 8.0;
  report.add_files(options.output,
                   {0.0, options.time.end, options.output.snapshot_times,
                    options.output.precision == Precision::float32 ? bytes / 2.0 : bytes, bytes});
}

Need estimate_need(const Communicator& communicator, const DnsOptions& options,
                   const RunRequest& request) {
  const double cells = cell_count(options);
  if (cells <= k_most_cells[1] || options.problem->has_own_grid()) {
    require_memory(communicator, DnsSimulation::least_bytes(options) / communicator.size(),
                   "the flow", "grid.cells");
    return measure_need(communicator, options);
  }
  Need needs[2];
  for (int n = 0; n < 2; ++n)
    needs[n] = measure_need(communicator, coarse_options(options, request, k_most_cells[n]));
  return extrapolate(needs[0], needs[1], cells);
}

}  // namespace

int check_dns(const RunRequest& request) {
  const Communicator communicator = Communicator::world();
  DnsOptions options;
  communicator.agree([&] {
    options = DnsOptions::from_file(request.file, request.overrides);
    if (!request.output.empty()) options.output.directory = request.output;
  });
  CheckReport report;
  describe_run(options, report);
  if (!why_no_kernels().empty()) {
    const double bytes = DnsSimulation::least_bytes(options) / communicator.size();
    report.note(why_no_kernels());
    report.add("memory", "the fields of the flow alone need {:.0f} MB per rank", 1e-6 * bytes);
    describe_files(options, report);
    report.answer = fmt::format("at least {:.0f} MB per rank", 1e-6 * bytes);
    report.print(communicator, request, options.resolved());
    return k_done;
  }
  const Need need = estimate_need(communicator, options, request);
  const double steps = std::min(options.time.end / need.step, 1.0 * options.time.max_steps);
  const double cost = 1e-9 * k_nanoseconds[static_cast<int>(options.flow.diffusion)];
  const double seconds = steps * need.cells * cost / communicator.size();
  report.table = memory_table(communicator, need.measured_cells);
  report.add("cost", "about {:.0f} steps of {:.3g}, if the flow stays as fast as at first: {}",
             steps, need.step, duration_text(seconds));
  report.add("memory", "memory of the largest rank: {:.0f} MB; ranks as {}", 1e-6 * need.bytes,
             need.processes);
  describe_files(options, report);
  if (need.measured_cells < need.cells)
    report.note(fmt::format("extrapolated from grids of up to {:.4g} cells", need.measured_cells));
  report.answer = fmt::format("about {:.0f} steps, {}, {:.0f} MB per rank", steps,
                              duration_text(seconds), 1e-6 * need.bytes);
  report.print(communicator, request, options.resolved(),
               [&] { require_memory(communicator, need.bytes, "the run", "grid.cells"); });
  return k_done;
}

}  // namespace octant::driver
