#include "bench/regrid_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "bench/kernel_time.hpp"
#include "bench/nested_mesh.hpp"
#include "bench/report.hpp"
#include "core/clock.hpp"

namespace octant::bench {

namespace {

struct RegridRequest {
  std::vector<int> cells{64, 128};
  int block_size = 4, levels = 3, repeats = 12;
  double change = 0.01;
};

mesh::Mesh make_mesh(const Communicator& communicator, const RegridRequest& request, int cells) {
  mesh::MeshOptions options;
  options.base_cells.fill(cells);
  options.block_size = request.block_size;
  options.max_level = request.levels;
  return {mesh::Geometry(options),
          communicator,
          CommOptions{},
          {.variables = {{"density"}}, .ghosts = {2}},
          std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()};
}

// Spheres around a point near the centre of the box, with radii halved from level to level.
OctantRule balls_around(double x) {
  return [x](int level, const std::array<double, 3>& place) {
    const double dx = place[0] - x, dy = place[1] - 0.5, dz = place[2] - 0.5;
    return std::sqrt(dx * dx + dy * dy + dz * dz) < 0.3 / (1 << level);
  };
}

// Own blocks of a rank, for reconstruction of the mesh.
std::vector<mesh::Mesh::BlockList> own_blocks(const mesh::Mesh& mesh) {
  std::vector<mesh::Mesh::BlockList> blocks(mesh.geometry().max_level() + 1);
  for (int level = 0; level <= mesh.finest_level(); ++level)
    for (const int slot : mesh.blocks(level).own()) {
      blocks[level].keys.push_back(mesh.blocks(level).key(slot));
      blocks[level].refined.push_back(mesh.blocks(level).refined(slot));
    }
  return blocks;
}

// Keys of own blocks by level, in ascending order.
std::vector<std::vector<Key>> own_keys(const mesh::Mesh& mesh) {
  std::vector<std::vector<Key>> keys(mesh.geometry().max_level() + 1);
  for (int level = 0; level <= mesh.finest_level(); ++level)
    for (const int slot : mesh.blocks(level).own())
      keys[level].push_back(mesh.blocks(level).key(slot));
  return keys;
}

// Number of blocks that were created or removed, over all ranks.
std::int64_t count_changes(const Communicator& communicator,
                           const std::vector<std::vector<Key>>& before,
                           const std::vector<std::vector<Key>>& after) {
  std::int64_t changes = 0;
  for (std::size_t level = 0; level < before.size(); ++level) {
    std::vector<Key> difference;
    std::set_symmetric_difference(before[level].begin(), before[level].end(), after[level].begin(),
                                  after[level].end(), std::back_inserter(difference));
    changes += std::ssize(difference);
  }
  return communicator.sum(changes);
}

// Minimum wall-clock time of the slowest rank, and minimum CPU time of all ranks together, which
// other programs disturb less.
struct RegridCost {
  double seconds = std::numeric_limits<double>::infinity(), cpu_seconds = seconds;
};

template <class Work>
void time_change(const Communicator& communicator, RegridCost& cost, const Work& work) {
  communicator.barrier();
  const std::int64_t cpu = process_cpu_ns();
  const Clock clock;
  work();
  const double seconds = seconds_with_kernels(clock);
  const double cpu_seconds = 1e-9 * static_cast<double>(communicator.sum(process_cpu_ns() - cpu));
  cost.seconds = std::min(cost.seconds, communicator.max(seconds));
  cost.cpu_seconds = std::min(cost.cpu_seconds, cpu_seconds);
}

struct RegridResult {
  std::int64_t blocks = 0, changed = 0;  // over all ranks; changed by the reported regrid
  RegridCost build, regrid;
};

// Moves the spheres back and forth such that about the requested fraction of all blocks changes.
RegridResult measure_regrid(const Communicator& communicator, const RegridRequest& request,
                            int cells) {
  mesh::Mesh mesh = make_mesh(communicator, request, cells);
  for (int level = 0; level < request.levels; ++level)
    mesh.regrid(flag_octants(mesh, balls_around(0.5)));
  mesh.migrate(equal_parts(mesh));
  RegridResult result;
  for (const auto& keys : own_keys(mesh)) result.blocks += std::ssize(keys);
  result.blocks = communicator.sum(result.blocks);
  double step = 0.5 * request.change / (1 << request.levels);
  double x = 0.5;
  for (int n = 0; n < request.repeats; ++n) {
    const auto blocks = own_blocks(mesh);
    time_change(communicator, result.build, [&] { mesh.replace_blocks(blocks); });

    const auto before = own_keys(mesh);
    x += n % 2 == 0 ? step : -step;
    const auto flags = flag_octants(mesh, balls_around(x));
    RegridCost cost;
    time_change(communicator, cost, [&] { mesh.regrid(flags); });
    const std::int64_t changed = count_changes(communicator, before, own_keys(mesh));
    // The first regrids determine the required displacement of the spheres.
    if (changed > 0 && 2 * n >= request.repeats) {
      if (cost.cpu_seconds < result.regrid.cpu_seconds) result.changed = changed;
      result.regrid.seconds = std::min(result.regrid.seconds, cost.seconds);
      result.regrid.cpu_seconds = std::min(result.regrid.cpu_seconds, cost.cpu_seconds);
    }
    const double share = static_cast<double>(changed) / static_cast<double>(result.blocks);
    if (n % 2 == 1) step *= std::clamp(request.change / std::max(share, 1e-9), 0.5, 2.0);
  }
  return result;
}

void declare(Options& options, RegridRequest& request) {
  options.counts("--cells", request.cells, "Number of base cells along each axis, one or several");
  options.number("--levels", request.levels, 1, 8, "Number of refined levels, nested balls");
  options.count("--block-size", request.block_size, "Number of cells along each side of a block");
  options.count("--repeats", request.repeats, "Number of regrids; the shortest times are reported");
}

void measure_all(const RegridRequest& request, const Communicator& communicator, Report& report) {
  constexpr const char* k_row = "{:>6} {:>9} {:>9} {:>12} {:>12} {:>9} {:>14} {:>14} {:>9}";
  report.line(fmt::format("{} rank(s), blocks of {}^3, {} refined levels; shortest of {}\n",
                          communicator.size(), request.block_size, request.levels,
                          request.repeats));
  report.line(fmt::format(k_row, "base", "blocks", "changed", "build ms", "regrid ms", "ratio",
                          "build CPU ms", "regrid CPU ms", "ratio"));
  const auto milliseconds = [](double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); };
  for (const int cells : request.cells) {
    const RegridResult result = measure_regrid(communicator, request, cells);
    const RegridCost &build = result.build, &regrid = result.regrid;
    report.line(fmt::format(k_row, cells, result.blocks, result.changed,
                            milliseconds(build.seconds), milliseconds(regrid.seconds),
                            fmt::format("{:.3f}", regrid.seconds / build.seconds),
                            milliseconds(build.cpu_seconds), milliseconds(regrid.cpu_seconds),
                            fmt::format("{:.3f}", regrid.cpu_seconds / build.cpu_seconds)));
    JsonObject object;
    object.add("case", "balls")
        .add("base_cells", cells)
        .add("block_size", request.block_size)
        .add("blocks", result.blocks)
        .add("changed", result.changed)
        .add("ranks", communicator.size())
        .add("build_seconds", build.seconds)
        .add("seconds", regrid.seconds)
        .add("build_cpu_seconds", build.cpu_seconds)
        .add("cpu_seconds", regrid.cpu_seconds);
    report.add(object);
  }
}

}  // namespace

int regrid_bench(const std::vector<std::string>& words) {
  return run_command<RegridRequest>(
      "regrid", "Incremental regridding compared with a full rebuild of the mesh", declare,
      measure_all, words);
}

}  // namespace octant::bench
