#include "bench/dns_bench.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/report.hpp"
#include "bench/triad.hpp"
#include "core/clock.hpp"
#include "core/memory.hpp"
#include "dns_model/dns_simulation.hpp"

namespace octant::bench {

namespace {

// Turbulent channel at its usual resolution; the step is far below the stability limit.
DnsOptions run_options(const DnsCase& dns_case) {
  DnsOptions options;
  options.problem = problems::make_flow_problem("channel");
  options.grid.cells = dns_case.cells;
  options.grid.size = {12.0, 6.0, 2.0};
  options.grid.stretching = dns::Stretching::tanh;
  options.flow.viscosity = 1.0 / 2800.0;
  options.flow.diffusion = value_named<dns::Diffusion>(dns_case.diffusion).value();
  options.flow.poisson = value_named<pencil::TridiagonalMethod>(dns_case.poisson).value();
  options.flow.forcing = dns::Forcing::bulk_velocity;
  options.flow.schedule = value_named<dns::ScheduleKind>(dns_case.schedule);
  options.pencil.process_grid = dns_case.process_grid;
  options.pencil.transpose = value_named<pencil::TransposeBackend>(dns_case.transpose);
  options.problem->prepare({options.make_grid(), options.make_boundaries(), options.flow});
  return options;
}

constexpr double k_step = 5e-4;

// Seconds and bytes so far, for differences over a step.
struct Meter {
  std::vector<std::pair<std::string, double>> parts;
  double bytes = 0.0;

  explicit Meter(const dns::Flow& flow) {
    const dns::StepSeconds& s = flow.seconds();
    const pencil::PoissonReport p = flow.poisson_report(), d = flow.diffusion_report();
    const double pressure =
        p.transform_seconds + p.tridiagonal_seconds + p.xy.seconds + p.z.seconds;
    const double velocity =
        d.transform_seconds + d.tridiagonal_seconds + d.xy.seconds + d.z.seconds;
    parts = {{"momentum", s.momentum},
             {"FFT", p.transform_seconds + d.transform_seconds},
             {"tridiagonal", p.tridiagonal_seconds + d.tridiagonal_seconds},
             {"transposes x-y", p.xy.seconds + d.xy.seconds},
             {"transposes y-z", p.z.seconds + d.z.seconds},
             {"implicit diffusion", s.diffusion - velocity},
             {"divergence", s.poisson - pressure},
             {"correction", s.correction},
             {"halo", s.ghosts}};
    bytes = static_cast<double>(p.xy.bytes + p.z.bytes + d.xy.bytes + d.z.bytes);
    for (const ExchangeCount& count : flow.halo_report()) bytes += static_cast<double>(count.bytes);
  }
};

double bytes_per_second(const DnsResult& r) {
  return r.bytes_moved_per_cell() * r.cells() / r.seconds;
}

JsonObject json(const DnsResult& r, double triad) {
  JsonObject parts;
  for (const auto& [name, seconds] : r.parts) parts.add(name, 1e9 * seconds / r.cells());
  JsonObject object;
  object.add("cells_x", r.dns_case.cells[0])
      .add("cells_y", r.dns_case.cells[1])
      .add("cells_z", r.dns_case.cells[2])
      .add("diffusion", r.dns_case.diffusion)
      .add("poisson", r.dns_case.poisson)
      .add("ranks", r.ranks)
      .add("process_grid", r.process_grid)
      .add("transpose", r.transpose)
      .add("schedule", r.schedule)
      .add("seconds_per_step", r.seconds)
      .add("nanoseconds_per_cell", r.nanoseconds_per_cell())
      .add("cpu_nanoseconds_per_cell", r.cpu_nanoseconds_per_cell())
      .add("bytes_sent_per_step", r.bytes_sent)
      .add("fields_of_memory", r.fields_of_memory)
      .add("scaled_divergence", r.scaled_divergence)
      .add("triad_bytes_per_second", triad)
      .add("parts", parts);
  if (r.moves_planes())
    object.add("bytes_moved_per_cell", r.bytes_moved_per_cell())
        .add("bytes_moved_per_second", bytes_per_second(r));
  return object;
}

constexpr const char* k_dns_row =
    "{:<14} {:<11} {:<8} {:<6} {:>6} {:>9} {:>9} {:>7} {:>7} "
    "{:>9} {:>7} {:>9}";

std::string row(const DnsResult& r) {
  const auto& cells = r.dns_case.cells;
  return fmt::format(
      k_dns_row, fmt::format("{}x{}x{}", cells[0], cells[1], cells[2]), r.dns_case.diffusion,
      r.schedule, r.dns_case.poisson, r.process_grid, r.transpose,
      fmt::format("{:.2f}", 1e3 * r.seconds), fmt::format("{:.1f}", r.nanoseconds_per_cell()),
      fmt::format("{:.1f}", r.cpu_nanoseconds_per_cell()),
      fmt::format("{:.3f}", 1e-6 * r.bytes_sent), fmt::format("{:.1f}", r.fields_of_memory),
      fmt::format("{:.1e}", r.scaled_divergence));
}

std::string breakdown(const DnsResult& r) {
  std::string text;
  for (const auto& [name, seconds] : r.parts)
    if (seconds > 0.0)
      text +=
          fmt::format("{}{} {:.1f}", text.empty() ? "    " : ", ", name, 1e9 * seconds / r.cells());
  return text;
}

std::string bandwidth(const DnsResult& r, double triad) {
  return fmt::format("    minimum traffic {:.0f} B per cell: {:.1f} GB/s, {:.0f} % of the triad",
                     r.bytes_moved_per_cell(), 1e-9 * bytes_per_second(r),
                     100.0 * bytes_per_second(r) / triad);
}

struct DnsRequest {
  DnsCase common;
  std::vector<int> cells{128, 64, 72};
  Choice diffusions{names_of_all<dns::Diffusion>(), "all"};
  Choice methods{names_of_all<pencil::TridiagonalMethod>(), "ftm"};
  int steps = 20;

  std::vector<DnsCase> selected() const {
    std::vector<DnsCase> all;
    for (const std::string& method : methods.selected())
      for (const std::string& diffusion : diffusions.selected()) {
        all.push_back(common);
        all.back().cells = {cells[0], cells[1], cells[2]};
        all.back().diffusion = diffusion;
        all.back().poisson = method;
      }
    return all;
  }
};

void declare(Options& options, DnsRequest& request) {
  options.shape("--cells", request.cells, 4);
  options.choice("--diffusion", request.diffusions, "Time integration of diffusion");
  options.choice("--poisson", request.methods, "Parallel tridiagonal solver along z");
  options.text("--process-grid", request.common.process_grid,
               "Number of ranks along y and z, such as 2x4");
  options.one_of("--transpose", request.common.transpose,
                 {"auto", "pairwise", "p2p", "alltoall", "ksection", "shared"},
                 "Communication backend of transposes");
  options.one_of("--schedule", request.common.schedule, {"auto", "planes", "batches"},
                 "Schedule of a step");
  options.count("--steps", request.steps, "Number of steps per case; the fastest is reported");
}

void measure_all(const DnsRequest& request, const Communicator& communicator, Report& report) {
  const double triad = triad_bytes_per_second(communicator);
  report.line(fmt::format(
      "{} rank(s); triad {:.1f} GB/s; fastest of {} steps\nns: wall-clock time of a step per grid "
      "cell; MB: sent per step by the busiest rank\nfields: memory of a rank divided by that of a "
      "field; div: largest divergence relative to speed / cell size\n",
      communicator.size(), 1e-9 * triad, request.steps));
  report.line(fmt::format(k_dns_row, "cells", "diffusion", "schedule", "lines", "ranks",
                          "transpose", "ms", "ns", "cpu ns", "MB", "fields", "div"));
  for (const DnsCase& dns_case : request.selected()) {
    const DnsResult result = measure_dns(communicator, dns_case, request.steps);
    report.line(row(result));
    report.line(breakdown(result));
    if (result.moves_planes()) report.line(bandwidth(result, triad));
    report.add(json(result, triad));
  }
}

}  // namespace

// Counted in doubles, stage by stage. The factors of lines along z are one number for a pair of
// coefficients and for the wave numbers +-k_y, except in the first of the blocks of 16 columns.
double DnsResult::bytes_moved_per_cell() const {
  const double rows = dns_case.cells[1], blocks = std::ceil(dns_case.cells[0] / 16.0);
  const double factors = (blocks + 1.0) / (2.0 * blocks) * (rows / 2.0 + 1.0) / rows;
  const double prediction = 4 + 3;  // reads u, v, w and p, writes u, v and w
  const double right_sides = 12;    // per step: write, read and write, read
  const double settling = 3 + 3;    // implicit diffusion reads and writes u, v and w once more
  const double poisson = 2 + 2 * factors;  // coefficients and factors, forward and backward
  const double correction = 4 + 4;
  double stage = prediction + poisson + correction;
  if (dns_case.diffusion != "explicit") stage += settling;
  // Two operators, for u and v and for w, are factorised and applied.
  if (dns_case.diffusion == "implicit") stage += 2 * 2 * factors;
  return sizeof(double) * (dns::k_stages * stage + right_sides);
}

DnsResult measure_dns(const Communicator& communicator, const DnsCase& dns_case, int steps) {
  DnsResult result;
  result.dns_case = dns_case;
  result.ranks = communicator.size();
  const auto memory_before = static_cast<double>(memory_use().current);
  const DnsOptions options = run_options(dns_case);
  DnsSimulation simulation(communicator, options);
  result.process_grid = pencil::to_string(simulation.tuning().processes);
  result.transpose = name_of(simulation.tuning().backend);
  result.schedule = simulation.flow().schedule();
  simulation.initialise();
  simulation.step(k_step);  // first touch of all memory
  for (int n = 0; n < steps; ++n) {
    const Meter before(simulation.flow());
    communicator.barrier();
    const std::int64_t cpu_before = process_cpu_ns();
    const Clock clock;
    simulation.step(k_step);
    const double seconds = communicator.max(seconds_with_kernels(clock));
    const double cpu = 1e-9 * communicator.sum(process_cpu_ns() - cpu_before);
    if (n == 0 || cpu < result.cpu_seconds) result.cpu_seconds = cpu;
    if (n > 0 && seconds >= result.seconds) continue;
    result.seconds = seconds;
    result.parts = Meter(simulation.flow()).parts;
    for (std::size_t p = 0; p < result.parts.size(); ++p)
      result.parts[p].second -= before.parts[p].second;
    result.bytes_sent = Meter(simulation.flow()).bytes - before.bytes;
  }
  for (auto& [name, seconds] : result.parts) seconds = communicator.max(seconds);
  result.bytes_sent = communicator.max(result.bytes_sent);
  const double field = 8.0 * static_cast<double>(simulation.domain().box.cells());
  const double memory = static_cast<double>(memory_use().current) - memory_before;
  result.fields_of_memory = communicator.max(memory / field);
  simulation.measure();
  result.scaled_divergence = simulation.totals().scaled_divergence;
  return result;
}

int dns_bench(const std::vector<std::string>& words) {
  return run_command<DnsRequest>("dns", "Speed of full channel-flow time steps", declare,
                                 measure_all, words);
}

}  // namespace octant::bench
