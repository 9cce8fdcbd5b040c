#include "bench/regrid_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "bench/command.hpp"
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

// Balls around a point near the centre of the box, half as wide from level to level.
OctantRule balls_around(double x) {
  return [x](int level, const std::array<double, 3>& place) {
    const double dx = place[0] - x, dy = place[1] - 0.5, dz = place[2] - 0.5;
    return std::sqrt(dx * dx + dy * dy + dz * dz) < 0.3 / (1 << level);
  };
}

// What a rank owns, to be given to the mesh anew.
std::vector<mesh::Mesh::BlockList> own_blocks(const mesh::Mesh& mesh) {
  std::vector<mesh::Mesh::BlockList> blocks(mesh.geometry().max_level() + 1);
  for (int level = 0; level <= mesh.finest_level(); ++level)
    for (const int slot : mesh.blocks(level).own()) {
      blocks[level].keys.push_back(mesh.blocks(level).key(slot));
      blocks[level].refined.push_back(mesh.blocks(level).refined(slot));
    }
  return blocks;
}

// Which blocks a rank owns, by level, in the order of their keys.
std::vector<std::vector<Key>> own_keys(const mesh::Mesh& mesh) {
  std::vector<std::vector<Key>> keys(mesh.geometry().max_level() + 1);
  for (int level = 0; level <= mesh.finest_level(); ++level)
    for (const int slot : mesh.blocks(level).own())
      keys[level].push_back(mesh.blocks(level).key(slot));
  return keys;
}

// Blocks that came or went, over all ranks.
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

struct RegridResult {
  std::int64_t blocks = 0, changed = 0;  // over all ranks; by the regrid that is reported
  double build_seconds = std::numeric_limits<double>::infinity(), regrid_seconds = build_seconds;
};

// The balls move back and forth by as much as lets about the asked share of all blocks change.
RegridResult measure_regrid(const Communicator& communicator, const RegridRequest& request,
                            int cells) {
  mesh::Mesh mesh = make_mesh(communicator, request, cells);
  for (int level = 0; level < request.levels; ++level)
    mesh.regrid(flag_octants(mesh, balls_around(0.5)));
  mesh.migrate(equal_shares(mesh));
  RegridResult result;
  for (const auto& keys : own_keys(mesh)) result.blocks += std::ssize(keys);
  result.blocks = communicator.sum(result.blocks);
  double step = 0.5 * request.change / (1 << request.levels);
  double x = 0.5;
  for (int n = 0; n < request.repeats; ++n) {
    const auto blocks = own_blocks(mesh);
    communicator.barrier();
    const Clock build;
    mesh.replace_blocks(blocks);
    result.build_seconds = std::min(result.build_seconds, communicator.max(build.seconds()));

    const auto before = own_keys(mesh);
    x += n % 2 == 0 ? step : -step;
    const auto flags = flag_octants(mesh, balls_around(x));
    communicator.barrier();
    const Clock regrid;
    mesh.regrid(flags);
    const double seconds = communicator.max(regrid.seconds());
    const std::int64_t changed = count_changes(communicator, before, own_keys(mesh));
    if (changed > 0 && seconds < result.regrid_seconds) {
      result.regrid_seconds = seconds;
      result.changed = changed;
    }
    const double share = static_cast<double>(changed) / static_cast<double>(result.blocks);
    if (n % 2 == 1) step *= std::clamp(request.change / std::max(share, 1e-9), 0.5, 2.0);
  }
  return result;
}

void declare(Options& options, RegridRequest& request) {
  options.counts("--cells", request.cells, "Cells of level 0 along each axis, one or several");
  options.number("--levels", request.levels, 1, 8, "Refined levels, balls within balls");
  options.count("--block-size", request.block_size, "Cells along a block's edge");
  options.count("--repeats", request.repeats, "Regrids; the least times are reported");
}

void measure_all(const RegridRequest& request, const Communicator& communicator, Report& report) {
  constexpr const char* k_row = "{:>6} {:>9} {:>9} {:>12} {:>12} {:>9}";
  report.line(fmt::format("{} rank(s), blocks of {}^3, {} refined levels; least of {}\n",
                          communicator.size(), request.block_size, request.levels,
                          request.repeats));
  report.line(fmt::format(k_row, "base", "blocks", "changed", "build ms", "regrid ms", "ratio"));
  for (const int cells : request.cells) {
    const RegridResult result = measure_regrid(communicator, request, cells);
    const double ratio = result.regrid_seconds / result.build_seconds;
    report.line(fmt::format(k_row, cells, result.blocks, result.changed,
                            fmt::format("{:.2f}", 1e3 * result.build_seconds),
                            fmt::format("{:.2f}", 1e3 * result.regrid_seconds),
                            fmt::format("{:.3f}", ratio)));
    JsonObject object;
    object.add("case", "balls")
        .add("base_cells", cells)
        .add("block_size", request.block_size)
        .add("blocks", result.blocks)
        .add("changed", result.changed)
        .add("ranks", communicator.size())
        .add("build_seconds", result.build_seconds)
        .add("seconds", result.regrid_seconds);
    report.add(object);
  }
}

}  // namespace

int regrid_bench(const std::vector<std::string>& words) {
  return run_command<RegridRequest>("regrid", "A small change of a mesh, and building it whole",
                                    declare, measure_all, words);
}

}  // namespace octant::bench
