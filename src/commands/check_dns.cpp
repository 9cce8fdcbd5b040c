#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "comm/runtime.hpp"
#include "commands/check_report.hpp"
#include "commands/command_line.hpp"
#include "core/error.hpp"
#include "dns_model/dns_simulation.hpp"
#include "pencil/tuning.hpp"
#include "run/commands.hpp"
#include "run/memory_need.hpp"

namespace octant {

namespace {

// Nanoseconds of one core per cell and step for the time estimate: conservative values for
// explicit, z-implicit and implicit diffusion.
constexpr double k_nanoseconds[] = {80.0, 100.0, 180.0};

// Maximum cells of the two coarser grids from which larger grids are extrapolated.
constexpr double k_max_cells[] = {64.0 * 64 * 64, 96.0 * 96 * 96};
constexpr int k_fewest_along_axis = 8;

double cell_count(const DnsOptions& options) {
  const auto& cells = options.grid.cells;
  return 1.0 * cells[0] * cells[1] * cells[2];
}

// Resources of a flow on a grid.
struct Need {
  double cells = 0.0, bytes = 0.0, step = 0.0;  // bytes: peak of the largest rank
  double measured_cells = 0.0;                  // largest grid that was built
  pencil::ProcessGrid processes;
};

// Number of cells of the largest rank of a process grid.
double largest_part(const DnsOptions& options, pencil::ProcessGrid processes) {
  const auto& cells = options.grid.cells;
  return cells[0] * std::ceil(1.0 * cells[1] / processes.y) *
         std::ceil(1.0 * cells[2] / processes.z);
}

// Ranks of the run to be estimated.
struct Target {
  int ranks = 1;
  std::vector<pencil::ProcessGrid> grids;  // forced, or all that fit
  bool is_given = false;                   // otherwise, the ranks of this process
};

// Throws InputError if no process grid of these ranks fits the run.
Target target_of(const Communicator& communicator, int ranks, const DnsOptions& options,
                 const std::string& file) {
  Target target{ranks > 0 ? ranks : communicator.size(), {}, ranks > 0};
  const auto forced = options.pencil.forced_grid();
  const std::int64_t needed = forced ? std::int64_t{forced->y} * forced->z : 0;
  if (forced && !target.is_given && needed != target.ranks && forced->y > 0 && forced->z > 0)
    throw InputError(
        "grid.process_grid = \"{}\" requires {} ranks, but this check runs on {}; use octant check "
        "{} --ranks {}",
        to_string(*forced), needed, target.ranks, file, needed);
  target.grids = pencil::possible_grids(target.ranks, tuning_problem(options), options.pencil);
  return target;
}

Need measure_need(const Communicator& communicator, const DnsOptions& options) {
  DnsSimulation simulation(communicator, options);
  simulation.initialise();
  simulation.measure();
  return {cell_count(options), communicator.max(static_cast<double>(scarce_memory_use().peak)),
          simulation.stable_dt(), cell_count(options), simulation.tuning().processes};
}

// Returns the numbers of cells of a grid of about `max_cells` cells with the shape of `cells`. Axes
// keep at least k_fewest_along_axis cells, or all if they have fewer or if `keeps_z`; the other
// axes are then coarser.
std::array<int, 3> coarse_cells(const std::array<int, 3>& cells, double max_cells, bool keeps_z) {
  std::array<int, 3> coarse = cells;
  std::array<bool, 3> is_fixed{false, false, keeps_z};
  for (int pass = 0; pass < 3; ++pass) {
    double fixed_cells = 1.0, other_cells = 1.0;
    int others = 0;
    for (int axis = 0; axis < 3; ++axis) {
      (is_fixed[axis] ? fixed_cells : other_cells) *= is_fixed[axis] ? coarse[axis] : cells[axis];
      others += is_fixed[axis] ? 0 : 1;
    }
    if (others == 0) break;
    const double factor = std::pow(max_cells / (fixed_cells * other_cells), 1.0 / others);
    for (int axis = 0; axis < 3; ++axis) {
      if (is_fixed[axis]) continue;
      const int fewest = std::min(cells[axis], k_fewest_along_axis);
      const auto wanted = static_cast<int>(std::lround(factor * cells[axis]));
      is_fixed[axis] = wanted < fewest;
      coarse[axis] = std::clamp(wanted, fewest, cells[axis]);
    }
  }
  return coarse;
}

// Options of the same run on a grid of about `max_cells` cells. Cell heights from a file fix the
// number of cells along z.
DnsOptions coarse_options(const DnsOptions& run, const RunRequest& request, double max_cells) {
  const std::array<int, 3> cells =
      coarse_cells(run.grid.cells, max_cells, run.grid.stretching == dns::Stretching::file);
  auto overrides = request.overrides;
  overrides.push_back(fmt::format("grid.cells=[{}, {}, {}]", cells[0], cells[1], cells[2]));
  DnsOptions options = DnsOptions::from_file(request.file, overrides, *request.files);
  options.pencil = run.pencil;
  return options;
}

// Returns true if all ranks can build the grid with the run's choice of process grids.
bool can_build(const Communicator& communicator, const DnsOptions& options) {
  try {
    pencil::possible_grids(communicator.size(), tuning_problem(options), options.pencil);
    return true;
  } catch (const InputError&) {
    return false;  // the grid is coarser than that of the run, whose process grids were verified
  }
}

// Extrapolates linearly in the number of cells for memory, and by a power law for the time step. If
// both grids are the same, because cell heights from a file prevent coarser ones, the memory is
// proportional to the number of cells, and the time step is that of the grid.
Need extrapolate(const Need& coarse, const Need& fine, double cells) {
  Need need = fine;
  need.cells = cells;
  if (fine.cells == coarse.cells) {
    need.bytes *= cells / fine.cells;
    return need;
  }
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

// Fields of memory for transposes, in addition to those of one rank: along x and y if y is divided,
// and along y and z if z is. Measured by `octant bench dns` on two ranks (column "fields"). With
// implicit diffusion along all axes, each component keeps its messages.
struct TransposeFields {
  double xy, yz;
};
TransposeFields transpose_fields(const DnsOptions& options) {
  const bool all_planes = options.flow.poisson == pencil::TridiagonalMethod::ftm;
  if (options.flow.diffusion == dns::Diffusion::implicit_all) return {8.0, all_planes ? 4.7 : 1.6};
  const bool by_lines = options.flow.diffusion == dns::Diffusion::implicit_z;
  return {1.2, by_lines && all_planes ? 1.0 : 0.4};
}

// Bytes of the largest rank of a process grid, given those of a rank without cells and per cell.
double rank_bytes(const DnsOptions& options, pencil::ProcessGrid processes, double fixed,
                  double per_cell) {
  const auto& cells = options.grid.cells;
  // The second number of ranks divides z, or x with pencils along z.
  const int divided = options.flow.pencil_axis == Axis::z ? 0 : 2;
  const double whole = cells[2 - divided], y = std::ceil(1.0 * cells[1] / processes.y),
               part = std::ceil(1.0 * cells[divided] / processes.z);
  const double own = whole * y * part;
  const double with_ghosts = options.scalar.enabled ? 5.0 : 4.0;
  const double ghosts = with_ghosts * whole * ((y + 2.0) * (part + 2.0) - y * part);
  const TransposeFields fields = transpose_fields(options);
  const double transposes =
      own * ((processes.y > 1 ? fields.xy : 0.0) + (processes.z > 1 ? fields.yz : 0.0));
  return fixed + per_cell * own + sizeof(double) * (ghosts + transposes);
}

// Estimates the memory of the target's ranks from grids that each rank builds alone.
Need estimate_target_need(const Target& target, const Communicator& communicator,
                          const DnsOptions& options, const RunRequest& request) {
  const auto fixed = static_cast<double>(scarce_memory_use().current);
  const Communicator alone = communicator.split(communicator.rank());
  DnsOptions run = DnsOptions::from_file(request.file, request.overrides, *request.files);
  run.pencil.process_grid = "auto";
  const double cells = cell_count(options);
  const bool is_small = cells <= k_max_cells[1] || options.problem->has_own_grid();
  Need fine;
  if (is_small) {
    require_memory(communicator, DnsSimulation::min_bytes(run), "the flow on one rank",
                   "grid.cells");
    fine = measure_need(alone, run);
  } else {
    const Need coarse = measure_need(alone, coarse_options(run, request, k_max_cells[0]));
    fine = measure_need(alone, coarse_options(run, request, k_max_cells[1]));
    fine.step = extrapolate(coarse, fine, cells).step;
  }
  const double per_cell = communicator.max((fine.bytes - fixed) / fine.cells);
  const double most_fixed = communicator.max(fixed);
  Need need{cells, 0.0, fine.step, fine.measured_cells, {}};
  for (const pencil::ProcessGrid grid : target.grids) {
    const double of_grid = rank_bytes(options, grid, most_fixed, per_cell);
    if (need.bytes > 0.0 && of_grid >= need.bytes) continue;
    need.bytes = of_grid;
    need.processes = grid;
  }
  return need;
}

Need estimate_need(const Communicator& communicator, const DnsOptions& options,
                   const RunRequest& request, const Target& target) {
  if (target.is_given) return estimate_target_need(target, communicator, options, request);
  const double cells = cell_count(options);
  if (cells <= k_max_cells[1] || options.problem->has_own_grid()) {
    require_memory(communicator, DnsSimulation::min_bytes(options) / communicator.size(),
                   "the flow", "grid.cells");
    return measure_need(communicator, options);
  }
  Need needs[2];
  for (int n = 0; n < 2; ++n) {
    const DnsOptions coarse = coarse_options(options, request, k_max_cells[n]);
    if (!can_build(communicator, coarse))
      return estimate_target_need(target, communicator, options, request);
    needs[n] = measure_need(communicator, coarse);
  }
  return extrapolate(needs[0], needs[1], cells);
}

// Limits of decompositions along one axis.
void describe_slabs(const DnsOptions& options, CheckReport& report) {
  const auto& cells = options.grid.cells;
  const bool two_planes = options.flow.poisson == pencil::TridiagonalMethod::ptdma;
  const int along_z = two_planes ? cells[2] / 2 : cells[2];
  const bool pencils_along_z = options.flow.pencil_axis == Axis::z;
  report.add("slabs", "at most {} along {} and {} along y; a plane of x and y has {} per field",
             pencils_along_z ? std::min(cells[0], along_z) : along_z, pencils_along_z ? "x" : "z",
             cells[1], size_text(8.0 * cells[0] * cells[1]));
}

}  // namespace

int check_dns(const RunRequest& request, int ranks) {
  const Communicator communicator = Communicator::world();
  const auto options = read_options<DnsOptions>(request, communicator);
  Target target;
  communicator.collective_try(
      [&] { target = target_of(communicator, ranks, options, request.file); });
  CheckReport report;
  describe_run(options, report);
  if (!why_no_kernels().empty()) {
    report.note(why_no_kernels());
    report.answer_least_memory("the fields of the flow",
                               DnsSimulation::min_bytes(options) / target.ranks);
    describe_files(options, report);
    report.print(communicator, request, options.resolved());
    return k_done;
  }
  const Need need = estimate_need(communicator, options, request, target);
  const double steps =
      std::min(options.time.end / need.step, static_cast<double>(options.time.max_steps));
  const double cost = 1e-9 * k_nanoseconds[static_cast<int>(options.flow.diffusion)];
  const double seconds = steps * cost * largest_part(options, need.processes);
  report.table = memory_table(communicator, need.measured_cells);
  report.add("cost", "about {:.0f} steps of {:.3g}, if the maximum velocity does not change: {}",
             steps, need.step, duration_text(seconds));
  report.add("memory", "memory of the largest rank: {:.0f} MB; {} rank(s) as {}{}",
             1e-6 * need.bytes, target.ranks, to_string(need.processes),
             target.grids.size() > 1 && target.is_given
                 ? fmt::format(", the least of {} process grids", target.grids.size())
                 : "");
  if (target.is_given) {
    describe_slabs(options, report);
    report.note("the cost assumes that communication takes no time");
  }
  describe_files(options, report);
  if (need.measured_cells < need.cells)
    report.note(fmt::format("extrapolated from grids of up to {:.4g} cells", need.measured_cells));
  report.answer = fmt::format("about {:.0f} steps, {}, {:.0f} MB per rank", steps,
                              duration_text(seconds), 1e-6 * need.bytes);
  report.print(communicator, request, options.resolved(), [&] {
    if (!target.is_given) require_memory(communicator, need.bytes, "the run", "grid.cells");
  });
  return k_done;
}

}  // namespace octant
