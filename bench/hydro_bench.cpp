#include "bench/hydro_bench.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include "amr/amr_simulation.hpp"
#include "bench/command.hpp"
#include "bench/report.hpp"
#include "bench/triad.hpp"
#include "core/clock.hpp"

namespace octant::bench {

namespace {

void run_steps(AmrSimulation& simulation, int steps) {
  for (int n = 0; n < steps; ++n) {
    simulation.adapt();
    simulation.measure();
    simulation.step(simulation.stable_dt());
  }
  Kokkos::fence();
}

// Uses the root's names, because a rank without work may lack a part, or have them in another
// order.
std::vector<std::pair<std::string, double>> slowest_parts(const Timers& timers,
                                                          const Communicator& communicator) {
  auto count = static_cast<std::int64_t>(timers.parts().size());
  communicator.broadcast(count);
  std::vector<std::pair<std::string, double>> parts;
  for (std::int64_t n = 0; n < count; ++n) {
    std::string name = communicator.is_root() ? timers.parts()[n].name : "";
    communicator.broadcast(name);
    const double seconds = communicator.max(timers.seconds(name));
    if (seconds > 0.0) parts.emplace_back(name, seconds);
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  return parts;
}

HydroResult measure_once(const Communicator& communicator, const HydroCase& hydro_case) {
  HydroResult result;
  result.hydro_case = hydro_case;
  result.ranks = communicator.size();
  result.threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  AmrOptions options = run_options(hydro_case);
  AmrSimulation simulation(communicator, options);
  Clock clock;
  simulation.initialise();
  result.initial_seconds = communicator.max(clock.seconds());
  // The first step on a fixed mesh is the first touch of all memory.
  if (hydro_case.is_uniform()) run_steps(simulation, 1);

  simulation.timers().reset();
  const std::int64_t updates_before = simulation.cell_updates();
  communicator.barrier();
  const std::int64_t cpu_before = process_cpu_ns();
  clock.restart();
  run_steps(simulation, hydro_case.coarse_steps());
  result.seconds = communicator.max(clock.seconds());
  result.cpu_seconds = 1e-9 * static_cast<double>(communicator.sum(process_cpu_ns() - cpu_before));
  result.cell_updates = communicator.sum(simulation.cell_updates() - updates_before);
  result.parts = slowest_parts(simulation.timers(), communicator);

  simulation.measure();
  for (const std::int64_t cells : simulation.totals().leaf_cells) result.leaf_cells += cells;
  result.simulated_time = simulation.time();
  return result;
}

JsonObject json(const HydroResult& r, double triad) {
  JsonObject parts;
  for (const auto& [name, seconds] : r.parts) parts.add(name, seconds);
  const HydroCase& c = r.hydro_case;
  JsonObject object;
  object.add("case", c.name)
      .add("scheme", c.scheme)
      .add("reconstruction", c.reconstruction)
      .add("limiter", c.limiter)
      .add("riemann", c.riemann)
      .add("dual_energy", c.dual_energy)
      .add("schedule", c.schedule)
      .add("batch_megabytes", c.batch_megabytes)
      .add("block_size", c.block_size)
      .add("base_cells", c.base_cells())
      .add("steps", c.coarse_steps())
      .add("ranks", r.ranks)
      .add("threads", r.threads)
      .add("cell_updates", r.cell_updates)
      .add("cell_updates_per_second", r.updates_per_second())
      .add("cell_updates_per_second_per_core", r.updates_per_second() / (r.ranks * r.threads))
      .add("cell_updates_per_cpu_second", r.updates_per_cpu_second())
      .add("seconds", r.seconds)
      .add("cpu_seconds", r.cpu_seconds)
      .add("initial_seconds", r.initial_seconds)
      .add("leaf_cells", r.leaf_cells)
      .add("simulated_time", r.simulated_time)
      .add("triad_bytes_per_second", triad)
      .add("parts", parts);
  return object;
}

constexpr const char* k_hydro_row =
    "{:<10} {:<14} {:<4} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11}";

std::string hydro_heading() {
  return fmt::format(k_hydro_row, "case", "scheme", "", "block", "M/s", "M/s core", "M/cpu s",
                     "seconds", "cells", "time");
}

std::string row(const HydroResult& r) {
  const auto million = [](double rate) { return fmt::format("{:.3f}", 1e-6 * rate); };
  const HydroCase& c = r.hydro_case;
  return fmt::format(k_hydro_row, c.name, c.scheme, c.reconstruction, c.block_size,
                     million(r.updates_per_second()),
                     million(r.updates_per_second() / (r.ranks * r.threads)),
                     million(r.updates_per_cpu_second()), fmt::format("{:.3f}", r.seconds),
                     r.leaf_cells, fmt::format("{:.5g}", r.simulated_time));
}

std::string breakdown(const HydroResult& r) {
  std::string text;
  for (const auto& [name, seconds] : r.parts)
    text += fmt::format("{}{} {:.1f}%", text.empty() ? "    " : ", ", name,
                        100.0 * seconds / r.seconds);
  return text;
}

struct HydroRequest {
  Choice cases{{"uniform", "amr_sedov"}, "all"};
  Choice schemes{{"muscl_hancock", "rk2", "rk3"}, "muscl_hancock"};
  Choice reconstructions{{"plm", "ppm", "ppm26", "ppm26_published"}, "plm"};
  std::vector<int> block_sizes{8, 16};
  HydroCase common;
  int repeats = 3;

  std::vector<HydroCase> selected() const {
    std::vector<HydroCase> all;
    for (const std::string& name : cases.selected())
      for (const std::string& scheme : schemes.selected())
        for (const std::string& reconstruction : reconstructions.selected())
          for (const int block_size : block_sizes) {
            if (reconstructions.chosen == "all" && !fits(scheme, reconstruction)) continue;
            all.push_back(common);
            all.back().name = name;
            all.back().scheme = scheme;
            all.back().reconstruction = reconstruction;
            all.back().block_size = block_size;
          }
    return all;
  }
  // Reconstructions with 26 points have no half step in time.
  static bool fits(const std::string& scheme, const std::string& reconstruction) {
    return scheme != "muscl_hancock" || !reconstruction.starts_with("ppm26");
  }
};

void declare(Options& options, HydroRequest& request) {
  options.choice("--case", request.cases, "Smooth flow on one level, or a blast on three levels");
  options.choice("--scheme", request.schemes, "Time integration");
  options.choice("--reconstruction", request.reconstructions, "Spatial reconstruction");
  options.text("--limiter", request.common.limiter, "Slope limiter of plm");
  options.text("--riemann", request.common.riemann, "Riemann solver");
  options.text("--dual-energy", request.common.dual_energy,
               "Dual-energy formalism: off, on or overwrite");
  options.one_of("--schedule", request.common.schedule, {"auto", "host", "device"},
                 "Schedule of the sweeps: tile by tile (host), or in batches (device)");
  options.count("--batch-megabytes", request.common.batch_megabytes,
                "Memory of a batch [MB]; 0: default of a run");
  options.counts("--block-size", request.block_sizes,
                 "Number of cells along each side of a block, one or several");
  options.count("--cells", request.common.cells,
                "Number of base cells along each axis (128 for uniform, 32 for amr_sedov)");
  options.count("--steps", request.common.steps,
                "Number of coarse steps (10 for uniform, 50 for amr_sedov)");
  options.count("--repeats", request.repeats, "Number of runs per case; the median is reported");
}

void measure_all(const HydroRequest& request, const Communicator& communicator, Report& report) {
  const std::vector<HydroCase> cases = request.selected();
  for (const HydroCase& hydro_case : cases) run_options(hydro_case);  // validates all cases first
  const double triad = triad_bytes_per_second(communicator);
  report.line(fmt::format(
      "{} rank(s) of {} thread(s), {} and {}; triad {:.1f} GB/s; median of {}\nM: million "
      "leaf-cell updates in full steps; cpu s: processor seconds summed over all cores\n",
      communicator.size(), Kokkos::DefaultHostExecutionSpace().concurrency(),
      request.common.limiter, request.common.riemann, 1e-9 * triad, request.repeats));
  report.line(hydro_heading());
  for (const HydroCase& hydro_case : cases) {
    const HydroResult result = measure_hydro(communicator, hydro_case, request.repeats);
    report.line(row(result));
    report.line(breakdown(result));
    report.add(json(result, triad));
  }
}

}  // namespace

HydroResult measure_hydro(const Communicator& communicator, const HydroCase& hydro_case,
                          int repeats) {
  std::vector<HydroResult> results;
  std::vector<double> seconds;
  for (int n = 0; n < repeats; ++n) {
    results.push_back(measure_once(communicator, hydro_case));
    seconds.push_back(results.back().seconds);
  }
  return results[median_index(seconds)];
}

int hydro_bench(const std::vector<std::string>& words) {
  return run_command<HydroRequest>("hydro", "Speed of full hydrodynamic time steps", declare,
                                   measure_all, words);
}

}  // namespace octant::bench
