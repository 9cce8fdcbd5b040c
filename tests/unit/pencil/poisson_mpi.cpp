#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using namespace reference;
using enum Condition;

Array solved(const PencilGrid& grid, const Operator& op, const Array& f,
             const PoissonOptions& options = {}) {
  PoissonSolver solver(grid, op.problem, options);
  if (op.identity != 0.0 || op.laplacian != 1.0) solver.set_operator(op.identity, op.laplacian);
  Field field = local_part(f, grid);
  solver.solve(field);
  return gathered(field, grid);
}

PoissonOptions with(TridiagonalMethod method, Sweep sweep = Sweep::up) {
  PoissonOptions options;
  options.tridiagonal = {method, sweep, TransposeBackend::p2p};
  return options;
}

constexpr double k_backward_error = 1e-12;

TEST(Poisson, IsInvertedForEveryPairOfConditionsAlongXAndY) {
  const Cells cells{13, 10, 17};
  const AxisConditions walls{neumann, neumann, Location::centre};
  for (const ProcessGrid processes : selected_grids(world().size(), 10, 8)) {
    const PencilGrid grid(world(), cells, processes);
    for (const AxisConditions& x : k_all_conditions)
      for (const AxisConditions& y : k_all_conditions) {
        const Operator op{problem_of(x, y, walls, cells)};
        const Array f = right_hand_side(op, cells, 1);
        EXPECT_LE(op.backward_error(solved(grid, op, f), f), k_backward_error)
            << to_string(processes) << ": x " << to_string(x) << ", y " << to_string(y);
      }
  }
}

TEST(Poisson, IsInvertedForEveryPairOfConditionsAlongZByEveryMethod) {
  const Cells cells{8, 9, 19};
  const AxisConditions x{}, y{neumann, neumann, Location::centre};
  for (const ProcessGrid processes : selected_grids(world().size(), 9, 9)) {
    const PencilGrid grid(world(), cells, processes);
    for (const AxisConditions& z : k_all_conditions)
      for (const Sweep sweep : {Sweep::up, Sweep::down})
        for (const double identity : {0.0, 1.0}) {
          const Operator op{problem_of(x, y, z, cells), identity, identity == 0.0 ? 1.0 : -0.01};
          const Array f = right_hand_side(op, cells, 2);
          const std::string what =
              fmt::format("{}: z {}, {}, identity {}", to_string(processes), to_string(z),
                          sweep == Sweep::up ? "up" : "down", identity);
          const Array ftm = solved(grid, op, f, with(TridiagonalMethod::ftm, sweep));
          EXPECT_LE(op.backward_error(ftm, f), k_backward_error) << "ftm " << what;
          const Array ptdma = solved(grid, op, f, with(TridiagonalMethod::ptdma, sweep));
          EXPECT_LE(op.backward_error(ptdma, f), k_backward_error) << "ptdma " << what;
          EXPECT_LE(largest_difference(ptdma, ftm), 1e-11 * ftm.largest()) << "ptdma " << what;
        }
  }
}

TEST(Poisson, IsInvertedForOddPrimeAndIndivisibleSizes) {
  const AxisConditions walls{dirichlet, neumann, Location::centre};
  for (const Cells& cells : {Cells{7, 11, 16}, Cells{1, 9, 17}, Cells{37, 8, 18}, Cells{30, 31, 23},
                             Cells{2, 8, 16}, Cells{64, 8, 16}, Cells{48, 20, 24}})
    for (const ProcessGrid processes : process_grids(world().size(), 8, 8)) {
      const PencilGrid grid(world(), cells, processes);
      const Operator op{problem_of({}, {}, walls, cells)};
      const Array f = random_array(cells, 3);
      for (const auto method : {TridiagonalMethod::ftm, TridiagonalMethod::ptdma})
        EXPECT_LE(op.backward_error(solved(grid, op, f, with(method)), f), k_backward_error)
            << to_string(processes) << ": " << cells[0] << " x " << cells[1] << " x " << cells[2];
    }
}

TEST(Poisson, HasTheSameBitsOnEveryProcessGridAndBackendWithTheFullTranspose) {
  const AxisConditions centre{neumann, neumann, Location::centre};
  const AxisConditions mixed{dirichlet, neumann, Location::centre};
  const AxisConditions face{dirichlet, dirichlet, Location::face};
  const AxisConditions inner{dirichlet, neumann, Location::inner_face};
  const AxisConditions mirrored{neumann, dirichlet, Location::inner_face};
  // Columns of 46, or 61, make full blocks on three, or two and four, ranks along z.
  for (const Cells& cells : {Cells{20, 18, 16}, Cells{46, 14, 17}, Cells{61, 9, 16}})
    for (const auto& [x, y, z] :
         {std::array{AxisConditions{}, AxisConditions{}, centre},
          std::array{AxisConditions{}, mixed, AxisConditions{}}, std::array{face, mixed, mixed},
          std::array{centre, AxisConditions{}, face}, std::array{inner, mirrored, inner}}) {
      const Operator op{problem_of(x, y, z, cells)};
      const Array f = right_hand_side(op, cells, 4);
      const PencilGrid alone(world().split(world().rank()), cells, {1, 1});
      for (const Sweep sweep : {Sweep::up, Sweep::down}) {
        PoissonOptions options = with(TridiagonalMethod::ftm, sweep);
        const Array expected = solved(alone, op, f, options);
        for (const ProcessGrid processes : selected_grids(world().size(), 8, 8))
          for (const TransposeBackend backend : k_transpose_backends) {
            options.transpose = options.tridiagonal.backend = backend;
            const PencilGrid grid(world(), cells, processes);
            EXPECT_EQ(solved(grid, op, f, options).values, expected.values)
                << to_string(processes) << " " << name_of(backend);
          }
      }
    }
}

TEST(Poisson, IsInvertedOnASingleInnerFace) {
  const AxisConditions walls{dirichlet, neumann, Location::centre};
  for (const AxisConditions& x : k_all_conditions) {
    if (x.location != Location::inner_face) continue;
    const Cells cells{2, 8, 16};
    const Operator op{problem_of(x, {}, walls, cells)};
    const Array f = random_array(cells, 10);
    for (const ProcessGrid processes : process_grids(world().size(), 8, 8))
      EXPECT_LE(op.backward_error(solved(PencilGrid(world(), cells, processes), op, f), f),
                k_backward_error)
          << to_string(processes) << ": " << to_string(x);
  }
}

TEST(Poisson, KeepsEntriesThatAreNoUnknowns) {
  const Cells cells{9, 8, 16};
  const AxisConditions face{dirichlet, dirichlet, Location::face};
  const AxisConditions inner{neumann, neumann, Location::inner_face};
  const Operator op{problem_of(inner, face, inner, cells), 1.0, -0.1};
  const Array f = random_array(cells, 5);
  for (const ProcessGrid processes : process_grids(world().size(), 8, 6)) {
    const Array phi = solved(PencilGrid(world(), cells, processes), op, f);
    for (int j = 0; j < cells[1]; ++j) EXPECT_EQ(phi(8, j, 3), f(8, j, 3));
    for (int i = 0; i < cells[0]; ++i) EXPECT_EQ(phi(i, 7, 3), f(i, 7, 3));
    for (int i = 0; i < cells[0]; ++i) EXPECT_EQ(phi(i, 2, 15), f(i, 2, 15));
  }
}

TEST(Poisson, FixesTheConstantByTheMeanOfTheLastPlane) {
  const Cells cells{12, 10, 16};
  const AxisConditions walls{neumann, neumann, Location::centre};
  const Operator op{problem_of({}, {}, walls, cells)};
  const Array f = right_hand_side(op, cells, 6);
  for (const ProcessGrid processes : process_grids(world().size(), 8, 8))
    for (const auto method : {TridiagonalMethod::ftm, TridiagonalMethod::ptdma})
      for (const Sweep sweep : {Sweep::up, Sweep::down}) {
        const PencilGrid grid(world(), cells, processes);
        const Array phi = solved(grid, op, f, with(method, sweep));
        double sum = 0.0;
        for (int j = 0; j < cells[1]; ++j)
          for (int i = 0; i < cells[0]; ++i) sum += phi(i, j, sweep == Sweep::up ? 15 : 0);
        EXPECT_LE(std::abs(sum), 1e-12 * phi.largest() * cells[0] * cells[1]);
      }
}

TEST(Poisson, SolvesPlaneByPlaneAsWholeFields) {
  const Cells cells{16, 9, 16};
  const AxisConditions walls{dirichlet, dirichlet, Location::centre};
  const Operator op{problem_of({}, {}, walls, cells)};
  const Array f = random_array(cells, 7);
  for (const ProcessGrid processes : process_grids(world().size(), 8, 8)) {
    const PencilGrid grid(world(), cells, processes);
    const Array expected = solved(grid, op, f);
    PoissonSolver solver(grid, op.problem);
    const Field source = local_part(f, grid);
    Field solution(grid.box(Orientation::x));
    std::vector<double> plane(static_cast<std::size_t>(source.ny()) * 17 + 1);  // odd addresses
    for (int repeat = 0; repeat < 2; ++repeat) {
      for (int k = 0; k < solver.planes(); ++k) {
        for (int j = 0; j < solver.rows(); ++j)
          solver.transform_rows({}, k, {j, j + 1}, source.row(k, j), 0);
        solver.forward({}, k);
      }
      solver.exchange();
      for (int k = solver.planes() - 1; k >= 0; --k) {
        solver.backward({}, k, plane.data() + 1, 17);
        for (int j = 0; j < source.ny(); ++j)
          std::copy_n(plane.data() + 1 + 17 * j, 16, solution.row(k, j));
      }
      EXPECT_EQ(gathered(solution, grid).values, expected.values);
    }
  }
}

// A right-hand side that a sweep makes: one plane lower than its cells.
Field one_plane_lower(const Array& f, const PencilGrid& grid) {
  Field field = local_part(f, grid);
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j)
      std::copy_n(field.row(k, j), field.nx(), field.row(k, j, -1));
  return field;
}

TEST(Poisson, SharesFactorsWithATwinAndKeepsCoefficientsWhereTheRightHandSideLay) {
  const Cells cells{17, 9, 16};
  const AxisConditions walls{dirichlet, dirichlet, Location::centre};
  const Operator op{problem_of({}, {}, walls, cells), 1.0, -0.1};
  const Array right_sides[] = {random_array(cells, 8), random_array(cells, 9)};
  for (const TridiagonalMethod method : {TridiagonalMethod::ftm, TridiagonalMethod::ptdma})
    for (const ProcessGrid processes : process_grids(world().size(), 8, 8)) {
      const PencilGrid grid(world(), cells, processes);
      PoissonOptions options = with(method);
      if (!PoissonSolver::keeps_planes(grid, options.tridiagonal)) continue;
      std::vector<Field> fields;
      for (const Array& f : right_sides) fields.push_back(one_plane_lower(f, grid));
      std::vector<PoissonSolver> solvers;
      for (Field& field : fields) {
        options.kept = {field.row(0, -1, -1) - Field::k_pad, field.plane_stride()};
        solvers.push_back(
            PoissonSolver(grid, op.problem, options, solvers.empty() ? nullptr : &solvers.front()));
      }
      solvers.front().set_operator(op.identity, op.laplacian);
      for (int k = 0; k < solvers[0].planes(); ++k)
        for (int n : {0, 1}) {
          const Range rows{0, solvers[n].rows()};
          solvers[n].transform_rows({}, k, rows, fields[n].row(k, 0, -1), fields[n].row_stride());
          solvers[n].forward({}, k);
        }
      for (PoissonSolver& solver : solvers) solver.exchange();
      for (int k = solvers[0].planes() - 1; k >= 0; --k)
        for (int n : {0, 1})
          solvers[n].backward({}, k, fields[n].row(k, 0), fields[n].row_stride());
      for (int n : {0, 1})
        EXPECT_EQ(gathered(fields[n], grid).values,
                  solved(grid, op, right_sides[n], with(method)).values)
            << to_string(processes);
    }
}

TEST(Poisson, RefusesConditionsAndPartitionsThatDoNotFit) {
  const PencilGrid alone(world().split(world().rank()), {8, 8, 8}, {1, 1});
  const AxisConditions half{periodic, neumann, Location::centre};
  const AxisConditions walls{neumann, neumann, Location::centre};
  PoissonProblem problem = problem_of({}, {}, walls, {8, 8, 8});
  problem.x = half;
  EXPECT_THROW(PoissonSolver(alone, problem), InputError);
  if (world().size() == 1) return;
  const Cells thin{8, 8, 2 * world().size() - 1};
  const PencilGrid grid(world(), thin, {1, world().size()});
  const PoissonProblem fits = problem_of({}, {}, walls, thin);
  EXPECT_THROW(PoissonSolver(grid, fits, with(TridiagonalMethod::ptdma)), InputError);
  EXPECT_NO_THROW(PoissonSolver(grid, fits, with(TridiagonalMethod::ftm)));
}

TEST(Poisson, WorksWithTwoAndThreePlanesPerRank) {
  for (const int planes : {2, 3}) {
    const Cells cells{10, 9, planes * world().size()};
    const PencilGrid grid(world(), cells, {1, world().size()});
    for (const AxisConditions& z :
         {k_all_conditions[0], k_all_conditions[1], k_all_conditions[2]}) {
      const Operator op{problem_of({}, k_all_conditions[1], z, cells)};
      const Array f = random_array(cells, 8);
      const Array phi = solved(grid, op, f, with(TridiagonalMethod::ptdma));
      EXPECT_LE(op.backward_error(phi, f), k_backward_error) << planes << " planes";
    }
  }
}

}  // namespace
}  // namespace octant::pencil
