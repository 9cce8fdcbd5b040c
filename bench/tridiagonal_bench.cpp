#include "bench/tridiagonal_bench.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/paper_ptdma.hpp"
#include "bench/pencil_options.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "pencil/device_field.hpp"
#include "pencil/tridiagonal.hpp"
#include "pencil/y_pass.hpp"

namespace octant::bench {

namespace {

using pencil::Condition;
using pencil::TridiagonalMethod;

// Methods for the systems along z alone, by the paper's algorithms; and for all planes at once, in
// the memory of the default execution space.
constexpr const char *k_algorithm_1 = "algorithm_1", *k_algorithm_2 = "algorithm_2";
constexpr const char* k_batches = "batches";
// Implicit diffusion by P-TDMA for all planes at once (paper, appendix B): lines are reduced in
// x-pencils and only end planes are exchanged, or fields are transposed to y-pencils before the
// reduction and back after it.
constexpr const char *k_direct = "direct", *k_detour = "detour";

bool is_paper_algorithm(const std::string& method) {
  return method == k_algorithm_1 || method == k_algorithm_2;
}

pencil::TridiagonalOptions options_of(const TridiagonalCase& setup) {
  pencil::TridiagonalOptions options;
  options.backend = setup.backend;
  if (setup.method == "ftm" || setup.method == k_batches) return options;
  options.method = TridiagonalMethod::ptdma;
  return options;
}

// Cell faces about twice as dense at the walls as on a uniform axis.
std::vector<double> faces(int n) {
  std::vector<double> positions;
  for (int k = 0; k <= n; ++k)
    positions.push_back(0.5 + 0.5 * std::tanh(2.0 * k / n - 1.0) / std::tanh(1.0));
  return positions;
}

// Diffusion operator 1 - 1e-4 d2/dz2.
pencil::TridiagonalMatrix diffusion(const pencil::TridiagonalMatrix& second_derivative) {
  pencil::TridiagonalMatrix matrix = second_derivative;
  for (auto* part : {&matrix.lower, &matrix.diagonal, &matrix.upper})
    for (double& value : *part) value *= -1e-4;
  for (double& value : matrix.diagonal) value += 1.0;
  return matrix;
}

void fill(pencil::Field& field) {
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j)
      for (int i = 0; i < field.nx(); ++i) field(i, j, k) = std::sin(1.0 + i + 3.0 * j + 7.0 * k);
}

struct Traffic {
  RankStatistics messages, bytes, kept_bytes;
};

Traffic per_call(const Communicator& communicator, const pencil::TransposeTraffic& traffic,
                 int solves) {
  return {rank_statistics(communicator, traffic.messages / solves),
          rank_statistics(communicator, traffic.bytes / solves),
          rank_statistics(communicator, traffic.kept_bytes / solves)};
}

constexpr const char* k_tridiagonal_row =
    "{:<6} {:<12} {:<9} {:>9} {:>12} {:>11} {:>11} {:>11} {:>12} {:>11}";

std::string spread(const RankStatistics& s, double unit) {
  return fmt::format("{:.0f}/{:.0f}", unit * s.mean, unit * static_cast<double>(s.most));
}

std::string row(const TridiagonalCase& setup, const TridiagonalResult& r) {
  return fmt::format(
      k_tridiagonal_row, pencil::to_string(setup.processes), setup.method, name_of(setup.backend),
      spread(r.messages, 1.0), spread(r.bytes, 1e-3),
      r.tridiagonal_seconds > 0.0 ? fmt::format("{:.2e}", r.tridiagonal_seconds) : "-",
      r.solve_seconds > 0.0 ? fmt::format("{:.2e}", r.solve_seconds) : "-",
      spread(r.field_messages, 1.0), spread(r.field_bytes, 1e-3),
      fmt::format("{:.2e}", r.field_seconds));
}

JsonObject json(const TridiagonalCase& setup, const TridiagonalResult& r) {
  JsonObject object;
  object.add("process_grid", pencil::to_string(setup.processes))
      .add("method", setup.method)
      .add("backend", name_of(setup.backend))
      .add("ranks", setup.processes.ranks())
      .add("cells_x", setup.cells[0])
      .add("cells_y", setup.cells[1])
      .add("cells_z", setup.cells[2])
      .add("messages_mean", r.messages.mean)
      .add("messages_max", r.messages.most)
      .add("bytes_mean", r.bytes.mean)
      .add("bytes_max", r.bytes.most)
      .add("kept_bytes_mean", r.kept_bytes.mean)
      .add("tridiagonal_seconds", r.tridiagonal_seconds)
      .add("solve_seconds", r.solve_seconds)
      .add("field_messages_max", r.field_messages.most)
      .add("field_bytes_mean", r.field_bytes.mean)
      .add("field_bytes_max", r.field_bytes.most)
      .add("field_seconds", r.field_seconds);
  return object;
}

struct TridiagonalRequest {
  PencilChoice pencils;
  Choice methods{{"ftm", k_algorithm_1, k_algorithm_2, "two_sweeps", k_batches, k_direct, k_detour},
                 "all"};
  Choice backends{names_of_all<pencil::TransposeBackend>(), "p2p"};
  int repeats = 20;
};

void declare(Options& options, TridiagonalRequest& request) {
  declare(options, request.pencils);
  options.choice("--method", request.methods,
                 "Method: full transpose, P-TDMA as used in runs (two_sweeps) or as published, all "
                 "planes at once, or implicit diffusion from x-pencils (direct) or by way of "
                 "y-pencils (detour)");
  options.choice("--backend", request.backends, "Communication backend");
  options.count("--repeats", request.repeats, "Number of timed solves; the fastest is reported");
}

void measure_all(const TridiagonalRequest& request, const Communicator& communicator,
                 Report& report) {
  TridiagonalCase setup;
  setup.cells = request.pencils.shape();
  const auto grids = request.pencils.grids(communicator.size(), 2);
  report.line(fmt::format(
      "{} x {} x {} cells, {} rank(s), periodic along x and y, walls along z\nmessages and kB: "
      "mean/maximum over the ranks, sent along z per solve; seconds of the fastest of {}\n",
      setup.cells[0], setup.cells[1], setup.cells[2], communicator.size(), request.repeats));
  report.line(
      fmt::format(k_tridiagonal_row, "", "", "", "Poisson", "", "", "", "diffusion", "", ""));
  report.line(fmt::format(k_tridiagonal_row, "ranks", "method", "backend", "messages", "kB",
                          "tridiagonal", "whole solve", "messages", "kB", "seconds"));
  for (const pencil::ProcessGrid processes : grids)
    for (const std::string& backend : request.backends.selected())
      for (const std::string& method : request.methods.selected()) {
        if (method == k_batches && request.methods.chosen == "all" && processes.ranks() > 1)
          continue;
        setup.processes = processes;
        setup.backend = value_named<pencil::TransposeBackend>(backend).value();
        setup.method = method;
        const TridiagonalResult result = measure_tridiagonal(communicator, setup, request.repeats);
        report.line(row(setup, result));
        report.add(json(setup, result));
      }
}

// Times solves of Poisson's equation; tridiagonal_seconds() is the total time so far.
template <class Solve, class Total>
void time_poisson(const Communicator& communicator, int repeats, const Solve& solve,
                  const Total& tridiagonal_seconds, TridiagonalResult& result) {
  result.tridiagonal_seconds = std::numeric_limits<double>::max();
  double before = 0.0;
  result.solve_seconds = min_of_slowest(communicator, repeats, [&] {
    const double seconds = solve();
    const double total = tridiagonal_seconds();
    const double tridiagonal = communicator.max(total - before);
    if (before > 0.0)  // the first one is a warm-up
      result.tridiagonal_seconds = std::min(result.tridiagonal_seconds, tridiagonal);
    before = total;
    return seconds;
  });
}

TridiagonalResult measure_planes(const Communicator& communicator, const TridiagonalCase& setup,
                                 const pencil::PoissonProblem& problem, int repeats) {
  const pencil::PencilGrid grid(communicator, setup.cells, setup.processes);
  const pencil::PoissonOptions options{options_of(setup), setup.backend};
  pencil::PoissonSolver poisson(grid, problem, options);
  pencil::Field field(grid.box(pencil::Orientation::x));
  const auto timed = [&](auto& solver) {
    fill(field);
    const Clock clock;
    solver.solve(field);
    return seconds_with_kernels(clock);
  };

  TridiagonalResult result;
  time_poisson(
      communicator, repeats, [&] { return timed(poisson); },
      [&] { return poisson.report().tridiagonal_seconds + poisson.report().z.seconds; }, result);
  const Traffic traffic = per_call(communicator, poisson.report().z, repeats + 1);
  result.messages = traffic.messages, result.bytes = traffic.bytes;
  result.kept_bytes = traffic.kept_bytes;

  pencil::FieldTridiagonal lines(grid, setup.cells[2], false, options.tridiagonal);
  lines.set_matrix(diffusion(problem.z));
  result.field_seconds = min_of_slowest(communicator, repeats, [&] { return timed(lines); });
  const Traffic field_traffic = per_call(communicator, lines.traffic(), repeats + 1);
  result.field_messages = field_traffic.messages, result.field_bytes = field_traffic.bytes;
  return result;
}

// Times solves of one line problem, with a new right-hand side for each.
template <class Matrices>
Traffic time_lines(const Communicator& communicator, int repeats, PaperPtdma<Matrices>& solver,
                   const pencil::LineProblem<Matrices>& problem, double& seconds) {
  const auto planes = static_cast<std::size_t>(problem.layout.box[2].count());
  pencil::Buffer values(planes * problem.lines.plane_stride);
  const pencil::TransposeTraffic before = solver.traffic();
  seconds = min_of_slowest(communicator, repeats, [&] {
    for (std::size_t n = 0; n < values.size(); ++n)
      values.data()[n] = std::sin(1.0 + static_cast<double>(n));
    const Clock clock;
    solver.solve({values.data(), problem.lines.plane_stride});
    return seconds_with_kernels(clock);
  });
  return per_call(communicator, solver.traffic() - before, repeats + 1);
}

TridiagonalResult measure_paper(const Communicator& communicator, const TridiagonalCase& setup,
                                const pencil::PoissonProblem& problem, int repeats) {
  const auto algorithm = setup.method == k_algorithm_1 ? PtdmaAlgorithm::one : PtdmaAlgorithm::two;
  const pencil::PencilGrid grid(communicator, setup.cells, setup.processes);
  const pencil::PoissonOptions options{options_of(setup), setup.backend};
  const pencil::Spectrum spectrum(grid, problem, options);

  TridiagonalResult result;
  const auto lines = pencil::Columns::of_row(spectrum).line_problem(spectrum);
  PaperPtdma<pencil::ShiftedMatrices> poisson(lines, algorithm);
  poisson.set_operator(problem.z, 0.0, 1.0);
  const Traffic traffic =
      time_lines(communicator, repeats, poisson, lines, result.tridiagonal_seconds);
  result.messages = traffic.messages, result.bytes = traffic.bytes;
  result.kept_bytes = traffic.kept_bytes;

  const auto field = pencil::field_lines(grid, setup.cells[2], false, options.tridiagonal);
  PaperPtdma<pencil::SharedMatrix> implicit(field, algorithm);
  implicit.set_operator(diffusion(problem.z), 0.0, 1.0);
  const Traffic field_traffic =
      time_lines(communicator, repeats, implicit, field, result.field_seconds);
  result.field_messages = field_traffic.messages, result.field_bytes = field_traffic.bytes;
  return result;
}

TridiagonalResult measure_batches(const Communicator& communicator, const TridiagonalCase& setup,
                                  const pencil::PoissonProblem& problem, int repeats) {
  if (communicator.size() > 1)
    throw InputError("octant bench tridiagonal --method {} runs on one rank, not on {}", k_batches,
                     communicator.size());
  const pencil::PencilGrid grid(communicator, setup.cells, {1, 1});
  pencil::Field field(grid.box(pencil::Orientation::x));
  fill(field);
  pencil::DeviceField device(field.box());
  const auto timed = [&](auto& solver) {
    device.copy_from(field);
    const Clock clock;
    solver.solve(device.view());
    return seconds_with_kernels(clock);
  };

  TridiagonalResult result;
  pencil::BatchedPoisson poisson(grid, problem);
  time_poisson(
      communicator, repeats, [&] { return timed(poisson); },
      [&] { return poisson.report().tridiagonal_seconds; }, result);
  pencil::BatchedTridiagonal lines(grid, setup.cells[2], false);
  lines.set_matrix(diffusion(problem.z));
  result.field_seconds = min_of_slowest(communicator, repeats, [&] { return timed(lines); });
  return result;
}

// Times implicit diffusion of a field by P-TDMA: with x-pencils reduced in place, or with y-pencils
// between two transposes.
TridiagonalResult measure_routes(const Communicator& communicator, const TridiagonalCase& setup,
                                 const pencil::PoissonProblem& problem, int repeats) {
  const bool by_y = setup.method == k_detour;
  const pencil::PencilGrid grid(communicator, setup.cells, setup.processes);
  const pencil::Orientation fields = by_y ? pencil::Orientation::y : pencil::Orientation::x;
  const auto memory = std::make_shared<pencil::BatchedMemory>();
  const pencil::BatchedOptions options{
      .method = TridiagonalMethod::ptdma,
      .comm = pencil::options_of_batches(setup.backend, CommOptions{}),
      .memory = memory,
      .fields = fields};
  pencil::BatchedTridiagonal lines(grid, setup.cells[2], false, options);
  lines.set_matrix(diffusion(problem.z));
  const auto box_of = [&grid](pencil::Orientation orientation) {
    return [&grid, orientation](int y_index) {
      return grid.box(orientation, grid.rank_of(y_index, grid.z_index()));
    };
  };
  pencil::BatchedTranspose turn("x-y transpose", grid.row(), box_of(pencil::Orientation::x),
                                box_of(fields), options.comm, memory);
  pencil::Field field(grid.box(pencil::Orientation::x));
  fill(field);
  pencil::DeviceField rows(field.box()), columns(grid.box(fields));
  const auto solve = [&] {
    if (!by_y) return lines.solve(rows.view());
    turn.forward(rows.view(), columns.view());
    lines.solve(columns.view());
    turn.backward(columns.view(), rows.view());
  };
  TridiagonalResult result;
  result.field_seconds = min_of_slowest(communicator, repeats, [&] {
    rows.copy_from(field);
    const Clock clock;
    solve();
    return seconds_with_kernels(clock);
  });
  pencil::TransposeTraffic sent = lines.traffic();
  sent += turn.traffic();
  const Traffic traffic = per_call(communicator, sent, repeats + 1);
  result.field_messages = traffic.messages, result.field_bytes = traffic.bytes;
  return result;
}

}  // namespace

TridiagonalResult measure_tridiagonal(const Communicator& communicator,
                                      const TridiagonalCase& setup, int repeats) {
  const pencil::AxisConditions walls{Condition::neumann, Condition::neumann};
  const pencil::PoissonProblem problem{3.0 / setup.cells[0],
                                       1.5 / setup.cells[1],
                                       {},
                                       {},
                                       pencil::second_derivative(faces(setup.cells[2]), walls),
                                       true};
  if (setup.method == k_batches) return measure_batches(communicator, setup, problem, repeats);
  if (setup.method == k_direct || setup.method == k_detour)
    return measure_routes(communicator, setup, problem, repeats);
  if (is_paper_algorithm(setup.method)) return measure_paper(communicator, setup, problem, repeats);
  return measure_planes(communicator, setup, problem, repeats);
}

int tridiagonal_bench(const std::vector<std::string>& words) {
  return run_command<TridiagonalRequest>("tridiagonal",
                                         "Tridiagonal systems along z: full transpose and P-TDMA",
                                         declare, measure_all, words);
}

}  // namespace octant::bench
