#include "pencil/tuning.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/parameters.hpp"
#include "pencil/device_field.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::pencil {

namespace {

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ProcessGrid> PencilOptions::forced_grid() const {
  if (process_grid == "auto") return std::nullopt;
  const std::size_t cross = process_grid.find('x');
  if (cross != std::string::npos) {
    const auto y = number(std::string_view(process_grid).substr(0, cross));
    const auto z = number(std::string_view(process_grid).substr(cross + 1));
    if (y && z) return ProcessGrid{*y, *z};
  }
  throw InputError(
      "grid.process_grid = \"{}\": expected \"auto\", or ranks along y and z as in \"2x4\"",
      process_grid);
}

void declare(ParameterSchema& schema, PencilOptions& options) {
  schema.add("grid.process_grid", options.process_grid,
             {.meaning = "Number of ranks along y and z, such as \"2x4\" (along y and x if "
                         "dns.pencil_axis = \"z\"); auto: times all possible grids and uses the "
                         "fastest"});
  schema.add(
      "grid.transpose", options.transpose,
      {.meaning =
           "Communication backend for transposes; auto: times all backends and uses the fastest"});
}

namespace {

// Returns true if the last rank along an axis has enough cells.
bool fits_last_rank(const TuningProblem& problem, int axis, int ranks) {
  const int cells = problem.cells[axis];
  return ranks <= cells &&
         part(cells, ranks, ranks - 1).count() >= problem.cells_of_last_rank[axis];
}

// Axis along which the second number of a process grid divides the fields.
int second_axis(const TuningProblem& problem) {
  return problem.fields == Orientation::z_direct ? 0 : 2;
}

// Returns true if every rank along z has enough planes for the tridiagonal solver.
bool fits_solver(const TuningProblem& problem, int ranks) {
  if (problem.tridiagonal.method == TridiagonalMethod::ftm || ranks == 1) return true;
  const int planes = problem.poisson.z.size();
  for (int n = 0; n < ranks; ++n)
    if (intersection(part(problem.cells[2], ranks, n), {0, planes}).count() < 2) return false;
  return true;
}

bool fits(const TuningProblem& problem, ProcessGrid processes) {
  return fits_last_rank(problem, 1, processes.y) &&
         fits_last_rank(problem, second_axis(problem), processes.z) &&
         processes.z <= problem.cells[2] && fits_solver(problem, processes.z);
}

// Returns the process grid with the largest number of ranks that is smaller than `ranks`.
ProcessGrid next_smaller(int ranks, const TuningProblem& problem) {
  const bool two_planes = problem.tridiagonal.method != TridiagonalMethod::ftm;
  int most = std::max(two_planes ? problem.cells[2] / 2 : problem.cells[2], 1);
  while (most > 1 && !fits(problem, {1, most})) --most;
  ProcessGrid largest{1, 1};
  for (int y = 1; y <= std::min(problem.cells[1], ranks - 1); ++y) {
    const ProcessGrid grid{y, std::min((ranks - 1) / y, most)};
    if (fits_last_rank(problem, 1, y) && grid.ranks() > largest.ranks()) largest = grid;
  }
  return largest;
}

// Text of the limits of the two factors of a process grid, with their reasons.
std::string limits_of_factors(const TuningProblem& problem) {
  const bool is_along_z = problem.fields == Orientation::z_direct;
  std::string text =
      fmt::format("the first is at most the number of cells along y, and the second at most {}",
                  is_along_z ? "those along x and z (dns.pencil_axis = \"z\")" : "that along z");
  if (problem.tridiagonal.method == TridiagonalMethod::ptdma)
    text += ", with two planes on every rank (dns.poisson = \"ptdma\")";
  for (const int axis : {1, second_axis(problem)})
    if (problem.cells_of_last_rank[axis] > 1)
      text += fmt::format(", with two cells along {0} on the last rank (outflow at upper {0})",
                          static_cast<char>('x' + axis));
  return text;
}

std::vector<ProcessGrid> candidates(int ranks, const TuningProblem& problem) {
  std::vector<ProcessGrid> grids;
  for (int y = 1; y <= std::min(ranks, problem.cells[1]); ++y)
    if (ranks % y == 0 && fits(problem, {y, ranks / y})) grids.push_back({y, ranks / y});
  if (!grids.empty()) return grids;
  const ProcessGrid smaller = next_smaller(ranks, problem);
  throw InputError(
      "no process grid of {} ranks is compatible with {} x {} x {} cells: grid.process_grid = "
      "\"auto\" requires two factors, of which {}; the next smaller number of ranks is {} (\"{}\")",
      ranks, problem.cells[0], problem.cells[1], problem.cells[2], limits_of_factors(problem),
      smaller.ranks(), to_string(smaller));
}

// Returns the time of one step's solves on the slowest rank, the minimum over the trials.
template <class Solve>
double least_seconds(const Communicator& communicator, int trials, const Solve& solve) {
  double least = std::numeric_limits<double>::max();
  for (int trial = 0; trial <= trials; ++trial) {
    communicator.barrier();
    const Clock clock;
    solve();
    const double seconds = communicator.max(clock.seconds());
    if (trial > 0) least = std::min(least, seconds);  // trial 0 is a warm-up
  }
  return least;
}

TridiagonalMatrix identity_like(const TridiagonalMatrix& z) {
  return {std::vector<double>(z.size()), std::vector<double>(z.size(), 1.0),
          std::vector<double>(z.size()), z.periodic};
}

double measure_planes(const Communicator& communicator, const TuningProblem& problem,
                      const PencilGrid& grid, TransposeBackend way, int trials) {
  PoissonOptions options{problem.tridiagonal, way};
  options.tridiagonal.backend = way;
  PoissonSolver poisson(grid, problem.poisson, options);
  const TridiagonalMatrix identity = identity_like(problem.poisson.z);
  FieldTridiagonal lines(grid, identity.size(), identity.periodic, options.tridiagonal);
  lines.set_matrix(identity);
  Field field(grid.box(Orientation::x));
  return least_seconds(communicator, trials, [&] {
    for (int n = 0; n < problem.field_solves; ++n) lines.solve(field);
    poisson.solve(field);
  });
}

double measure_batches(const Communicator& communicator, const TuningProblem& problem,
                       const PencilGrid& grid, TransposeBackend way, int trials) {
  const BatchedOptions options{.method = problem.tridiagonal.method,
                               .comm = options_of_batches(way, problem.comm),
                               .memory = std::make_shared<BatchedMemory>(),
                               .fields = problem.fields};
  BatchedPoisson poisson(grid, problem.poisson, options);
  const TridiagonalMatrix identity = identity_like(problem.poisson.z);
  BatchedTridiagonal lines(grid, identity.size(), identity.periodic, options);
  lines.set_matrix(identity);
  const DeviceField field(grid.box(problem.fields));
  return least_seconds(communicator, trials, [&] {
    for (int n = 0; n < problem.field_solves; ++n) lines.solve(field.view());
    poisson.solve(field.view());
  });
}

// Returns true if the ranks share a node with enough shared memory for all solvers of a run.
bool can_share(const Communicator& communicator, const Cells& cells) {
  if (communicator.size() == 1) return true;
  if (!SharedMemory::is_possible(communicator)) return false;
  constexpr int k_fields = 8;
  const double fields = static_cast<double>(cells[0]) * cells[1] * cells[2] * k_fields;
  try {
    const SharedMemory trial(communicator,
                             static_cast<std::size_t>(fields / communicator.size()) + 1);
    return true;
  } catch (const RunError&) {
    return false;
  }
}

std::vector<TransposeBackend> allowed_backends(const Communicator& communicator,
                                               const TuningProblem& problem,
                                               std::optional<TransposeBackend> forced) {
  using enum TransposeBackend;
  if (problem.in_batches)
    return forced ? std::vector{*forced} : std::vector{p2p, alltoall, ksection};
  if (forced && *forced != shared) return {*forced};
  const bool may_share = can_share(communicator, problem.cells);
  if (forced && !may_share)
    throw InputError(
        "grid.transpose = \"shared\" requires all ranks on one node with shared memory (/dev/shm): "
        "expected \"auto\", or a message-passing backend such as \"p2p\"");
  if (forced) return {*forced};
  std::vector<TransposeBackend> backends;
  for (const TransposeBackend backend : k_transpose_backends)
    if (backend != shared || may_share) backends.push_back(backend);
  return backends;
}

}  // namespace

std::vector<ProcessGrid> possible_grids(int ranks, const TuningProblem& problem,
                                        const PencilOptions& options) {
  const auto grid = options.forced_grid();
  if (!grid) return candidates(ranks, problem);
  check_process_grid(*grid, ranks, problem.cells, problem.fields);
  for (const int axis : {1, second_axis(problem)}) {
    const char name = static_cast<char>('x' + axis);
    if (!fits_last_rank(problem, axis, axis == 1 ? grid->y : grid->z))
      throw InputError(
          "grid.process_grid = \"{}\" leaves one cell along {} on the last rank, but the outflow "
          "at the upper {} boundary requires at least two; use fewer ranks along {}",
          to_string(*grid), name, name, name);
  }
  if (!fits_solver(problem, grid->z))
    throw InputError(
        "dns.poisson = \"ptdma\" requires at least 2 planes on every rank along z; with "
        "grid.process_grid = \"{}\", {} planes are too few: use fewer ranks along z, or \"ftm\"",
        to_string(*grid), problem.poisson.z.size());
  return {*grid};
}

Tuning tune(const Communicator& communicator, const TuningProblem& problem,
            const PencilOptions& options, int trials) {
  const auto backend = options.transpose;
  const std::vector<ProcessGrid> grids = possible_grids(communicator.size(), problem, options);
  const std::vector<TransposeBackend> backends = allowed_backends(communicator, problem, backend);

  Tuning tuning{grids.front(), backend.value_or(TransposeBackend::p2p), {}};
  if (communicator.size() == 1 || grids.size() * backends.size() == 1) return tuning;
  for (const ProcessGrid processes : grids)
    for (const TransposeBackend way : backends) {
      const PencilGrid trial(communicator, problem.cells, processes);
      const double seconds = problem.in_batches
                                 ? measure_batches(communicator, problem, trial, way, trials)
                                 : measure_planes(communicator, problem, trial, way, trials);
      tuning.rows.push_back({processes, way, seconds});
    }
  std::stable_sort(tuning.rows.begin(), tuning.rows.end(),
                   [](const TuningRow& a, const TuningRow& b) { return a.seconds < b.seconds; });
  tuning.processes = tuning.rows.front().processes;
  tuning.backend = tuning.rows.front().backend;
  return tuning;
}

std::string Tuning::table() const {
  if (rows.empty()) return "";
  std::string text = fmt::format("{:>12} {:>10} {:>12}\n", "process grid", "transpose", "seconds");
  for (const TuningRow& row : rows)
    text += fmt::format("{:>12} {:>10} {:>12.3e}\n", to_string(row.processes), name_of(row.backend),
                        row.seconds);
  return text;
}

}  // namespace octant::pencil
