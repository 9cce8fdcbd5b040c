#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "pencil/y_pass.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using namespace reference;
using enum Condition;

Array solved(const PencilGrid& grid, const TridiagonalMatrix& matrix, const Array& f,
             const TridiagonalOptions& options, int plane_offset = 0) {
  FieldTridiagonal solver(grid, matrix.size(), matrix.periodic, options);
  solver.set_matrix(matrix);
  Field field = local_part(f, grid);
  if (plane_offset != 0)
    for (int k = 0; k < field.nz(); ++k)
      for (int j = 0; j < field.ny(); ++j)
        std::copy_n(field.row(k, j), field.nx(), field.row(k, j, plane_offset));
  solver.solve(field, plane_offset);
  if (plane_offset != 0)
    for (int k = field.nz() - 1; k >= 0; --k)
      for (int j = 0; j < field.ny(); ++j)
        std::copy_n(field.row(k, j, plane_offset), field.nx(), field.row(k, j));
  return gathered(field, grid);
}

double backward_error(const TridiagonalMatrix& a, const Array& phi, const Array& f) {
  const int n = a.size();
  double most = 0.0, norm = 0.0;
  for (int k = 0; k < n; ++k) {
    norm = std::max(norm, std::abs(a.lower[k]) + std::abs(a.diagonal[k]) + std::abs(a.upper[k]));
    for (int j = 0; j < f.cells[1]; ++j)
      for (int i = 0; i < f.cells[0]; ++i) {
        double sum = a.diagonal[k] * phi(i, j, k) - f(i, j, k);
        if (k > 0 || a.periodic) sum += a.lower[k] * phi(i, j, (k + n - 1) % n);
        if (k < n - 1 || a.periodic) sum += a.upper[k] * phi(i, j, (k + 1) % n);
        most = std::max(most, std::abs(sum));
      }
  }
  return most / (norm * phi.largest() + f.largest());
}

TEST(FieldTridiagonal, IsInvertedByEveryMethodAndLeavesTheWallAlone) {
  const Cells cells{7, 8, 18};
  const Array f = random_array(cells, 1);
  for (const ProcessGrid processes : process_grids(world().size(), 8, 8)) {
    const PencilGrid grid(world(), cells, processes);
    for (const AxisConditions& conditions :
         {AxisConditions{}, AxisConditions{dirichlet, dirichlet, Location::centre},
          AxisConditions{dirichlet, neumann, Location::centre},
          AxisConditions{dirichlet, dirichlet, Location::face}})
      for (const Sweep sweep : {Sweep::up, Sweep::down}) {
        const TridiagonalMatrix matrix = diffusion(conditions, cells[2]);
        const Array ftm = solved(grid, matrix, f, {TridiagonalMethod::ftm, sweep});
        EXPECT_LE(backward_error(matrix, ftm, f), 1e-13) << to_string(processes);
        const Array phi = solved(grid, matrix, f, {TridiagonalMethod::ptdma, sweep});
        EXPECT_LE(backward_error(matrix, phi, f), 1e-13) << to_string(processes);
        if (matrix.size() == cells[2]) continue;
        for (int i = 0; i < 7; ++i) EXPECT_EQ(phi(i, 3, 17), f(i, 3, 17));
      }
  }
}

TEST(FieldTridiagonal, HasTheSameBitsOnEveryProcessGridWithTheFullTranspose) {
  const Cells cells{6, 8, 16};
  const Array f = random_array(cells, 2);
  const TridiagonalMatrix matrix = diffusion({dirichlet, dirichlet, Location::centre}, cells[2]);
  const PencilGrid alone(world().split(world().rank()), cells, {1, 1});
  for (const Sweep sweep : {Sweep::up, Sweep::down}) {
    TridiagonalOptions options{TridiagonalMethod::ftm, sweep};
    const Array expected = solved(alone, matrix, f, options);
    for (const ProcessGrid processes : process_grids(world().size(), 8, 8))
      for (const TransposeBackend backend : k_transpose_backends)
        for (const int plane_offset : {0, -1}) {
          options.backend = backend;
          EXPECT_EQ(solved(PencilGrid(world(), cells, processes), matrix, f, options, plane_offset)
                        .values,
                    expected.values)
              << to_string(processes) << " " << name_of(backend);
        }
  }
}

TEST(FieldTridiagonal, TakesANewMatrixWithoutTalking) {
  const Cells cells{6, 8, 4 * world().size()};
  const PencilGrid grid(world(), cells, {1, world().size()});
  const Array f = random_array(cells, 3);
  FieldTridiagonal solver(grid, cells[2], false, {TridiagonalMethod::ptdma});
  for (const double factor : {1.0, 3.0}) {
    TridiagonalMatrix matrix = diffusion({neumann, neumann, Location::centre}, cells[2]);
    for (double& value : matrix.diagonal) value *= factor;
    const std::int64_t before = solver.traffic().bytes;
    solver.set_matrix(matrix);
    EXPECT_EQ(solver.traffic().bytes, before);
    Field field = local_part(f, grid);
    solver.solve(field);
    EXPECT_LE(backward_error(matrix, gathered(field, grid), f), 1e-13);
  }
}

TEST(ThomasFactors, SolveALineInBothDirections) {
  const int n = 11;
  const TridiagonalMatrix matrix = diffusion({dirichlet, neumann, Location::centre}, n);
  const Array f = random_array({1, 1, n}, 4);
  for (const Sweep sweep : {Sweep::up, Sweep::down}) {
    const ThomasFactors factors(matrix, sweep);
    const int step = sweep == Sweep::up ? 1 : -1, first = sweep == Sweep::up ? 0 : n - 1;
    Array phi = f;
    for (int m = 0, k = first; m < n; ++m, k += step)
      phi(0, 0, k) = (phi(0, 0, k) - (m == 0 ? 0.0 : factors.lower[k] * phi(0, 0, k - step))) *
                     factors.reciprocal[k];
    for (int m = n - 2, k = first + step * (n - 2); m >= 0; --m, k -= step)
      phi(0, 0, k) -= factors.back[k] * phi(0, 0, k + step);
    EXPECT_LE(backward_error(matrix, phi, f), 1e-14);
  }
}

// The paper's section 2.2.3: two planes of n_x n_y / p_y values per rank and direction, of which a
// share of 1 / p_z stays on the rank.
TEST(Ptdma, SendsTwoPlanesPerRankHoweverManyRanksThereAreAlongZ) {
  const int ranks = world().size();
  const Cells cells{32, 24, 4 * ranks};
  for (const ProcessGrid processes : process_grids(ranks, 3, 8)) {
    const PencilGrid grid(world(), cells, processes);
    const PoissonProblem problem{
        1.0,
        1.0,
        {},
        {},
        second_derivative(stretched_faces(cells[2]), {neumann, neumann, Location::centre}),
        true};
    PoissonOptions options;
    options.tridiagonal.method = TridiagonalMethod::ptdma;
    PoissonSolver solver(grid, problem, options);
    Field field = local_part(random_array(cells, 5), grid);
    solver.solve(field);
    const Box lines{columns_of(cells[0], processes.y, grid.y_index()), {0, cells[1]}, {0, 1}};
    const std::int64_t kept = ShiftedMatrices::share(lines, processes.z, grid.z_index()).cells();
    // Forward all lines but the own ones travel; backward, the other ranks' planes of these.
    const std::int64_t forward = 2 * (lines.cells() - kept);
    const std::int64_t backward = 2 * kept * (processes.z - 1);
    EXPECT_EQ(solver.report().z.bytes, 8 * (forward + backward)) << to_string(processes);
    // With what stays on the rank, two planes each way, whatever p_z is.
    const bool divisible = cells[0] / 2 % ranks == 0;
    if (processes.z == 1 || !divisible) continue;
    EXPECT_EQ(solver.report().z.bytes + solver.report().z.kept_bytes,
              8 * 2 * (2 * cells[0] * cells[1] / processes.y))
        << to_string(processes);
  }
}

// The components of a velocity: one message to each rank along z and direction instead of three.
TEST(Ptdma, JoinsTheMessagesOfSeveralFieldsWithoutAChangeOfTheirBits) {
  const int ranks = world().size();
  const Cells cells{18, 16, 3 * ranks};
  for (const ProcessGrid processes : process_grids(ranks, 3, 8)) {
    const PencilGrid grid(world(), cells, processes);
    const TridiagonalOptions options{TridiagonalMethod::ptdma};
    std::vector<FieldTridiagonal> solvers;
    std::vector<Field> fields, expected;
    for (int n = 0; n < 3; ++n) {
      // The last one has a wall's face.
      const AxisConditions z{dirichlet, dirichlet, n == 2 ? Location::face : Location::centre};
      const TridiagonalMatrix matrix = diffusion(z, cells[2]);
      solvers.emplace_back(grid, matrix.size(), false, options);
      solvers.back().set_matrix(matrix);
      fields.push_back(local_part(random_array(cells, 10 + n), grid));
      expected.push_back(local_part(random_array(cells, 10 + n), grid));
      solvers.back().solve(expected.back());
    }
    FieldTridiagonals together(solvers);
    const std::int64_t before = together.traffic().messages, bytes = together.traffic().bytes;
    const int planes = fields[0].nz();
    for (int n = 0; n < 3; ++n)
      for (int k = 0; k < planes; ++k) solvers[n].forward({}, fields[n], k, 0);
    together.exchange(std::array{&fields[0], &fields[1], &fields[2]}, 0);
    for (int n = 0; n < 3; ++n)
      for (int k = planes - 1; k >= 0; --k) solvers[n].backward({}, fields[n], k, 0, 0);
    for (int n = 0; n < 3; ++n)
      EXPECT_EQ(gathered(fields[n], grid).values, gathered(expected[n], grid).values);
    EXPECT_EQ(before, 3 * 2 * (processes.z - 1)) << to_string(processes);
    EXPECT_EQ(together.traffic().messages - before, 2 * (processes.z - 1)) << to_string(processes);
    EXPECT_EQ(together.traffic().bytes - bytes, bytes);
  }
}

TEST(Ptdma, JoinsTheMessagesOfSeveralPoissonSolversWithoutAChangeOfTheirBits) {
  const Cells cells{16, 12, 3 * world().size()};
  const AxisConditions walls{neumann, neumann, Location::centre};
  for (const ProcessGrid processes : process_grids(world().size(), 3, 8)) {
    const PencilGrid grid(world(), cells, processes);
    PoissonOptions options;
    options.tridiagonal.method = TridiagonalMethod::ptdma;
    std::vector<PoissonSolver> solvers;
    std::vector<Field> fields, expected;
    solvers.reserve(3);
    for (int n = 0; n < 3; ++n) {
      const AxisConditions y = n == 1 ? walls : AxisConditions{};
      const PoissonProblem problem{
          1.0, 1.0, {}, y, second_derivative(stretched_faces(cells[2]), walls), true};
      solvers.emplace_back(grid, problem, options, n == 2 ? solvers.data() : nullptr);
      solvers.front().set_operator(1.0, -0.1);
      solvers.back().set_operator(1.0, -0.1);
      fields.push_back(local_part(random_array(cells, 20 + n), grid));
      expected.push_back(local_part(random_array(cells, 20 + n), grid));
      solvers.back().solve(expected.back());
    }
    PoissonSolvers together(solvers);
    const std::int64_t before = together.report().z.messages;
    const Team alone;
    for (int n = 0; n < 3; ++n)
      for (int k = 0; k < solvers[n].planes(); ++k) {
        solvers[n].transform_rows(alone, k, {0, solvers[n].rows()}, fields[n].row(k, 0),
                                  fields[n].row_stride());
        solvers[n].forward(alone, k);
      }
    together.exchange();
    for (int n = 0; n < 3; ++n)
      for (int k = solvers[n].planes() - 1; k >= 0; --k)
        solvers[n].backward(alone, k, fields[n].row(k, 0), fields[n].row_stride());
    for (int n = 0; n < 3; ++n)
      EXPECT_EQ(gathered(fields[n], grid).values, gathered(expected[n], grid).values);
    EXPECT_EQ(together.report().z.messages - before, 2 * (processes.z - 1));
  }
}

TEST(Ptdma, MovesLessThanATenthOfTheFullTransposeOnTwoByFourRanks) {
  if (world().size() != 8) return;
  const Cells cells{32, 16, 128};
  const PencilGrid grid(world(), cells, {2, 4});
  const PoissonProblem problem{
      1.0,
      1.0,
      {},
      {},
      second_derivative(stretched_faces(cells[2]), {neumann, neumann, Location::centre}),
      true};
  std::int64_t bytes[2];
  for (const auto method : {TridiagonalMethod::ftm, TridiagonalMethod::ptdma}) {
    PoissonOptions options;
    options.tridiagonal.method = method;
    PoissonSolver solver(grid, problem, options);
    Field field = local_part(random_array(cells, 6), grid);
    solver.solve(field);
    bytes[static_cast<int>(method)] = world().sum(solver.report().z.bytes);
  }
  EXPECT_LT(10 * bytes[1], bytes[0]);
  EXPECT_EQ(16 * bytes[1], bytes[0]);  // 2 planes of 32
}

TEST(Ptdma, RefusesFewerThanTwoPlanesOnARank) {
  const int ranks = world().size();
  if (ranks == 1) return;
  const PencilGrid thin(world(), {4, 4, 2 * ranks - 1}, {1, ranks});
  EXPECT_THROW(FieldTridiagonal(thin, 2 * ranks - 1, false, {TridiagonalMethod::ptdma}),
               InputError);
  const PencilGrid wall(world(), {4, 4, 2 * ranks}, {1, ranks});
  EXPECT_THROW(check_ptdma_planes(wall, 2 * ranks - 1), InputError);
  EXPECT_NO_THROW(check_ptdma_planes(wall, 2 * ranks));
}

}  // namespace
}  // namespace octant::pencil
