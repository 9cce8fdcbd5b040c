#include "bench/transpose_bench.hpp"

#include <sstream>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/pencil_options.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"

namespace octant::bench {

namespace {

using pencil::Orientation;

Orientation orientation_of(const std::string& name, const std::string& route) {
  if (name == "x") return Orientation::x;
  if (name == "y") return Orientation::y;
  if (name == "z") return Orientation::z;
  if (name == "zd") return Orientation::z_direct;
  throw InputError(
      "--routes {}: \"{}\" is no orientation of pencils; expected x, y, z or zd (z within a "
      "column)",
      route, name);
}

constexpr const char* k_transpose_row = "{:<6} {:<10} {:<9} {:>12} {:>16} {:>10} {:>8} {:>8}";

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
  std::string routes = "x-y,y-z,x-z";
  int repeats = 20;

  // Texts of the routes.
  std::vector<std::string> selected() const {
    std::vector<std::string> all;
    std::istringstream entries(routes);
    for (std::string entry; std::getline(entries, entry, ',');) all.push_back(entry);
    return all;
  }
};

void declare(Options& options, TransposeRequest& request) {
  declare(options, request.pencils);
  options.choice("--backend", request.backends, "Communication backend");
  options.text("--routes", request.routes,
               "Orientations of pencils that an array passes through, one or several routes: x-y, "
               "x-y-z, x-zd (direct, within a column), zd-x-y-z");
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
    for (const std::string& route : request.selected())
      for (const std::string& backend : request.backends.selected()) {
        TransposeResult result = measure_transpose(
            communicator, cells, processes, route_of(route),
            value_named<pencil::TransposeBackend>(backend).value(), request.repeats);
        result.axes = route;
        report.line(row(result, copy));
        report.add(json(result, cells, copy));
      }
}

}  // namespace

Route route_of(const std::string& text) {
  Route route;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, '-');)
    route.push_back(orientation_of(name, text));
  if (route.size() < 2)
    throw InputError("--routes {}: expected at least two orientations, such as x-y", text);
  return route;
}

TransposeResult measure_transpose(const Communicator& communicator, const pencil::Cells& cells,
                                  pencil::ProcessGrid processes, const Route& route,
                                  pencil::TransposeBackend backend, int repeats) {
  const pencil::PencilGrid grid(communicator, cells, processes);
  std::vector<pencil::Transpose> transposes;
  std::vector<pencil::Buffer> arrays;
  for (std::size_t n = 0; n < route.size(); ++n) {
    arrays.emplace_back(static_cast<std::size_t>(grid.box(route[n]).cells()));
    if (n > 0)
      transposes.push_back(pencil::Transpose::between(grid, route[n - 1], route[n], backend));
  }
  TransposeResult result;
  result.processes = processes;
  result.backend = backend;
  result.seconds = 0.5 * min_of_slowest(communicator, repeats, [&] {
                     const Clock clock;
                     for (std::size_t n = 0; n < transposes.size(); ++n)
                       transposes[n].forward(arrays[n].data(), arrays[n + 1].data());
                     for (std::size_t n = transposes.size(); n-- > 0;)
                       transposes[n].backward(arrays[n + 1].data(), arrays[n].data());
                     return seconds_with_kernels(clock);
                   });
  pencil::TransposeTraffic traffic;
  for (const pencil::Transpose& transpose : transposes) traffic += transpose.traffic();
  const auto passes = traffic.calls / std::ssize(transposes);
  result.messages = rank_statistics(communicator, traffic.messages / passes);
  result.bytes = rank_statistics(communicator, traffic.bytes / passes);
  const double entries = static_cast<double>(cells[0]) * cells[1] * cells[2];
  result.bytes_per_second =
      2.0 * sizeof(double) * entries * static_cast<double>(transposes.size()) / result.seconds;
  return result;
}

int transpose_bench(const std::vector<std::string>& words) {
  return run_command<TransposeRequest>("transpose", "Transposes between pencils", declare,
                                       measure_all, words);
}

}  // namespace octant::bench
