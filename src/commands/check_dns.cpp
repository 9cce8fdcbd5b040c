#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/runtime.hpp"
#include "commands/check_report.hpp"
#include "commands/command_line.hpp"
#include "dns_model/dns_simulation.hpp"
#include "run/commands.hpp"
#include "run/memory_need.hpp"

namespace octant {

namespace {

// Nanoseconds of one core per cell and step for the time estimate: conservative values for
// explicit, z-implicit and implicit diffusion.
constexpr double k_nanoseconds[] = {80.0, 100.0, 180.0};

// Maximum cells of the two coarser grids from which larger grids are extrapolated.
constexpr double k_most_cells[] = {64.0 * 64 * 64, 96.0 * 96 * 96};
constexpr int k_fewest_along_axis = 8;

double cell_count(const DnsOptions& options) {
  const auto& cells = options.grid.cells;
  return 1.0 * cells[0] * cells[1] * cells[2];
}

// Resources of a flow on a grid.
struct Need {
  double cells = 0.0, bytes = 0.0, step = 0.0;  // bytes: peak of the largest rank
  double measured_cells = 0.0;                  // largest grid that was built
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

// Options of the same run on a grid of about `most_cells` cells. Cell heights from a file fix the
// number of cells along z.
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

// Extrapolates linearly in the number of cells for memory, and by a power law for the time step.
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
  report.add_end("time.end", fmt::format("time {:.6g}", options.time.end), options.time.max_steps);
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
  const auto options = read_options<DnsOptions>(request, communicator);
  CheckReport report;
  describe_run(options, report);
  if (!why_no_kernels().empty()) {
    report.note(why_no_kernels());
    report.answer_least_memory("the fields of the flow",
                               DnsSimulation::least_bytes(options) / communicator.size());
    describe_files(options, report);
    report.print(communicator, request, options.resolved());
    return k_done;
  }
  const Need need = estimate_need(communicator, options, request);
  const double steps = std::min(options.time.end / need.step, 1.0 * options.time.max_steps);
  const double cost = 1e-9 * k_nanoseconds[static_cast<int>(options.flow.diffusion)];
  const double seconds = steps * need.cells * cost / communicator.size();
  report.table = memory_table(communicator, need.measured_cells);
  report.add("cost", "about {:.0f} steps of {:.3g}, if the maximum velocity does not change: {}",
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

}  // namespace octant
