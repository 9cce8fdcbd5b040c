// Threads that sweep over planes together. CTest gives this program two of them.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "pencil/device_field.hpp"
#include "pencil/poisson_solver.hpp"
#include "pencil/team.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {

using namespace reference;

namespace {

TEST(Team, SharesOutEveryRowOnce) {
  for (const int rows : {1, 2, 7, 64}) {
    std::vector<int> taken(rows);
    in_team("test", [&](const Team& team) {
      EXPECT_EQ(team.size(), team_size());
      const Range own = team.share(Range{0, rows});
      for (int j = own.begin; j < own.end; ++j) ++taken[j];
    });
    EXPECT_EQ(taken, std::vector<int>(rows, 1));
  }
}

TEST(Team, WaitsAtBarriersForAll) {
  std::vector<int> rounds(team_size());
  bool all_there = true;
  in_team("test", [&](const Team& team) {
    for (int n = 1; n <= 100; ++n) {
      rounds[team.rank()] = n;
      team.barrier();
      if (team.is_first())
        for (const int round : rounds) all_there = all_there && round == n;
      team.barrier();
    }
  });
  EXPECT_TRUE(all_there);
}

TEST(Team, MakesPlanesOnce) {
  PlanesMade made;
  std::vector<int> count(5 * team_size());
  const auto sweep = [&](const Team& team) {
    for (int n = 0; n < 5; ++n) count[5 * team.rank() + n] += made.takes_up(team, n) ? 1 : 0;
  };
  in_team("test", sweep);
  in_team("test", sweep);
  sweep(Team());
  EXPECT_EQ(count, std::vector<int>(5 * team_size(), 1));
}

// Plane by plane as one thread alone, and as all threads together.
Field solved_by(const Team* alone, PoissonSolver& solver, const Field& source) {
  Field solution(source.box());
  const auto sweep = [&](const auto& planes) {
    if (alone) planes(*alone);
    else in_team("test", planes);
  };
  sweep([&](const Team& team) {
    const Range own = solver.rows(team);
    for (int k = 0; k < solver.planes(); ++k) {
      solver.transform_rows(team, k, own, source.row(k, own.begin), source.row_stride());
      solver.forward(team, k);
      team.barrier();
    }
  });
  solver.exchange();
  sweep([&](const Team& team) {
    for (int k = solver.planes() - 1; k >= 0; --k) {
      solver.backward(team, k, solution.row(k, 0), solution.row_stride());
      team.barrier();
    }
  });
  return solution;
}

// By all threads in batches.
Field solved_at_once(BatchedPoisson& solver, const Field& source) {
  DeviceField device(source.box());
  device.copy_from(source);
  solver.solve(device.view());
  Field solution(source.box());
  device.copy_to(solution);
  return solution;
}

TEST(Team, SolvesWithTheSameBitsAsOneThread) {
  const AxisConditions walls{Condition::neumann, Condition::neumann};
  const Team alone;
  for (const Cells& cells : {Cells{64, 24, 40}, Cells{37, 9, 16}, Cells{8, 3, 70}})
    for (const bool z_is_periodic : {false, true}) {
      const AxisConditions z = z_is_periodic ? AxisConditions{} : walls;
      const PencilGrid grid(Communicator::world(), cells, {1, 1});
      const PoissonProblem problem{
          0.1, 0.2, {}, walls, second_derivative(stretched_faces(cells[2]), z), true};
      const Field source = local_part(random_array(cells, 3), grid);
      PoissonSolver one(grid, problem), all(grid, problem);
      BatchedPoisson batched(grid, problem);
      for (int repeat = 0; repeat < 2; ++repeat) {
        const Field expected = solved_by(&alone, one, source);
        const Field solution = solved_by(nullptr, all, source);
        const Field at_once = solved_at_once(batched, source);
        for (int k = 0; k < cells[2]; ++k)
          for (int j = 0; j < cells[1]; ++j)
            for (const Field* field : {&solution, &at_once})
              EXPECT_TRUE(
                  std::equal(expected.row(k, j), expected.row(k, j) + cells[0], field->row(k, j)));
      }
    }
}

}  // namespace

}  // namespace octant::pencil
