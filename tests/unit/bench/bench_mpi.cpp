#include <cmath>

#include <gtest/gtest.h>

#include "bench/bench.hpp"
#include "bench/fmm_bench.hpp"
#include "bench/ghost_bench.hpp"
#include "bench/health.hpp"
#include "bench/hydro_bench.hpp"
#include "bench/paper_ptdma.hpp"
#include "bench/particle_bench.hpp"
#include "bench/poisson_bench.hpp"
#include "bench/transpose_bench.hpp"
#include "bench/triad.hpp"
#include "bench/tridiagonal_bench.hpp"
#include "core/error.hpp"

namespace octant::bench {
namespace {

const Communicator& world() {
  static const Communicator communicator = Communicator::world();
  return communicator;
}

TEST(HydroBench, CountsEveryLeafCellOnceInEachUniformStep) {
  const HydroCase tiny{.block_size = 8, .cells = 16, .steps = 3};
  const HydroResult result = measure_hydro(world(), tiny, 1);
  EXPECT_EQ(result.cell_updates, 3 * 16 * 16 * 16);
  EXPECT_EQ(result.leaf_cells, 16 * 16 * 16);
  EXPECT_EQ(result.ranks, world().size());
}

TEST(HydroBench, MeasuresPositiveTimesWhosePartsFitInTheWhole) {
  const HydroCase tiny{.block_size = 8, .cells = 16, .steps = 2};
  const HydroResult result = measure_hydro(world(), tiny, 2);
  EXPECT_GT(result.seconds, 0.0);
  EXPECT_GT(result.cpu_seconds, 0.0);
  EXPECT_GT(result.updates_per_second(), 0.0);
  EXPECT_GT(result.updates_per_cpu_second(), 0.0);
  EXPECT_GT(result.simulated_time, 0.0);
  ASSERT_FALSE(result.parts.empty());
  for (const auto& [name, seconds] : result.parts) EXPECT_LE(seconds, result.seconds) << name;
}

TEST(HydroBench, RefinesTheBlastAndSubcyclesIt) {
  const HydroCase tiny{.name = "amr_sedov", .block_size = 4, .cells = 16, .steps = 2};
  const HydroResult result = measure_hydro(world(), tiny, 1);
  EXPECT_GT(result.leaf_cells, 16 * 16 * 16);
  EXPECT_GT(result.cell_updates, 2 * result.leaf_cells);
}

TEST(FmmBench, LeavesNoForceAndNoTorqueAndCountsItsOperations) {
  const FmmResult result = measure_fmm(world(), {.name = "refined"}, 1);
  EXPECT_GT(result.cells, 32 * 32 * 32);
  EXPECT_LT(result.force_sum, 1e-14);
  EXPECT_LT(result.torque_sum, 1e-14);
  EXPECT_GT(result.point_operations, 0.0);
  EXPECT_GT(result.parts.at("fmm refined cells"), 0.0);
  EXPECT_EQ(operations_per_interaction(false), 206);
  EXPECT_GT(operations_per_interaction(true), 206);  // hexadecapoles besides
}

TEST(PoissonBench, ConvergesOnUniformAndRefinedGridsInTwoRoundsPerCycle) {
  for (const char* name : {"uniform", "amr"}) {
    const PoissonResult result =
        measure_poisson(world(), {.name = name, .cells = 32, .block_size = 4}, 1);
    EXPECT_LE(result.report.residual, 1e-4) << name;
    EXPECT_LT(result.convergence_factor(), 0.13) << name;
    EXPECT_EQ(result.report.rounds, 2 * (result.report.cycles + 1)) << name;
    EXPECT_GT(result.cpu_seconds, 0.0);
  }
}

TEST(Health, MedianOverRanksIsTheLowerOne) {
  const int ranks = world().size(), rank = world().rank();
  EXPECT_EQ(median_over_ranks(world(), 1.5 + rank), 1.5 + (ranks - 1) / 2);
  EXPECT_EQ(median_over_ranks(world(), 0.0), 0.0);
  EXPECT_EQ(median_over_ranks(world(), 7.0 * rank, rank == ranks - 1), 7.0 * (ranks - 1));
  EXPECT_EQ(median_over_ranks(world(), 3.0, false), 0.0);
}

TEST(Health, MeasuresComputingMemoryAndMessages) {
  const RankHealth own = measure_rank(world(), {.repeats = 1});
  EXPECT_GT(own.compute_seconds, 0.0);
  EXPECT_GT(own.memory_seconds, 0.0);
  EXPECT_EQ(own.latency_seconds > 0.0, world().size() > 1);
}

TEST(Health, NamesTheNodeOfASlowRankAlone) {
  const int ranks = world().size();
  RankHealth own{.compute_seconds = 0.01, .memory_seconds = 0.02};
  if (world().rank() == ranks - 1) own.compute_seconds *= 4.0;
  const HealthResult result = compare_ranks(world(), {.ranks_per_node = 2}, own);
  EXPECT_EQ(result.nodes, (ranks + 1) / 2);
  if (!world().is_root() || ranks == 1) {
    EXPECT_TRUE(result.slow_nodes.empty());
    return;
  }
  ASSERT_EQ(result.slow_nodes.size(), 1);
  const SlowNode& node = result.slow_nodes[0];
  EXPECT_EQ(node.first_rank, (ranks - 1) / 2 * 2);
  EXPECT_EQ(node.slow_ranks, 1);
  EXPECT_EQ(node.ranks, ranks - node.first_rank);
  EXPECT_EQ(node.compute_ratio, 4.0);
}

TEST(Triad, MovesBytes) { EXPECT_GT(triad_bytes_per_second(world(), 1 << 20), 0.0); }

TEST(GhostBench, CountsTheSameBordersForEveryBackend) {
  const GhostGrid grid{.cells = 16, .block_size = 4};
  const auto direct = measure_ghosts(world(), grid, Decomposition::ksection, Backend::p2p, 2);
  for (const Backend backend : {Backend::alltoall, Backend::ksection}) {
    const auto result = measure_ghosts(world(), grid, Decomposition::ksection, backend, 2);
    EXPECT_EQ(result.backend, backend);
    EXPECT_EQ(result.surface.mean, direct.surface.mean);
    EXPECT_EQ(result.neighbours.most, direct.neighbours.most);
    EXPECT_GT(result.seconds, 0.0);
  }
}

TEST(GhostBench, HasTheSurfaceOfCuboidsUnderKSection) {
  const GhostGrid grid{.cells = 16, .block_size = 4};
  const auto result = measure_ghosts(world(), grid, Decomposition::ksection, Backend::p2p, 1);
  const int ranks = world().size();
  if (ranks == 1) {
    EXPECT_EQ(result.surface_to_volume(), 0.0);
    EXPECT_EQ(result.bytes.most, 0);
  }
  if (ranks == 2) {  // two halves, with two faces each
    EXPECT_EQ(result.surface_to_volume(), 2.0 / 8.0);
    EXPECT_EQ(result.neighbours.most, 1);
    // Two layers of cells, five values of eight bytes, through both faces.
    EXPECT_EQ(result.bytes.least, 2 * 2 * 16 * 16 * 5 * 8);
  }
  if (ranks == 4) {  // four columns, each with two faces to each of two others
    EXPECT_EQ(result.surface_to_volume(), 4.0 / 8.0);
    EXPECT_EQ(result.face_neighbours.mean, 2.0);
  }
}

TEST(TransposeBench, CountsWhatLeavesARank) {
  const int ranks = world().size();
  const pencil::Cells cells{16, 12, 12};
  for (const auto backend : {pencil::TransposeBackend::p2p, pencil::TransposeBackend::pairwise}) {
    const TransposeResult result =
        measure_transpose(world(), cells, {1, ranks}, route_of("y-z"), backend, 2);
    const double share = (ranks - 1.0) / ranks;
    EXPECT_NEAR(result.bytes.mean, 8.0 * 16 * 12 * 12 / ranks * share, 1.0);
    EXPECT_EQ(result.messages.most, ranks - 1);
    EXPECT_GT(result.bytes_per_second, 0.0);
  }
}

TEST(TridiagonalBench, ShowsThatPtdmaSendsTwoPlanesPerRank) {
  const int ranks = world().size();
  TridiagonalCase setup{{16, 12, 24}, {1, ranks}, "ftm"};
  const TridiagonalResult full = measure_tridiagonal(world(), setup, 1);
  EXPECT_GT(full.tridiagonal_seconds, 0.0);
  EXPECT_LE(full.tridiagonal_seconds, full.solve_seconds);
  for (const char* method : {"algorithm_1", "algorithm_2", "two_sweeps"}) {
    setup.method = method;
    const TridiagonalResult ends = measure_tridiagonal(world(), setup, 1);
    EXPECT_NEAR(ends.field_bytes.mean * 24, full.field_bytes.mean * 2 * ranks, 24.0);
  }
}

pencil::Field waves(const pencil::PencilGrid& grid) {
  pencil::Field field(grid.box(pencil::Orientation::x));
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j)
      for (int i = 0; i < field.nx(); ++i)
        field(i, j, k) = std::sin(1.0 + i + 3.0 * j + 7.0 * (k + field.box()[2].begin));
  return field;
}

// Both of the paper's algorithms give what the solver gives, which has its own tests.
TEST(TridiagonalBench, SolvesByThePapersAlgorithms) {
  const int planes = 4 * world().size() + 1;
  const pencil::PencilGrid grid(world(), {6, 5, planes}, {1, world().size()});
  pencil::TridiagonalMatrix matrix;
  for (int k = 0; k < planes; ++k) {
    matrix.lower.push_back(-1.0 - 0.01 * k);
    matrix.upper.push_back(-0.7 + 0.02 * k);
    matrix.diagonal.push_back(3.0 + 0.1 * k);
  }
  for (const bool periodic : {false, true})
    for (const auto sweep : {pencil::Sweep::up, pencil::Sweep::down}) {
      matrix.periodic = periodic;
      const pencil::TridiagonalOptions options{pencil::TridiagonalMethod::ptdma, sweep};
      pencil::FieldTridiagonal solver(grid, planes, periodic, options);
      solver.set_matrix(matrix);
      pencil::Field wanted = waves(grid);
      solver.solve(wanted);
      for (const auto algorithm : {PtdmaAlgorithm::one, PtdmaAlgorithm::two}) {
        PaperPtdma<pencil::SharedMatrix> paper(pencil::field_lines(grid, planes, periodic, options),
                                               algorithm);
        paper.set_operator(matrix, 0.0, 1.0);
        pencil::Field found = waves(grid);
        paper.solve({found.row(0, 0), found.plane_stride()});
        for (int k = 0; k < found.nz(); ++k)
          for (int j = 0; j < found.ny(); ++j)
            for (int i = 0; i < found.nx(); ++i)
              EXPECT_NEAR(found(i, j, k), wanted(i, j, k), 1e-14) << periodic;
      }
    }
}

// Fields go to y-pencils and back; the end planes are the same.
TEST(TridiagonalBench, CountsTheDetourByWayOfYPencils) {
  const int ranks = world().size();
  for (const pencil::ProcessGrid processes : {pencil::ProcessGrid{1, ranks}, {ranks, 1}}) {
    TridiagonalCase setup{{24, 24, 24}, processes, "direct"};
    const TridiagonalResult direct = measure_tridiagonal(world(), setup, 1);
    setup.method = "detour";
    const TridiagonalResult detour = measure_tridiagonal(world(), setup, 1);
    const double field = 8.0 * 24 * 24 * 24 / ranks, away = 1.0 - 1.0 / processes.y;
    EXPECT_NEAR(detour.field_bytes.mean, direct.field_bytes.mean + 2.0 * field * away, 8.0 * 24);
    EXPECT_EQ(detour.field_messages.most, direct.field_messages.most + 2 * (processes.y - 1));
    EXPECT_GT(detour.field_seconds, 0.0);
  }
}

TEST(TransposeBench, AddsTheTransposesOfARoute) {
  const int ranks = world().size();
  const pencil::Cells cells{12, 12, 12};
  const auto p2p = pencil::TransposeBackend::p2p;
  const auto bytes = [&](const char* route) {
    return measure_transpose(world(), cells, {1, ranks}, route_of(route), p2p, 1).bytes.mean;
  };
  EXPECT_EQ(bytes("x-y-z"), bytes("x-y") + bytes("y-z"));
  EXPECT_EQ(bytes("zd-x-y-z"), bytes("x-zd") + bytes("x-y-z"));
  for (const char* wrong : {"x", "", "x-w", "xy"}) EXPECT_THROW(route_of(wrong), InputError);
}

TEST(TridiagonalBench, TimesBatchesOnOneRankAlone) {
  const TridiagonalCase setup{{16, 12, 24}, {1, world().size()}, "batches"};
  if (world().size() > 1) {
    EXPECT_THROW(measure_tridiagonal(world(), setup, 1), InputError);
    return;
  }
  const TridiagonalResult result = measure_tridiagonal(world(), setup, 1);
  EXPECT_GT(result.tridiagonal_seconds, 0.0);
  EXPECT_LE(result.tridiagonal_seconds, result.solve_seconds);
  EXPECT_EQ(result.bytes.most, 0);
}

TEST(ParticleBench, MovesEveryParticleOnItsLevel) {
  const ParticleCase tiny{
      .name = "clustered", .particles = 500, .cells = 16, .block_size = 4, .levels = 2};
  const ParticleResult result = measure_particles(world(), tiny, 2);
  ASSERT_EQ(result.by_level.size(), 3u);
  EXPECT_EQ(result.by_level[0] + result.by_level[1] + result.by_level[2], 500);
  EXPECT_GT(result.by_level[2], 50);
  for (const double seconds : result.seconds) EXPECT_GT(seconds, 0.0);
  for (const double seconds : result.cpu_seconds) EXPECT_GT(seconds, 0.0);
}

TEST(Benchmarks, RefuseUnknownNamesOptionsAndCases) {
  EXPECT_THROW(run("sedov", {}), InputError);
  EXPECT_THROW(run("hydro", {"--speed", "high"}), InputError);
  EXPECT_THROW(run("hydro", {"--case", "blob"}), InputError);
  EXPECT_THROW(run("hydro", {"--riemann", "roe"}), InputError);
  EXPECT_THROW(run("hydro", {"--block-size", "5"}), InputError);
  EXPECT_THROW(run("ghost", {"--cells", "-1"}), InputError);
  EXPECT_THROW(run("transpose", {"--cells", "8,8"}), InputError);
  EXPECT_THROW(run("transpose", {"--process-grid", "7x9"}), InputError);
  EXPECT_THROW(run("tridiagonal", {"--method", "cramer"}), InputError);
  EXPECT_THROW(run("particles", {"--particles", "none"}), InputError);
  EXPECT_THROW(run("ghost", {"--json", "/no/such/folder/ghost.json"}), InputError);
}

}  // namespace
}  // namespace octant::bench
