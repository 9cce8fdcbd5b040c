#include "bench/transpose_bench.hpp"

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/pencil_options.hpp"
#include "core/clock.hpp"

namespace octant::bench {

namespace {

using pencil::Orientation;

struct Turn {
  const char* name;
  Orientation from, to;
};
constexpr Turn k_turns[] = {{"x-y", Orientation::x, Orientation::y},
                            {"y-z", Orientation::y, Orientation::z},
                            {"x-z", Orientation::x, Orientation::z}};

constexpr const char* k_transpose_row = "{:<6} {:<5} {:<9} {:>12} {:>16} {:>10} {:>8} {:>8}";

std::string row(const TransposeResult& r, double copy) {
  const auto spread = [](const RankStatistics& s, double unit) {
    return fmt::format("{:.0f}/{:.0f}", unit * s.mean, unit * static_cast<double>(s.most));
  };
  return fmt::format(k_transpose_row, pencil::to_string(r.processes), r.axes, name_of(r.backend),
                     spread(r.messages, 1.0), spread(r.bytes, 1e-3),
                     fmt::format("{:.2e}", r.seconds),
                     fmt::format("{:.2f}", 1e-9 * r.bytes_per_second),
                     fmt::format("{:.0f}%", 100.0 * r.bytes_per_second / copy));
}

JsonObject json(const TransposeResult& r, const pencil::Cells& cells, double copy) {
  JsonObject object;
  object.add("process_grid", pencil::to_string(r.processes))
      .add("axes", r.axes)
      .add("backend", name_of(r.backend))
      .add("ranks", r.processes.ranks())
      .add("cells_x", cells[0])
      .add("cells_y", cells[1])
      .add("cells_z", cells[2])
      .add("messages_mean", r.messages.mean)
      .add("messages_max", r.messages.most)
      .add("bytes_mean", r.bytes.mean)
      .add("bytes_max", r.bytes.most)
      .add("seconds", r.seconds)
      .add("bytes_per_second", r.bytes_per_second)
      .add("copy_bytes_per_second", copy);
  return object;
}

struct TransposeRequest {
  PencilChoice pencils;
  Choice backends{names_of_all<pencil::TransposeBackend>(), "all"};
  int repeats = 20;
};

void declare(Options& options, TransposeRequest& request) {
  declare(options, request.pencils);
  options.choice("--backend", request.backends, "Communication backend");
  options.count("--repeats", request.repeats,
                "Number of timed transposes; the fastest is reported");
}

void measure_all(const TransposeRequest& request, const Communicator& communicator,
                 Report& report) {
  const pencil::Cells cells = request.pencils.shape();
  const auto grids = request.pencils.grids(communicator.size(), 1);
  const double copy = copy_bytes_per_second(
      communicator, std::int64_t{cells[0]} * cells[1] * cells[2] / communicator.size());
  report.line(
      fmt::format("{} x {} x {} cells, {} rank(s); messages and kB: mean/maximum over the ranks "
                  "per transpose; shortest of {}\ncopying the array: {:.2f} GB/s\n",
                  cells[0], cells[1], cells[2], communicator.size(), request.repeats, 1e-9 * copy));
  report.line(fmt::format(k_transpose_row, "ranks", "axes", "backend", "messages", "kB", "seconds",
                          "GB/s", "of copy"));
  for (const pencil::ProcessGrid processes : grids)
    for (const Turn& turn : k_turns)
      for (const std::string& backend : request.backends.selected()) {
        TransposeResult result = measure_transpose(
            communicator, cells, processes, turn.from, turn.to,
            value_named<pencil::TransposeBackend>(backend).value(), request.repeats);
        result.axes = turn.name;
        report.line(row(result, copy));
        report.add(json(result, cells, copy));
      }
}

}  // namespace

TransposeResult measure_transpose(const Communicator& communicator, const pencil::Cells& cells,
                                  pencil::ProcessGrid processes, Orientation from, Orientation to,
                                  pencil::TransposeBackend backend, int repeats) {
  const pencil::PencilGrid grid(communicator, cells, processes);
  auto transpose = pencil::Transpose::between(grid, from, to, backend);
  pencil::Buffer source(static_cast<std::size_t>(grid.box(from).cells()));
  pencil::Buffer target(static_cast<std::size_t>(grid.box(to).cells()));
  TransposeResult result;
  result.processes = processes;
  result.backend = backend;
  result.seconds = 0.5 * min_of_slowest(communicator, repeats, [&] {
                     const Clock clock;
                     transpose.forward(source.data(), target.data());
                     transpose.backward(target.data(), source.data());
                     return seconds_with_kernels(clock);
                   });
  const pencil::TransposeTraffic traffic = transpose.traffic();
  result.messages = rank_statistics(communicator, traffic.messages / traffic.calls);
  result.bytes = rank_statistics(communicator, traffic.bytes / traffic.calls);
  const double entries = static_cast<double>(cells[0]) * cells[1] * cells[2];
  result.bytes_per_second = 2.0 * sizeof(double) * entries / result.seconds;
  return result;
}

int transpose_bench(const std::vector<std::string>& words) {
  return run_command<TransposeRequest>("transpose", "Transposes between pencils", declare,
                                       measure_all, words);
}

}  // namespace octant::bench
