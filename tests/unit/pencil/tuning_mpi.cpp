#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "pencil/tuning.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using namespace reference;

TuningProblem small_problem(TridiagonalMethod method) {
  const Cells cells{8, 8, 16};
  const AxisConditions walls{Condition::neumann, Condition::neumann, Location::centre};
  TuningProblem problem{
      cells, {1.0, 1.0, {}, {}, second_derivative(stretched_faces(16), walls), true}, {}, 3};
  problem.tridiagonal.method = method;
  return problem;
}

TEST(Tuning, MeasuresEveryGridThatFitsWithEveryBackendAndTakesTheFastest) {
  const int ranks = world().size();
  for (const auto method : {TridiagonalMethod::ftm, TridiagonalMethod::ptdma}) {
    const Tuning tuning = tune(world(), small_problem(method), {}, 1);
    EXPECT_EQ(tuning.processes.ranks(), ranks);
    if (ranks == 1) {
      EXPECT_TRUE(tuning.rows.empty());
      EXPECT_EQ(tuning.table(), "");
      continue;
    }
    EXPECT_EQ(tuning.rows.size(),
              std::size(k_transpose_backends) * process_grids(ranks, 8, 8).size());
    EXPECT_EQ(tuning.rows.front().processes, tuning.processes);
    EXPECT_EQ(tuning.rows.front().backend, tuning.backend);
    for (const TuningRow& row : tuning.rows) {
      EXPECT_GE(row.seconds, tuning.rows.front().seconds);
      EXPECT_NE(tuning.table().find(to_string(row.processes)), std::string::npos);
    }
    // All ranks made the same choice.
    EXPECT_EQ(world().max(tuning.processes.y), world().min(tuning.processes.y));
    EXPECT_EQ(world().max(static_cast<int>(tuning.backend)),
              world().min(static_cast<int>(tuning.backend)));
  }
}

TEST(Tuning, IsSkippedWhereAllIsForced) {
  PencilOptions options;
  options.process_grid = "1x" + std::to_string(world().size());
  options.transpose = TransposeBackend::alltoall;
  const Tuning tuning = tune(world(), small_problem(TridiagonalMethod::ftm), options);
  EXPECT_TRUE(tuning.rows.empty());
  EXPECT_EQ(tuning.processes, (ProcessGrid{1, world().size()}));
  EXPECT_EQ(tuning.backend, TransposeBackend::alltoall);
}

TEST(Tuning, RefusesGridsThatDoNotFit) {
  const TuningProblem problem = small_problem(TridiagonalMethod::ftm);
  for (const std::string text : {"2", "x", "2x", "axb", "-1x-1", "3x5", "0x0", "1x1x1"}) {
    PencilOptions options;
    options.process_grid = text;
    EXPECT_THROW(tune(world(), problem, options), InputError) << text;
  }
}

std::string why_no_grid(int ranks, const TuningProblem& problem, const std::string& grid = "auto") {
  PencilOptions options;
  options.process_grid = grid;
  try {
    possible_grids(ranks, problem, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Tuning, NamesTheNextSmallerNumberOfRanksThatHasAProcessGrid) {
  const auto ftm = small_problem(TridiagonalMethod::ftm);
  EXPECT_NE(why_no_grid(97, ftm).find("ranks is 96 (\"6x16\")"), std::string::npos);
  EXPECT_NE(why_no_grid(1 << 30, ftm).find("ranks is 128 (\"8x16\")"), std::string::npos);
  const auto ptdma = small_problem(TridiagonalMethod::ptdma);
  EXPECT_NE(why_no_grid(97, ptdma).find("ranks is 64 (\"8x8\")"), std::string::npos);
}

TEST(Tuning, LeavesEnoughCellsToTheLastRank) {
  TuningProblem problem = small_problem(TridiagonalMethod::ftm);
  EXPECT_EQ(possible_grids(8, problem, {}).size(), 4);
  problem.cells_of_last_rank = {1, 2, 1};
  EXPECT_EQ(possible_grids(8, problem, {}), (std::vector<ProcessGrid>{{1, 8}, {2, 4}, {4, 2}}));
  EXPECT_EQ(why_no_grid(8, problem, "4x2"), "");
  EXPECT_NE(why_no_grid(8, problem, "8x1").find("upper y boundary"), std::string::npos);
  problem.cells_of_last_rank = {1, 1, 2};
  EXPECT_NE(why_no_grid(16, problem, "1x16").find("upper z boundary"), std::string::npos);
  EXPECT_NE(why_no_grid(97, problem).find("ranks is 96 (\"8x12\")"), std::string::npos);
}

TEST(Tuning, NamesTheLimitsOfAllAxesThatTheGridDivides) {
  TuningProblem problem = small_problem(TridiagonalMethod::ftm);
  const auto has = [&](int ranks, const std::string& words) {
    return why_no_grid(ranks, problem).find(words) != std::string::npos;
  };
  EXPECT_TRUE(has(97, "second at most that along z; the next"));
  problem.cells = {4, 8, 16};
  problem.fields = Orientation::z_direct;
  problem.in_batches = true;
  EXPECT_TRUE(has(64, "second at most those along x and z (dns.pencil_axis = \"z\"); the next"));
  EXPECT_TRUE(has(64, "ranks is 32 (\"8x4\")"));
  problem.cells_of_last_rank = {2, 2, 1};
  EXPECT_TRUE(has(64, "with two cells along y on the last rank (outflow at upper y), "));
  EXPECT_TRUE(has(64, "with two cells along x on the last rank (outflow at upper x); the next"));
  EXPECT_TRUE(has(64, "ranks is 21 (\"7x3\")"));
}

TEST(PencilOptions, AreParameters) {
  PencilOptions options;
  ParameterSchema schema;
  declare(schema, options);
  schema.read_text("[grid]\nprocess_grid = \"2x4\"\ntranspose = \"pairwise\"\n", "test");
  EXPECT_EQ(options.forced_grid(), (ProcessGrid{2, 4}));
  EXPECT_EQ(options.transpose, TransposeBackend::pairwise);
  EXPECT_THROW(schema.read_text("[grid]\ntranspose = \"fast\"\n", "test"), InputError);
}

}  // namespace
}  // namespace octant::pencil
