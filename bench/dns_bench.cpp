#include "bench/dns_bench.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/pencil_options.hpp"
#include "bench/report.hpp"
#include "bench/triad.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
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
  options.flow.pencil_axis = value_named<Axis>(dns_case.pencil_axis).value();
  options.pencil.process_grid = dns_case.process_grid;
  options.pencil.transpose = value_named<pencil::TransposeBackend>(dns_case.transpose);
  options.problem->prepare({options.make_grid(), options.make_boundaries(), options.flow});
  return options;
}

constexpr double k_step = 5e-4;

// Speed of a result relative to the first one of its series.
struct Scaling {
  std::string pattern;  // of process grids, as given
  double speed_up, efficiency;
};

// Seconds and bytes so far, for differences over a step.
struct Meter {
  std::vector<DnsPart> parts;  // `mean` contains the seconds
  DnsTraffic poisson, diffusion, halo, rows;

  explicit Meter(const dns::Flow& flow) {
    const dns::StepSeconds& s = flow.seconds();
    const pencil::PoissonReport p = flow.poisson_report(), d = flow.diffusion_report();
    add_solver(DnsGroup::poisson, p, "divergence", s.poisson);
    add_solver(DnsGroup::diffusion, d, "other", s.diffusion);
    for (const auto& [name, seconds] :
         {std::pair("momentum", s.momentum), {"correction", s.correction}, {"halo", s.ghosts}})
      parts.push_back({DnsGroup::rest, name, seconds, 0.0});
    for (const pencil::TransposeTraffic& traffic : {p.xy, p.z, p.turn}) add(traffic, poisson);
    for (const pencil::TransposeTraffic& traffic : {d.xy, d.z, d.turn}) add(traffic, diffusion);
    for (const ExchangeCount& count : flow.halo_report()) add(count, halo);
    add(flow.row_report(), rows);
  }

  // Bytes sent for all purposes.
  double bytes() const { return poisson.bytes + diffusion.bytes + halo.bytes + rows.bytes; }

 private:
  // Adds the bytes and messages of a report.
  template <class Count>
  static void add(const Count& count, DnsTraffic& sum) {
    sum.bytes += static_cast<double>(count.bytes);
    sum.messages += static_cast<double>(count.messages);
  }
  // Adds the parts of a solver; `rest` names the part of `whole` that is not in the report.
  void add_solver(DnsGroup group, const pencil::PoissonReport& r, const char* rest, double whole) {
    const double known =
        r.transform_seconds + r.tridiagonal_seconds + r.xy.seconds + r.z.seconds + r.turn.seconds;
    for (const auto& [name, seconds] : {std::pair("FFT", r.transform_seconds),
                                        {"tridiagonal", r.tridiagonal_seconds},
                                        {"x-y transposes", r.xy.seconds},
                                        {"y-z transposes", r.z.seconds},
                                        {"x-z transposes", r.turn.seconds},
                                        {rest, whole - known}})
      parts.push_back({group, name, seconds, 0.0});
  }
};

// Purposes of messages.
struct TrafficKind {
  const char* name;
  DnsTraffic DnsResult::*of_result;
  DnsTraffic Meter::*of_meter;
};
constexpr TrafficKind k_traffic[] = {
    {"Poisson", &DnsResult::poisson, &Meter::poisson},
    {"implicit diffusion", &DnsResult::diffusion, &Meter::diffusion},
    {"halo", &DnsResult::halo, &Meter::halo},
    {"whole rows", &DnsResult::rows, &Meter::rows}};

// Adds step n of `steps` to the means and minima of a rank.
void add_step(const Meter& before, const Meter& after, int n, int steps, DnsResult& result) {
  if (n == 0) result.parts = after.parts;
  for (std::size_t p = 0; p < result.parts.size(); ++p) {
    DnsPart& part = result.parts[p];
    const double seconds = after.parts[p].mean - before.parts[p].mean;
    part.mean = (n == 0 ? 0.0 : part.mean) + seconds / steps;
    part.least = n == 0 ? seconds : std::min(part.least, seconds);
  }
  result.bytes_sent = after.bytes() - before.bytes();
  for (const auto traffic : k_traffic)
    result.*traffic.of_result = {
        (after.*traffic.of_meter).bytes - (before.*traffic.of_meter).bytes,
        (after.*traffic.of_meter).messages - (before.*traffic.of_meter).messages};
}

const char* name_of_group(DnsGroup group) {
  return group == DnsGroup::poisson ? "Poisson" : "implicit diffusion";
}

double bytes_per_second(const DnsResult& r) {
  return r.bytes_moved_per_cell() * r.cells() / r.seconds;
}

// Nanoseconds per cell of all parts, by group.
JsonObject json_of_parts(const DnsResult& r, double DnsPart::*seconds) {
  JsonObject parts;
  const auto nanoseconds = [&](const DnsPart& part) { return 1e9 * part.*seconds / r.cells(); };
  for (const DnsGroup group : {DnsGroup::poisson, DnsGroup::diffusion, DnsGroup::rest}) {
    const bool is_solver = group != DnsGroup::rest;
    const std::string prefix = is_solver ? name_of_group(group) + std::string(": ") : "";
    if (is_solver) parts.add(name_of_group(group), nanoseconds(r.sum(group)));
    for (const DnsPart& part : r.parts)
      if (part.group == group) parts.add(prefix + part.name, nanoseconds(part));
  }
  return parts;
}

// Bytes or messages per step, by purpose.
JsonObject json_of_traffic(const DnsResult& r, double DnsTraffic::*amount) {
  JsonObject object;
  for (const TrafficKind& kind : k_traffic) object.add(kind.name, r.*kind.of_result.*amount);
  return object;
}

JsonObject json(const DnsResult& r, const Scaling& scaling, double triad) {
  JsonObject object;
  object.add("cells_x", r.dns_case.cells[0])
      .add("cells_y", r.dns_case.cells[1])
      .add("cells_z", r.dns_case.cells[2])
      .add("diffusion", r.dns_case.diffusion)
      .add("poisson", r.dns_case.poisson)
      .add("ranks", r.ranks)
      .add("process_grid", r.process_grid)
      .add("pattern", scaling.pattern)
      .add("transpose", r.transpose)
      .add("schedule", r.schedule)
      .add("pencil_axis", r.dns_case.pencil_axis)
      .add("seconds_per_step", r.seconds)
      .add("mean_seconds_per_step", r.mean_seconds)
      .add("speed_up", scaling.speed_up)
      .add("efficiency", scaling.efficiency)
      .add("nanoseconds_per_cell", r.nanoseconds_per_cell())
      .add("cpu_nanoseconds_per_cell", r.cpu_nanoseconds_per_cell())
      .add("bytes_sent_per_step", r.bytes_sent)
      .add("bytes_by_purpose", json_of_traffic(r, &DnsTraffic::bytes))
      .add("messages_by_purpose", json_of_traffic(r, &DnsTraffic::messages))
      .add("fields_of_memory", r.fields_of_memory)
      .add("scaled_divergence", r.scaled_divergence)
      .add("triad_bytes_per_second", triad)
      .add("parts_mean", json_of_parts(r, &DnsPart::mean))
      .add("parts_least", json_of_parts(r, &DnsPart::least));
  if (r.moves_planes())
    object.add("bytes_moved_per_cell", r.bytes_moved_per_cell())
        .add("bytes_moved_per_second", bytes_per_second(r));
  return object;
}

constexpr const char* k_dns_row =
    "{:<14} {:<11} {:<8} {:<7} {:<6} {:>6} {:>9} {:>9} {:>7} {:>7} "
    "{:>9} {:>7} {:>9} {:>9} {:>6}";

std::string heading() {
  return fmt::format(k_dns_row, "cells", "diffusion", "schedule", "pencils", "lines", "ranks",
                     "transpose", "ms", "ns", "cpu ns", "MB", "fields", "div", "speed-up", "eff");
}

std::string row(const DnsResult& r, const Scaling& scaling) {
  const auto& cells = r.dns_case.cells;
  return fmt::format(
      k_dns_row, fmt::format("{}x{}x{}", cells[0], cells[1], cells[2]), r.dns_case.diffusion,
      r.schedule, r.dns_case.pencil_axis, r.dns_case.poisson, r.process_grid, r.transpose,
      fmt::format("{:.2f}", 1e3 * r.seconds), fmt::format("{:.1f}", r.nanoseconds_per_cell()),
      fmt::format("{:.1f}", r.cpu_nanoseconds_per_cell()),
      fmt::format("{:.3f}", 1e-6 * r.bytes_sent), fmt::format("{:.1f}", r.fields_of_memory),
      fmt::format("{:.1e}", r.scaled_divergence), fmt::format("{:.2f}", scaling.speed_up),
      fmt::format("{:.0f}%", 100.0 * scaling.efficiency));
}

// Lists the parts of a group that take time.
std::string list_of_parts(const DnsResult& r, DnsGroup group, double DnsPart::*seconds) {
  std::string text;
  for (const DnsPart& part : r.parts)
    if (part.group == group && part.mean > 0.0)
      text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", part.name,
                          1e9 * part.*seconds / r.cells());
  return text;
}

std::string breakdown(const DnsResult& r, const char* title, double DnsPart::*seconds) {
  std::string text = fmt::format("    {}", title);
  for (const DnsGroup group : {DnsGroup::poisson, DnsGroup::diffusion}) {
    const DnsPart sum = r.sum(group);
    if (sum.mean > 0.0)
      text += fmt::format(" {} {:.1f} ({}),", name_of_group(group), 1e9 * sum.*seconds / r.cells(),
                          list_of_parts(r, group, seconds));
  }
  return text + " " + list_of_parts(r, DnsGroup::rest, seconds);
}

std::string traffic(const DnsResult& r) {
  std::string text = "    sent per step, kB (messages):";
  for (const TrafficKind& kind : k_traffic)
    text +=
        fmt::format(" {} {:.0f} ({:.0f}){}", kind.name, 1e-3 * (r.*kind.of_result).bytes,
                    (r.*kind.of_result).messages, kind.of_result == &DnsResult::rows ? "" : ",");
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
  Choice pencil_axes{{"x", "z"}, "x"};
  std::string process_grids = "auto";
  std::vector<int> ranks;  // none: those of the run
  bool weak = false;
  int steps = 20;

  std::vector<DnsCase> selected(int on_ranks) const {
    std::vector<DnsCase> all;
    for (const std::string& axis : pencil_axes.selected())
      for (const std::string& method : methods.selected())
        for (const std::string& diffusion : diffusions.selected()) {
          all.push_back(common);
          all.back().cells = {cells[0], cells[1], weak ? cells[2] * on_ranks : cells[2]};
          all.back().diffusion = diffusion;
          all.back().poisson = method;
          all.back().pencil_axis = axis;
        }
    return all;
  }
};

void declare(Options& options, DnsRequest& request) {
  options.shape("--cells", request.cells, 4);
  options.choice("--diffusion", request.diffusions, "Time integration of diffusion");
  options.choice("--poisson", request.methods, "Parallel tridiagonal solver along z");
  options.choice("--pencil-axis", request.pencil_axes,
                 "Axis along which each rank stores whole lines (dns.pencil_axis); z requires the "
                 "schedule batches");
  options.text("--process-grid", request.process_grids,
               "Numbers of ranks along y and z, one or several: 2x4, auto, all, or with a star for "
               "the number that fits, such as *x1,1x*,*x2");
  options.counts("--ranks", request.ranks,
                 "Numbers of ranks to be measured one after the other, at most those of the run");
  options.flag("--weak", request.weak, "Weak scaling: --cells along z are those of each rank");
  options.one_of("--transpose", request.common.transpose,
                 {"auto", "pairwise", "p2p", "alltoall", "ksection", "shared"},
                 "Communication backend of transposes");
  options.one_of("--schedule", request.common.schedule, {"auto", "planes", "batches"},
                 "Schedule of a step");
  options.count("--steps", request.steps, "Number of steps per case");
}

// Measurements on increasing numbers of ranks.
class ScalingTable {
 public:
  ScalingTable(const DnsRequest& request, Report& report) : request_(request), report_(report) {}

  // Measures all cases on the ranks of a communicator; lists those that are not possible.
  // Collective.
  void measure(const Communicator& communicator) {
    const double triad = triad_bytes_per_second(communicator);
    for (const DnsCase& dns_case : request_.selected(communicator.size()))
      for (const GridChoice& choice :
           grid_choices(request_.process_grids, communicator.size(), dns_case.cells)) {
        DnsCase now = dns_case;
        now.process_grid = choice.grid ? pencil::to_string(*choice.grid) : "auto";
        reason_ = choice.reason;
        if (reason_.empty()) measure(communicator, now, choice.pattern, triad);
        if (!reason_.empty())
          report_.line(fmt::format("{} {}, process grid {} of {} rank(s): not possible: {}",
                                   now.poisson, now.diffusion, choice.pattern, communicator.size(),
                                   reason_));
      }
  }

  // Throws InputError with the last reason if no case was possible.
  void require_rows() const {
    if (rows_ == 0) throw InputError("octant bench dns: no case is possible: {}", reason_);
  }

 private:
  void measure(const Communicator& communicator, const DnsCase& dns_case,
               const std::string& pattern, double triad) {
    DnsResult result;
    try {
      result = measure_dns(communicator, dns_case, request_.steps);
    } catch (const InputError& error) {  // on all ranks
      reason_ = error.what();
      return;
    }
    ++rows_;
    const Scaling scaling = compare(result, pattern);
    report_.line(row(result, scaling));
    report_.line(breakdown(result, "mean: ", &DnsPart::mean));
    report_.line(breakdown(result, "least:", &DnsPart::least));
    if (result.ranks > 1) report_.line(traffic(result));
    if (result.moves_planes()) report_.line(bandwidth(result, triad));
    report_.add(json(result, scaling, triad));
  }

  // Compares with the first row of the same series.
  Scaling compare(const DnsResult& r, const std::string& pattern) {
    const std::string series =
        fmt::format("{} {} {} {}", r.dns_case.pencil_axis, r.dns_case.poisson, r.dns_case.diffusion,
                    pattern == "all" ? r.process_grid : pattern);
    const auto& [cells, seconds, ranks] =
        first_.try_emplace(series, First{r.cells(), r.seconds, r.ranks}).first->second;
    const double speed_up = r.cells() / cells * seconds / r.seconds;
    return {pattern, speed_up, speed_up * ranks / r.ranks};
  }

  struct First {
    double cells, seconds;
    int ranks;
  };
  const DnsRequest& request_;
  Report& report_;
  std::map<std::string, First> first_;
  int rows_ = 0;
  std::string reason_;  // why the last case was not possible
};

void measure_all(const DnsRequest& request, const Communicator& communicator, Report& report) {
  std::vector<int> counts = request.ranks;
  if (counts.empty()) counts.push_back(communicator.size());
  for (const int ranks : counts)
    if (ranks > communicator.size())
      throw InputError("--ranks {}: this run has {} rank(s); expected at most as many", ranks,
                       communicator.size());
  report.line(fmt::format(
      "{} step(s) per case\nns: wall-clock time of the fastest step per grid cell; MB: sent per "
      "step by the busiest rank\nfields: memory of a rank divided by that of a field; div: largest "
      "divergence relative to speed / cell size\nspeed-up, eff: cells per second, also per rank, "
      "relative to the first row with the same methods and process grids\nmean, least: time of "
      "each part per grid cell over the steps, on its slowest rank [ns]\n",
      request.steps));
  report.line(heading());
  ScalingTable table(request, report);
  for (const int ranks : counts) {
    const bool takes_part = communicator.rank() < ranks;
    const Communicator part = communicator.split(takes_part ? 0 : 1);
    communicator.collective_try([&] {
      if (takes_part) table.measure(part);
    });
  }
  communicator.collective_try([&] {
    if (communicator.is_root()) table.require_rows();
  });
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

DnsPart DnsResult::sum(DnsGroup group) const {
  DnsPart all{group, "", 0.0, 0.0};
  for (const DnsPart& part : parts)
    if (part.group == group) {
      all.mean += part.mean;
      all.least += part.least;
    }
  return all;
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
    const double cpu = 1e-9 * static_cast<double>(communicator.sum(process_cpu_ns() - cpu_before));
    if (n == 0 || cpu < result.cpu_seconds) result.cpu_seconds = cpu;
    if (n == 0 || seconds < result.seconds) result.seconds = seconds;
    result.mean_seconds += seconds / steps;
    add_step(before, Meter(simulation.flow()), n, steps, result);
  }
  for (DnsPart& part : result.parts) {
    part.mean = communicator.max(part.mean);
    part.least = communicator.max(part.least);
  }
  result.bytes_sent = communicator.max(result.bytes_sent);
  for (const TrafficKind& kind : k_traffic) {
    DnsTraffic& traffic = result.*kind.of_result;
    traffic = {communicator.max(traffic.bytes), communicator.max(traffic.messages)};
  }
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
