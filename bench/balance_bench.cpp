#include "bench/balance_bench.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "bench/command.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/random.hpp"

namespace octant::bench {

namespace {

struct Cluster {
  double amplitude, width;
  double centre[3];
};

Cluster draw_cluster(std::uint64_t seed, int number) {
  const RandomStream random(seed, static_cast<std::uint64_t>(number), 0);
  return {10.0 + 90.0 * random.uniform(0),
          0.02 + 0.08 * random.uniform(1),
          {random.uniform(2), random.uniform(3), random.uniform(4)}};
}

// Returns the sums of a one-dimensional Gaussian, by nearest image, over the cells of each block
// along one axis. A Gaussian, and its sum over the cells of a block, is the product of three such
// factors.
std::vector<double> sums_along(const ClusteredCube& cube, double centre, double width) {
  std::vector<double> sums(static_cast<std::size_t>(cube.blocks()), 0.0);
  for (int i = 0; i < cube.cells; ++i) {
    double distance = std::abs((i + 0.5) / cube.cells - centre);
    distance = std::min(distance, 1.0 - distance);
    sums[i / cube.block_size] += std::exp(-0.5 * distance * distance / (width * width));
  }
  return sums;
}

std::vector<int> owners_of(const ClusteredCube& cube, const std::vector<double>& weights,
                           Decomposition decomposition, int ranks, double tolerance) {
  const int side = cube.blocks();
  std::vector<CostItem> blocks;
  for (int n = 0; n < side * side * side; ++n)
    blocks.push_back({{n % side, n / side % side, n / side / side}, 0, weights[n]});
  const Reduction reduction = reduction_of_one();
  const Work work = measure_work({{side, side, side}}, blocks, reduction);
  if (decomposition == Decomposition::ksection) return ksection_owners(ranks, work, tolerance);
  const bool hilbert = decomposition == Decomposition::hilbert;
  const CurvePartition curve(hilbert ? Curve::hilbert : Curve::morton, ranks, work, reduction,
                             tolerance);
  std::vector<int> owners;
  for (const CostItem& block : blocks) owners.push_back(curve.rank_of(block.coordinates, 0));
  return owners;
}

// Number of cells of a block with a face to another rank's cell, given the number of such block
// faces along each axis.
std::int64_t border_cells(std::int64_t side, const std::array<int, 3>& faces) {
  std::int64_t inside = 1;
  for (const int count : faces) inside *= std::max<std::int64_t>(0, side - count);
  return side * side * side - inside;
}

void look_at_borders(const ClusteredCube& cube, const std::vector<int>& owners, int ranks,
                     BalanceResult& result) {
  const int side = cube.blocks();
  std::vector<std::set<int>> partners(static_cast<std::size_t>(ranks));
  std::int64_t border = 0, cut_faces = 0;
  for (int n = 0; n < side * side * side; ++n) {
    const std::array<int, 3> here{n % side, n / side % side, n / side / side};
    std::array<int, 3> faces{0, 0, 0};
    for (int face = 0; face < 6; ++face) {
      std::array<int, 3> there = here;
      there[face / 2] = (there[face / 2] + (face % 2 == 0 ? side - 1 : 1)) % side;
      const int other = owners[(there[2] * side + there[1]) * side + there[0]];
      if (other == owners[n]) continue;
      ++faces[face / 2];
      partners[owners[n]].insert(other);
    }
    border += border_cells(cube.block_size, faces);
    cut_faces += faces[0] + faces[1] + faces[2];
  }
  result.border_share = static_cast<double>(border) / std::pow(cube.cells, 3);
  // A block has block_size^2 cell faces per face, and block_size^3 cells.
  result.surface_to_volume = static_cast<double>(cut_faces) / (std::pow(side, 3) * cube.block_size);
  result.partners.least = ranks;
  for (const auto& ranks_of_one : partners) {
    const auto count = static_cast<std::int64_t>(ranks_of_one.size());
    result.partners.least = std::min(result.partners.least, count);
    result.partners.most = std::max(result.partners.most, count);
    result.partners.mean += static_cast<double>(count) / ranks;
  }
}

struct BalanceRequest {
  ClusteredCube cube;
  std::vector<int> ranks{64, 96, 128, 192, 256, 320, 448, 512, 768, 1024};
  Choice decompositions{{"hilbert", "morton", "ksection"}, "all"};
  double tolerance = k_balance_tolerance;
};

void declare(Options& options, BalanceRequest& request) {
  options.count("--cells", request.cube.cells, "Number of cells along each axis");
  options.count("--block-size", request.cube.block_size,
                "Number of cells along each side of a block");
  options.number("--clusters", request.cube.clusters, 0, 1'000'000,
                 "Number of Gaussian clusters of block costs; 0: uniform costs");
  options.count("--seed", request.cube.seed, "Seed of the clusters");
  options.counts("--ranks", request.ranks, "Numbers of ranks of the decomposition, one or several");
  options.choice("--decomposition", request.decompositions, "Domain decomposition");
  options.number("--tolerance", request.tolerance, 0.0, 1.0,
                 "Imbalance accepted for smooth boundaries (balance.tolerance)");
}

JsonObject json(const ClusteredCube& cube, const std::string& decomposition, int ranks,
                const BalanceResult& r) {
  JsonObject object;
  object.add("decomposition", decomposition)
      .add("ranks", ranks)
      .add("cells", cube.cells)
      .add("block_size", cube.block_size)
      .add("clusters", cube.clusters)
      .add("imbalance", r.imbalance)
      .add("border_share", r.border_share)
      .add("surface_to_volume", r.surface_to_volume)
      .add("partners_min", r.partners.least)
      .add("partners_mean", r.partners.mean)
      .add("partners_max", r.partners.most)
      .add("seconds", r.seconds);
  return object;
}

void compare(const BalanceRequest& request, Report& report) {
  const ClusteredCube& cube = request.cube;
  if (cube.cells % cube.block_size != 0)
    throw InputError("--cells {}: must be a multiple of --block-size {}", cube.cells,
                     cube.block_size);
  constexpr const char* row = "{:<13} {:>6} {:>10} {:>10} {:>10} {:>14} {:>9}";
  report.line(fmt::format("{0}^3 cells in blocks of {1}^3, {2} clusters\n", cube.cells,
                          cube.block_size, cube.clusters));
  report.line(fmt::format(row, "decomposition", "ranks", "imbalance", "border", "surf/vol",
                          "partners", "ms"));
  for (const int ranks : request.ranks)
    for (const std::string& name : request.decompositions.selected()) {
      const BalanceResult r =
          measure_balance(cube, value_named<Decomposition>(name).value(), ranks, request.tolerance);
      const RankStatistics& p = r.partners;
      report.line(fmt::format(row, name, ranks, fmt::format("{:.4f}", r.imbalance),
                              fmt::format("{:.4f}", r.border_share),
                              fmt::format("{:.4f}", r.surface_to_volume),
                              fmt::format("{}/{:.1f}/{}", p.least, p.mean, p.most),
                              fmt::format("{:.1f}", 1e3 * r.seconds)));
      report.add(json(cube, name, ranks, r));
    }
}

void measure_all(const BalanceRequest& request, const Communicator& communicator, Report& report) {
  communicator.collective_try([&] {
    if (communicator.is_root()) compare(request, report);
  });
}

}  // namespace

std::vector<double> block_weights(const ClusteredCube& cube) {
  const int side = cube.blocks();
  const double background = std::pow(cube.block_size, 3);
  std::vector<double> weights(static_cast<std::size_t>(side) * side * side, background);
  for (int number = 0; number < cube.clusters; ++number) {
    const Cluster cluster = draw_cluster(static_cast<std::uint64_t>(cube.seed), number);
    std::array<std::vector<double>, 3> sums;
    for (int d = 0; d < 3; ++d) sums[d] = sums_along(cube, cluster.centre[d], cluster.width);
    for (int n = 0; n < side * side * side; ++n)
      weights[n] += cluster.amplitude * sums[0][n % side] * sums[1][n / side % side] *
                    sums[2][n / side / side];
  }
  return weights;
}

BalanceResult measure_balance(const ClusteredCube& cube, Decomposition decomposition, int ranks,
                              double tolerance) {
  const std::vector<double> weights = block_weights(cube);
  BalanceResult result;
  const std::int64_t before = thread_cpu_ns();
  const std::vector<int> owners = owners_of(cube, weights, decomposition, ranks, tolerance);
  result.seconds = 1e-9 * static_cast<double>(thread_cpu_ns() - before);
  std::vector<double> load(static_cast<std::size_t>(ranks), 0.0);
  double total = 0.0;
  for (std::size_t n = 0; n < weights.size(); ++n) {
    load[owners[n]] += weights[n];
    total += weights[n];
  }
  result.imbalance = *std::max_element(load.begin(), load.end()) * ranks / total;
  look_at_borders(cube, owners, ranks, result);
  return result;
}

int balance_bench(const std::vector<std::string>& words) {
  return run_command<BalanceRequest>("balance", "Load balance of clustered work", declare,
                                     measure_all, words);
}

}  // namespace octant::bench
