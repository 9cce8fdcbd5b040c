#include "bench/poisson_bench.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/report.hpp"
#include "bench/slab_poisson.hpp"
#include "bench/triad.hpp"
#include "core/clock.hpp"
#include "gravity/base_fourier.hpp"
#include "gravity/green_function.hpp"
#include "gravity/level_solver.hpp"
#include "gravity/mask.hpp"
#include "mesh/mesh.hpp"

namespace octant::bench {

namespace {

// Minimum memory traffic of a V-cycle: two passes that read phi and f and write phi, on all grids.
constexpr double k_bytes_per_cell_and_cycle = 2 * 3 * 8 * 8.0 / 7.0;

// Centres of overdensities in a box of side 1.
constexpr double k_centres[][3] = {
    {0.31, 0.42, 0.57}, {0.36, 0.47, 0.52}, {0.71, 0.22, 0.35}, {0.55, 0.75, 0.81}};

double nearest_lump(const std::array<double, 3>& x) {
  double least = 1.0;
  for (const auto& centre : k_centres) {
    double squared = 0.0;
    for (int d = 0; d < 3; ++d) squared += (x[d] - centre[d]) * (x[d] - centre[d]);
    least = std::min(least, std::sqrt(squared));
  }
  return least;
}

mesh::MeshOptions mesh_options(const PoissonCase& c) {
  mesh::MeshOptions options;
  options.base_cells = {c.cells, c.cells, c.cells};
  options.block_size = c.block_size;
  options.max_level = c.is_uniform() ? 0 : 1;
  return options;
}

// Flags the octants of the base level whose centres lie near an overdensity.
mesh::FlagMasks clustered_flags(const mesh::Mesh& mesh) {
  constexpr double radius = 0.17;
  mesh::FlagMasks flags(mesh.geometry().max_level() + 1);
  for (int level = 0; level <= mesh.geometry().max_level(); ++level)
    flags[level].assign(mesh.blocks(level).slots(), 0);
  const double half = mesh.geometry().octant_size() * mesh.geometry().cell_size(0);
  for (const int slot : mesh.blocks(0).own())
    for (int octant = 0; octant < 8; ++octant) {
      auto x = mesh.geometry().origin(0, morton_decode(mesh.blocks(0).key(slot)));
      int bit = 0;
      for (int d = 0; d < 3; ++d) {
        x[d] += (0.5 + (octant >> d & 1)) * half;
        bit += (1 + (octant >> d & 1)) << (2 * d);
      }
      if (nearest_lump(x) < radius) flags[0][slot] |= std::uint64_t{1} << bit;
    }
  return flags;
}

// Source term: h^2 times a clumpy density, minus its mean if the grid fills the periodic domain.
gravity::DeviceArray<double> source(gravity::PatchLevel& level, double h, bool fills_domain) {
  const gravity::LevelPatches& patches = level.patches();
  const int T = patches.side();
  const auto f = level.make_field("f");
  const auto host = Kokkos::create_mirror_view(f);
  const auto covered = level.make_field("cover");
  gravity::set_cover(patches, covered);
  level.halo().run(covered.data());
  const auto cover = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, covered);
  const auto strips = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, patches.strips());
  for (int slot = 0; slot < patches.slots(); ++slot) {
    const BlockCoordinates corner = morton_decode(patches.key(slot));
    for (int c = 0; c < T * T * T; ++c) {
      const int cell[3] = {c % T, c / T % T, c / (T * T)};
      std::array<double, 3> x;
      for (int d = 0; d < 3; ++d) x[d] = (corner[d] * T + cell[d] + 0.5) * h;
      const std::int64_t row = gravity::offset_of_row(strips.data(), T, slot, cell[1], cell[2]);
      if (row < 0) continue;
      const std::int64_t at = row + gravity::split(cell[0], T);
      host(at) = cover(at) > 0.0 ? h * h / (0.02 + nearest_lump(x)) : 0.0;
    }
  }
  Kokkos::deep_copy(f, host);
  if (fills_domain) {
    double cells = 1.0;
    for (const auto extent : patches.extent()) cells *= static_cast<double>(extent) * T;
    gravity::shift(f, -level.sum(f) / cells);
  }
  return f;
}

// Number of V-cycles; the last one stops after its descent, which shows convergence. Fourier
// transforms count as one pass.
double passes(const PoissonResult& r) {
  return r.poisson_case.by_fourier() ? 1.0 : r.report.cycles + 0.5;
}

// Fraction of the triad bandwidth by wall-clock time, because CPU time is meaningless for a GPU.
double share_of_triad(const PoissonResult& r, double triad) {
  return k_bytes_per_cell_and_cycle * static_cast<double>(r.cells) * passes(r) / r.seconds / triad;
}

JsonObject json(const PoissonResult& r, double triad) {
  JsonObject object;
  object.add("case", r.poisson_case.name)
      .add("base_cells", r.poisson_case.cells)
      .add("block_size", r.poisson_case.block_size)
      .add("tolerance", r.poisson_case.tolerance)
      .add("ranks", r.ranks)
      .add("threads", r.threads)
      .add("cells", r.cells)
      .add("patch_cells", r.patch_cells)
      .add("cycles", r.report.cycles)
      .add("residual", r.report.residual)
      .add("convergence_factor", r.convergence_factor())
      .add("rounds_per_cycle",
           static_cast<double>(r.report.rounds) / std::max(r.report.cycles + 1, 1))
      .add("seconds", r.seconds)
      .add("cpu_seconds", r.cpu_seconds)
      .add("setup_seconds", r.setup_seconds)
      .add("cpu_microseconds_per_cell", 1e6 * r.cpu_per_cell())
      .add("triad_bytes_per_second", triad)
      .add("share_of_triad", share_of_triad(r, triad));
  return object;
}

constexpr const char* k_poisson_row =
    "{:<8} {:>5} {:>5} {:>9} {:>6} {:>7} {:>7} {:>9} {:>9} {:>7} {:>9}";

std::string poisson_heading() {
  return fmt::format(k_poisson_row, "case", "base", "block", "cells", "cycles", "factor", "rounds",
                     "us/solve", "us/cycle", "triad", "setup us");
}

std::string row(const PoissonResult& r, double triad) {
  const double per_cycle = r.cpu_per_cell() / passes(r);
  const auto microseconds = [](double seconds) { return fmt::format("{:.4f}", 1e6 * seconds); };
  return fmt::format(
      k_poisson_row, r.poisson_case.name, r.poisson_case.cells, r.poisson_case.block_size, r.cells,
      r.report.cycles, fmt::format("{:.3f}", r.convergence_factor()),
      fmt::format("{:.1f}", static_cast<double>(r.report.rounds) / (r.report.cycles + 1)),
      microseconds(r.cpu_per_cell()), microseconds(per_cycle),
      fmt::format("{:.0f}%",
                  100.0 * k_bytes_per_cell_and_cycle / per_cycle * r.ranks * r.threads / triad),
      microseconds(r.setup_seconds / static_cast<double>(r.cells)));
}

JsonObject json(const SlabCase& c, const SlabResult& r, int ranks) {
  JsonObject object;
  object.add("case", name_of(c.method))
      .add("base_cells", c.cells)
      .add("guess", name_of(c.guess))
      .add("tolerance", c.tolerance)
      .add("ranks", ranks)
      .add("iterations", r.iterations)
      .add("residual", r.residual)
      .add("error", r.error)
      .add("seconds", r.seconds)
      .add("compute_seconds", r.compute_seconds)
      .add("exchange_seconds", r.exchange_seconds)
      .add("reduction_seconds", r.reduction_seconds)
      .add("bytes_sent", r.bytes_sent);
  return object;
}

constexpr const char* k_slab_row = "{:<10} {:>5} {:>7} {:>11} {:>10} {:>10} {:>10} {:>10} {:>10}";

std::string slab_heading() {
  return fmt::format(k_slab_row, "case", "base", "guess", "iterations", "residual", "error",
                     "compute s", "planes s", "sums s");
}

std::string row(const SlabCase& c, const SlabResult& r) {
  const auto text = [](double value) { return fmt::format("{:.3g}", value); };
  return fmt::format(k_slab_row, name_of(c.method), c.cells, name_of(c.guess), r.iterations,
                     text(r.residual), text(r.error), text(r.compute_seconds),
                     text(r.exchange_seconds), text(r.reduction_seconds));
}

struct PoissonRequest {
  Choice cases{{"uniform", "fft", "amr", "jacobi", "red-black", "cg"}, "all"};
  std::vector<int> cells{64, 128}, block_sizes{8, 4};
  double tolerance = 1e-4;
  int repeats = 5;
  std::string guess = name_of(Guess::zero);
  int max_iterations = SlabCase{}.max_iterations;

  std::vector<PoissonCase> selected() const {
    std::vector<PoissonCase> all;
    for (const std::string& name : cases.selected())
      for (const int n : cells)
        for (const int block_size : block_sizes)
          if (!value_named<IterativeMethod>(name) &&
              (name == "amr" ? n == cells.front() : block_size == block_sizes.front()))
            all.push_back({name, n, block_size, tolerance});
    return all;
  }

  std::vector<SlabCase> selected_slabs() const {
    std::vector<SlabCase> all;
    for (const std::string& name : cases.selected())
      if (const auto method = value_named<IterativeMethod>(name))
        for (const int n : cells)
          all.push_back({*method, value_named<Guess>(guess).value(), n, tolerance, max_iterations});
    return all;
  }
};

// Solves one case repeatedly.
class Solver {
 public:
  Solver(const mesh::Mesh& mesh, const PoissonCase& poisson_case)
      : level_(mesh.tree(), poisson_case.is_uniform() ? 0 : 1, CommOptions{}, pool_),
        multigrid_(level_, CommOptions{}),
        tolerance_(poisson_case.tolerance) {
    if (!poisson_case.by_fourier()) return;
    fourier_ = std::make_unique<gravity::BaseFourierSolver>(mesh.geometry(), mesh.communicator(),
                                                            CommOptions{});
    fourier_->connect(level_.patches());
    green_.of = gravity::GreenFunction(fourier_->cells(), fourier_->cell_size(),
                                       gravity::Laplacian::discrete);
  }

  gravity::PatchLevel& level() { return level_; }

  gravity::SolveReport solve(gravity::DeviceArray<double>& phi,
                             const gravity::DeviceArray<double>& f, double reference) {
    if (!fourier_) return multigrid_.solve(phi, f, reference, tolerance_, 50);
    fourier_->solve(green_, f, phi);
    return {};
  }

 private:
  gravity::FieldPool pool_;
  gravity::PatchLevel level_;
  gravity::LevelSolver multigrid_;
  std::unique_ptr<gravity::BaseFourierSolver> fourier_;
  gravity::ModeFactors green_;
  double tolerance_;
};

void declare(Options& options, PoissonRequest& request) {
  options.choice("--case", request.cases,
                 "Case: uniform grid with multigrid or FFTs, refined level of clustered blocks "
                 "(amr), or slabs with an iterative solver");
  options.counts("--cells", request.cells,
                 "Number of base cells along each axis; the amr case uses the first");
  options.counts("--block-size", request.block_sizes,
                 "Block sizes of the amr case; other cases use the first");
  options.number("--tolerance", request.tolerance, 1e-15, 1.0, "Relative residual at convergence");
  options.count("--repeats", request.repeats,
                "Number of solves per case, one for slabs; the shortest time is reported");
  options.one_of("--guess", request.guess, names_of_all<Guess>(),
                 "First approximation of the iterative solvers");
  options.count("--max-iterations", request.max_iterations,
                "Maximum number of iterations of the iterative solvers");
}

void measure_slabs(const PoissonRequest& request, const Communicator& communicator,
                   Report& report) {
  const auto cases = request.selected_slabs();
  if (cases.empty()) return;
  report.line(fmt::format(
      "\n{} slab(s) along z, one thread each, solved once to {:g}\nseconds of the slowest rank in "
      "stencils, in exchanges of ghost planes, and in global sums\n",
      communicator.size(), request.tolerance));
  report.line(slab_heading());
  for (const SlabCase& slab_case : cases) {
    const SlabResult result = solve_slabs(communicator, slab_case);
    report.line(row(slab_case, result));
    report.add(json(slab_case, result, communicator.size()));
  }
}

void measure_solvers(const PoissonRequest& request, const Communicator& communicator,
                     Report& report) {
  const auto cases = request.selected();
  if (cases.empty()) return;
  const double triad = triad_bytes_per_second(communicator);
  report.line(fmt::format(
      "{} rank(s) of {} thread(s); triad {:.1f} GB/s; shortest of {} solves to {:g}\nus: processor "
      "microseconds per cell of the level; triad: minimum memory traffic of the cycles\nrelative "
      "to that bandwidth; rounds: exchanges of the finest grid per cycle\n",
      communicator.size(), Kokkos::DefaultHostExecutionSpace().concurrency(), 1e-9 * triad,
      request.repeats, request.tolerance));
  report.line(poisson_heading());
  for (const PoissonCase& poisson_case : cases) {
    const PoissonResult result = measure_poisson(communicator, poisson_case, request.repeats);
    report.line(row(result, triad));
    report.add(json(result, triad));
  }
}

void measure_all(const PoissonRequest& request, const Communicator& communicator, Report& report) {
  for (const SlabCase& slab_case : request.selected_slabs())
    check_slabs(slab_case, communicator.size());
  measure_solvers(request, communicator, report);
  measure_slabs(request, communicator, report);
}

}  // namespace

double PoissonResult::convergence_factor() const {
  if (report.cycles == 0) return 0.0;
  return std::pow(report.residual / report.first_residual, 1.0 / report.cycles);
}

PoissonResult measure_poisson(const Communicator& communicator, const PoissonCase& poisson_case,
                              int repeats) {
  PoissonResult result;
  result.poisson_case = poisson_case;
  result.ranks = communicator.size();
  result.threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  mesh::Mesh mesh(mesh::Geometry(mesh_options(poisson_case)), communicator, CommOptions{},
                  {.variables = {{"density"}}, .ghosts = {2}},
                  std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>());
  if (!poisson_case.is_uniform()) mesh.regrid(clustered_flags(mesh));
  const int level = poisson_case.is_uniform() ? 0 : 1;
  Clock clock;
  Solver solver(mesh, poisson_case);
  gravity::PatchLevel& grids = solver.level();
  result.setup_seconds = communicator.max(seconds_with_kernels(clock));
  const std::int64_t block_cells = std::int64_t{1} * mesh.layout().block_size *
                                   mesh.layout().block_size * mesh.layout().block_size;
  result.cells = communicator.sum(mesh.blocks(level).count() * block_cells);
  result.patch_cells =
      communicator.sum(grids.patches().own() * std::int64_t{1} * grids.patches().side() *
                       grids.patches().side() * grids.patches().side());
  const auto f = source(grids, mesh.geometry().cell_size(level), poisson_case.is_uniform());
  const double reference = grids.norm(f);
  for (int n = 0; n < repeats; ++n) {
    auto phi = grids.make_field("phi");
    Kokkos::deep_copy(phi, 0.0);
    communicator.barrier();
    const std::int64_t cpu_before = process_cpu_ns();
    clock.restart();
    result.report = solver.solve(phi, f, reference);
    const double seconds = communicator.max(seconds_with_kernels(clock));
    const double cpu = 1e-9 * static_cast<double>(communicator.sum(process_cpu_ns() - cpu_before));
    if (n == 0 || seconds < result.seconds) result.seconds = seconds;
    if (n == 0 || cpu < result.cpu_seconds) result.cpu_seconds = cpu;
  }
  return result;
}

int poisson_bench(const std::vector<std::string>& words) {
  return run_command<PoissonRequest>("poisson", "Speed and convergence of the Poisson solvers",
                                     declare, measure_all, words);
}

}  // namespace octant::bench
