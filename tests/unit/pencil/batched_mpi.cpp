#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "pencil/batched_lines.hpp"
#include "pencil/field_halo.hpp"
#include "pencil/plane_transform.hpp"
#include "pencil/poisson_solver.hpp"
#include "tests/unit/pencil/reference.hpp"

namespace octant::pencil {
namespace {

using namespace reference;
using enum Condition;

constexpr double k_batched_error = 1e-12;

// Of one rank: each solves alone.
PencilGrid alone(const Cells& cells) {
  return PencilGrid(world().split(world().rank()), cells, {1, 1});
}

// What a solver of views makes of an array.
template <class Solver>
Array solved_on_device(const PencilGrid& grid, Solver& solver, const Array& f) {
  Field field = local_part(f, grid);
  DeviceField device(field.box());
  device.copy_from(field);
  solver.solve(device.view());
  device.copy_to(field);
  return gathered(field, grid);
}

Array solved_in_batches(const PencilGrid& grid, const Operator& op, const Array& f,
                        Sweep sweep = Sweep::up,
                        TridiagonalMethod method = TridiagonalMethod::ftm) {
  BatchedPoisson solver(grid, op.problem, {.method = method, .sweep = sweep});
  if (op.identity != 0.0 || op.laplacian != 1.0) solver.set_operator(op.identity, op.laplacian);
  return solved_on_device(grid, solver, f);
}

Array solved_by_planes(const PencilGrid& grid, const Operator& op, const Array& f,
                       Sweep sweep = Sweep::up, TridiagonalMethod method = TridiagonalMethod::ftm) {
  PoissonOptions options;
  options.tridiagonal.method = method;
  options.tridiagonal.sweep = sweep;
  PoissonSolver solver(grid, op.problem, options);
  if (op.identity != 0.0 || op.laplacian != 1.0) solver.set_operator(op.identity, op.laplacian);
  Field field = local_part(f, grid);
  solver.solve(field);
  return gathered(field, grid);
}

// The same bits, or to round-off where a GPU's transforms are others.
void expect_solution_of_planes(const Array& phi, const Array& expected, const std::string& what) {
  if (k_device_is_host) EXPECT_EQ(phi.values, expected.values) << what;
  else EXPECT_LE(largest_difference(phi, expected), 1e-11 * expected.largest()) << what;
}

TEST(DeviceField, HoldsAFieldWithItsGhosts) {
  const Box box{Range{0, 5}, {0, 3}, {0, 2}};
  Field field(box), copy(box);
  double value = 1.0;
  for (int k = -1; k <= 2; ++k)
    for (int j = -1; j <= 3; ++j)
      for (int i = -1; i <= 5; ++i) field.row(k, j)[i] = value++;
  DeviceField device(box);
  device.copy_from(field);
  device.copy_to(copy);
  for (int k = -1; k <= 2; ++k)
    for (int j = -1; j <= 3; ++j)
      for (int i = -1; i <= 5; ++i) EXPECT_EQ(copy.row(k, j)[i], field.row(k, j)[i]);
  EXPECT_THROW(device.copy_from(Field({Range{0, 5}, {0, 4}, {0, 2}})), RunError);
}

TEST(BatchedPoisson, HasTheBitsOfThePlanesForEveryPairOfConditionsAlongXAndY) {
  const Cells cells{13, 10, 5};
  const AxisConditions walls{neumann, neumann, Location::centre};
  const PencilGrid grid = alone(cells);
  Share share;
  for (const AxisConditions& x : k_all_conditions)
    for (const AxisConditions& y : k_all_conditions) {
      if (!share.takes_next()) continue;
      const Operator op{problem_of(x, y, walls, cells)};
      const Array f = right_hand_side(op, cells, 1);
      const Array phi = solved_in_batches(grid, op, f);
      const std::string what = fmt::format("x {}, y {}", to_string(x), to_string(y));
      expect_solution_of_planes(phi, solved_by_planes(grid, op, f), what);
      EXPECT_LE(op.backward_error(phi, f), k_batched_error) << what;
    }
}

TEST(BatchedPoisson, HasTheBitsOfThePlanesForEveryPairOfConditionsAlongZ) {
  const Cells cells{8, 9, 19};
  const AxisConditions x{}, y{neumann, neumann, Location::centre};
  const PencilGrid grid = alone(cells);
  Share share;
  for (const AxisConditions& z : k_all_conditions)
    for (const Sweep sweep : {Sweep::up, Sweep::down})
      for (const double identity : {0.0, 1.0}) {
        if (!share.takes_next()) continue;
        const Operator op{problem_of(x, y, z, cells), identity, identity == 0.0 ? 1.0 : -0.01};
        const Array f = right_hand_side(op, cells, 2);
        const Array phi = solved_in_batches(grid, op, f, sweep);
        const std::string what = fmt::format("z {}, {}, identity {}", to_string(z),
                                             sweep == Sweep::up ? "up" : "down", identity);
        expect_solution_of_planes(phi, solved_by_planes(grid, op, f, sweep), what);
        EXPECT_LE(op.backward_error(phi, f), k_batched_error) << what;
      }
}

TEST(BatchedPoisson, HasTheBitsOfThePlanesForOddPrimeAndSmallSizes) {
  const AxisConditions walls{dirichlet, neumann, Location::centre};
  for (const Cells& cells : {Cells{7, 11, 16}, Cells{1, 9, 17}, Cells{37, 8, 18}, Cells{30, 31, 23},
                             Cells{2, 8, 1}, Cells{64, 1, 2}, Cells{48, 20, 24}}) {
    const PencilGrid grid = alone(cells);
    for (const AxisConditions& z : {walls, AxisConditions{}}) {
      if (z.periodic() && cells[2] < 2) continue;
      const Operator op{problem_of({}, {}, z, cells)};
      const Array f = right_hand_side(op, cells, 3);
      const Array phi = solved_in_batches(grid, op, f);
      const std::string what =
          fmt::format("{} x {} x {}, z {}", cells[0], cells[1], cells[2], to_string(z));
      expect_solution_of_planes(phi, solved_by_planes(grid, op, f), what);
      EXPECT_LE(op.backward_error(phi, f), k_batched_error) << what;
    }
  }
}

// Some ranks have no unknown row, or no column.
TEST(BatchedPoisson, HasTheBitsOfThePlanesOnEveryProcessGrid) {
  const Cells cells{7, 5, 17};
  const AxisConditions ring{}, walls{neumann, neumann, Location::centre};
  const AxisConditions faces{dirichlet, dirichlet, Location::face};
  struct Sides {
    AxisConditions x, y, z;
  };
  for (const auto& [x, y, z] : {Sides{ring, ring, walls}, Sides{ring, ring, ring},
                                Sides{ring, faces, faces}, Sides{faces, ring, walls}})
    for (const TridiagonalMethod method : values_of<TridiagonalMethod>())
      for (const Sweep sweep : {Sweep::up, Sweep::down})
        for (const ProcessGrid processes : selected_grids(world().size(), cells[1], cells[2] / 2)) {
          const PencilGrid grid(world(), cells, processes);
          const Operator op{problem_of(x, y, z, cells)};
          const Array f = right_hand_side(op, cells, 4);
          const Array phi = solved_in_batches(grid, op, f, sweep, method);
          expect_solution_of_planes(
              phi, solved_by_planes(grid, op, f, sweep, method),
              fmt::format("{}, x {}, y {}, z {}, {}, {}", to_string(processes), to_string(x),
                          to_string(y), to_string(z), name_of(method),
                          sweep == Sweep::up ? "up" : "down"));
        }
}

TEST(BatchedPoisson, TakesANewOperatorOnEveryProcessGrid) {
  const Cells cells{9, 8, 18};
  const AxisConditions walls{dirichlet, neumann, Location::centre};
  for (const TridiagonalMethod method : values_of<TridiagonalMethod>())
    for (const ProcessGrid processes : selected_grids(world().size(), cells[1], cells[2] / 2)) {
      const PencilGrid grid(world(), cells, processes);
      const Operator op{problem_of({}, {}, walls, cells), 1.0, -0.01};
      const Array f = right_hand_side(op, cells, 6);
      expect_solution_of_planes(solved_in_batches(grid, op, f, Sweep::up, method),
                                solved_by_planes(grid, op, f, Sweep::up, method),
                                fmt::format("{}, {}", to_string(processes), name_of(method)));
    }
}

TEST(BatchedPoisson, KeepsEntriesThatAreNoUnknowns) {
  const Cells cells{9, 8, 16};
  const AxisConditions face{dirichlet, dirichlet, Location::face};
  const Operator op{problem_of(face, face, face, cells)};
  const Array f = random_array(cells, 5);
  const Array phi = solved_in_batches(alone(cells), op, f);
  for (int j = 0; j < cells[1]; ++j) EXPECT_EQ(phi(8, j, 3), f(8, j, 3));
  for (int i = 0; i < cells[0]; ++i) EXPECT_EQ(phi(i, 7, 3), f(i, 7, 3));
  for (int i = 0; i < cells[0]; ++i) EXPECT_EQ(phi(i, 2, 15), f(i, 2, 15));
}

TEST(BatchedPoisson, SharesItsMemoryWithSolversOfOtherSizes) {
  const AxisConditions walls{neumann, dirichlet, Location::centre};
  const auto memory = std::make_shared<BatchedMemory>();
  struct Case {
    PencilGrid grid;
    Operator op;
    BatchedPoisson solver;
  };
  std::vector<Case> cases;
  for (const Cells& cells : {Cells{21, 8, 6}, Cells{18, 14, 8}, Cells{6, 9, 5}}) {
    const Operator op{problem_of({}, {}, walls, cells)};
    const PencilGrid grid = alone(cells);
    cases.push_back({grid, op, BatchedPoisson(grid, op.problem, {.memory = memory})});
  }
  for (Case& c : cases) {
    const Array f = random_array(c.grid.cells(), 7);
    expect_solution_of_planes(solved_on_device(c.grid, c.solver, f),
                              solved_by_planes(c.grid, c.op, f), "in shared memory");
  }
}

TEST(BatchedPoisson, RefusesConditionsAndMatricesThatDoNotFit) {
  const Cells cells{8, 8, 8};
  const AxisConditions walls{neumann, neumann, Location::centre};
  PoissonProblem problem = problem_of({}, {}, walls, cells);
  EXPECT_THROW(BatchedPoisson(alone({8, 8, 7}), problem), RunError);
  problem.x = {periodic, neumann, Location::centre};
  EXPECT_THROW(BatchedPoisson(alone(cells), problem), InputError);
}

// As on a GPU.
Array solved_by_kernels(const PencilGrid& grid, const Operator& op, const Array& f) {
  const PoissonProblem& p = op.problem;
  const auto memory = std::make_shared<BatchedMemory>();
  const auto planes_of = [&](int z_index) {
    const int rank = grid.rank_of(grid.y_index(), z_index);
    return intersection(grid.box(Orientation::x, rank)[2], {0, p.z.size()});
  };
  const auto transform = make_kernel_transform({grid,
                                                {grid.cells()[0], p.spacing_x, p.x},
                                                {grid.cells()[1], p.spacing_y, p.y},
                                                planes_of(grid.z_index()).count(),
                                                {},
                                                memory});
  const bool singular = p.x.allows_constant() && p.y.allows_constant() && p.z_allows_constant &&
                        transform->has_first_column();
  const auto lines =
      make_batched_line_solver({grid.column(),
                                planes_of,
                                p.z.size(),
                                p.z.periodic,
                                singular,
                                {transform->x_eigenvalues(), transform->y_eigenvalues()},
                                TridiagonalMethod::ftm,
                                Sweep::up,
                                {},
                                memory});
  lines->set_operator(p.z, op.identity, op.laplacian);
  struct {
    BatchedTransform& transform;
    BatchedLines& lines;
    void solve(const FieldView& field) {
      transform.forward(field);
      lines.solve(transform.coefficients());
      transform.backward(field);
    }
  } solver{*transform, *lines};
  return solved_on_device(grid, solver, f);
}

TEST(KernelTransform, DiagonalisesTheOperatorForEveryPairOfConditions) {
  const AxisConditions walls{neumann, neumann, Location::centre};
  Share share;
  for (const Cells& cells : {Cells{13, 10, 5}, Cells{16, 11, 4}, Cells{2, 3, 2}}) {
    const PencilGrid grid = alone(cells);
    for (const AxisConditions& x : k_all_conditions)
      for (const AxisConditions& y : k_all_conditions) {
        if (!share.takes_next()) continue;
        const Operator op{problem_of(x, y, walls, cells)};
        const Array f = right_hand_side(op, cells, 1);
        const Array phi = solved_by_kernels(grid, op, f), expected = solved_by_planes(grid, op, f);
        const std::string what =
            fmt::format("{} x {}, x {}, y {}", cells[0], cells[1], to_string(x), to_string(y));
        EXPECT_LE(op.backward_error(phi, f), k_batched_error) << what;
        EXPECT_LE(largest_difference(phi, expected), 1e-11 * expected.largest()) << what;
      }
  }
}

TEST(KernelTransform, DoesNotDependOnTheProcessGrid) {
  const Cells cells{7, 5, 6};
  const AxisConditions walls{neumann, neumann, Location::centre};
  const AxisConditions faces{dirichlet, dirichlet, Location::face};
  for (const AxisConditions& x : {AxisConditions{}, faces})
    for (const AxisConditions& y : {AxisConditions{}, faces}) {
      const Operator op{problem_of(x, y, walls, cells)};
      const Array f = right_hand_side(op, cells, 1);
      const Array expected = solved_by_kernels(alone(cells), op, f);
      for (const ProcessGrid processes : process_grids(world().size(), cells[1], cells[2])) {
        const Array phi = solved_by_kernels(PencilGrid(world(), cells, processes), op, f);
        EXPECT_LE(largest_difference(phi, expected), 1e-13 * expected.largest())
            << to_string(processes) << ", x " << to_string(x) << ", y " << to_string(y);
      }
    }
}

TEST(KernelTransform, LeavesEntriesThatAreNoUnknownsAlone) {
  const Cells cells{9, 8, 6};
  const AxisConditions face{dirichlet, dirichlet, Location::face};
  const Operator op{problem_of(face, face, face, cells)};
  const Array f = random_array(cells, 5);
  const Array phi = solved_by_kernels(alone(cells), op, f);
  for (int j = 0; j < cells[1]; ++j) EXPECT_EQ(phi(8, j, 3), f(8, j, 3));
  for (int i = 0; i < cells[0]; ++i) EXPECT_EQ(phi(i, 7, 3), f(i, 7, 3));
  for (int i = 0; i < cells[0]; ++i) EXPECT_EQ(phi(i, 2, 5), f(i, 2, 5));
}

TEST(BatchedTridiagonal, HasTheBitsOfThePlanesAndLeavesTheWallAlone) {
  const Cells cells{19, 8, 18};
  const Array f = random_array(cells, 1);
  for (const ProcessGrid processes : selected_grids(world().size(), cells[1], cells[2] / 3))
    for (const AxisConditions& z : k_all_conditions)
      for (const TridiagonalMethod method : values_of<TridiagonalMethod>())
        for (const Sweep sweep : {Sweep::up, Sweep::down}) {
          const PencilGrid grid(world(), cells, processes);
          const TridiagonalMatrix matrix = diffusion(z, cells_along_z(z, cells[2]));
          BatchedTridiagonal batched(grid, matrix.size(), matrix.periodic,
                                     {.method = method, .sweep = sweep});
          batched.set_matrix(matrix);
          TridiagonalOptions options;
          options.method = method;
          options.sweep = sweep;
          FieldTridiagonal planes(grid, matrix.size(), matrix.periodic, options);
          planes.set_matrix(matrix);
          Field field = local_part(f, grid);
          planes.solve(field);
          EXPECT_EQ(solved_on_device(grid, batched, f).values, gathered(field, grid).values)
              << to_string(processes) << ", " << to_string(z) << ", " << name_of(method);
        }
}

// Part of an array in pencils of a rank.
Field part_of_array(const Array& array, const Box& box) {
  Field field(box);
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j)
      for (int i = 0; i < field.nx(); ++i)
        field(i, j, k) = array(box[0].begin + i, box[1].begin + j, box[2].begin + k);
  return field;
}

// Expects the cells of a rank's pencil to be those of an array.
void expect_part(const DeviceField& device, const Box& box, const Array& array,
                 const std::string& what) {
  Field field(box);
  device.copy_to(field);
  for (int k = 0; k < field.nz(); ++k)
    for (int j = 0; j < field.ny(); ++j)
      for (int i = 0; i < field.nx(); ++i)
        ASSERT_EQ(field(i, j, k), array(box[0].begin + i, box[1].begin + j, box[2].begin + k))
            << what;
}

// Process grids that leave every rank cells along x and y in direct z pencils.
std::vector<ProcessGrid> grids_of_direct_pencils(const Cells& cells) {
  return process_grids(world().size(), cells[1], std::min(cells[0], cells[2] / 3));
}

TEST(PencilsAlongZ, HaveTheBitsOfPoissonSolutionsInXPencils) {
  const Cells cells{11, 10, 26};
  const AxisConditions walls{neumann, neumann, Location::centre};
  const AxisConditions faces{dirichlet, dirichlet, Location::face};
  for (const AxisConditions& x : {AxisConditions{}, walls, faces})
    for (const AxisConditions& z : {AxisConditions{}, walls, faces})
      for (const TridiagonalMethod method : values_of<TridiagonalMethod>())
        for (const ProcessGrid processes : grids_of_direct_pencils(cells)) {
          const Operator op{problem_of(x, walls, z, cells)};
          const Array f = random_array(cells, 4);
          const PencilGrid grid(world(), cells, processes);
          const Array expected = solved_in_batches(grid, op, f, Sweep::up, method);
          const Box box = grid.box(Orientation::z_direct);
          DeviceField device(box);
          device.copy_from(part_of_array(f, box));
          BatchedPoisson solver(grid, op.problem,
                                {.method = method, .fields = Orientation::z_direct});
          solver.solve(device.view());
          const std::string what = fmt::format("{}, x {}, z {}, {}", to_string(processes),
                                               to_string(x), to_string(z), name_of(method));
          expect_part(device, box, expected, what);
          const TransposeTraffic turn = solver.report().turn;
          EXPECT_EQ(turn.messages, 2 * (processes.z - 1)) << what;
        }
}

// Whole lines need no message with either method.
TEST(PencilsAlongZ, SolveLinesAlongZWithTheBitsOfFtm) {
  const Cells cells{19, 8, 18};
  const Array f = random_array(cells, 1);
  for (const ProcessGrid processes : grids_of_direct_pencils(cells))
    for (const AxisConditions& z : k_all_conditions)
      for (const TridiagonalMethod method : values_of<TridiagonalMethod>()) {
        const PencilGrid grid(world(), cells, processes);
        const TridiagonalMatrix matrix = diffusion(z, cells_along_z(z, cells[2]));
        BatchedTridiagonal rows(grid, matrix.size(), matrix.periodic);
        BatchedTridiagonal lines(grid, matrix.size(), matrix.periodic,
                                 {.method = method, .fields = Orientation::z_direct});
        rows.set_matrix(matrix);
        lines.set_matrix(matrix);
        const Box box = grid.box(Orientation::z_direct);
        DeviceField device(box);
        device.copy_from(part_of_array(f, box));
        lines.solve(device.view());
        expect_part(device, box, solved_on_device(grid, rows, f),
                    fmt::format("{}, {}, {}", to_string(processes), to_string(z), name_of(method)));
        EXPECT_EQ(lines.traffic().bytes, 0);
      }
}

// Cells of a periodic array around the pencil of a rank, including edges and corners.
TEST(PencilsAlongZ, HaveGhostsFromOtherRanks) {
  const Cells cells{9, 8, 6};
  const Array array = random_array(cells, 7);
  for (const ProcessGrid processes : grids_of_direct_pencils(cells)) {
    const PencilGrid grid(world(), cells, processes);
    const Box box = grid.box(Orientation::z_direct);
    Field field = part_of_array(array, box);
    DeviceField device(box);
    device.copy_from(field);
    BatchedHalo halo(grid, {true, true, true}, {}, Orientation::z_direct);
    const FieldView view = device.view();
    for (const int axis : {0, 1, 2}) halo.fill({&view, 1}, axis);
    device.copy_to(field);
    const int ghost_x = processes.z > 1 ? 1 : 0, ghost_y = processes.y > 1 ? 1 : 0;
    for (int k = 0; k < field.nz(); ++k)
      for (int j = -ghost_y; j < field.ny() + ghost_y; ++j)
        for (int i = -ghost_x; i < field.nx() + ghost_x; ++i)
          ASSERT_EQ(field.row(k, j)[i], array((box[0].begin + i + cells[0]) % cells[0],
                                              (box[1].begin + j + cells[1]) % cells[1], k))
              << to_string(processes) << " at " << i << ", " << j << ", " << k;
  }
}

// Every ghost, of fields with other numbers everywhere.
TEST(BatchedHalo, FillsTheGhostsThatHaloFills) {
  const Cells cells{6, 8, 9};
  for (const ProcessGrid processes : process_grids(world().size(), cells[1], cells[2]))
    for (const bool periodic_y : {false, true})
      for (const bool periodic_z : {false, true}) {
        const PencilGrid grid(world(), cells, processes);
        std::vector<Field> fields;
        std::vector<DeviceField> copies;
        for (int n = 0; n < 2; ++n) {
          fields.push_back(local_part(random_array(cells, n), grid));
          copies.emplace_back(fields[n].box()).copy_from(fields[n]);
        }
        // What Halo copies where an axis is whole is for others to do here.
        Halo halo(grid, periodic_y && processes.y > 1, periodic_z && processes.z > 1);
        BatchedHalo batched(grid, {false, periodic_y, periodic_z}, {});
        Field* const all[] = {&fields[0], &fields[1]};
        halo.fill_y(all);
        halo.fill_z(all);
        const FieldView views[] = {copies[0].view(), copies[1].view()};
        for (const int axis : {0, 1, 2}) batched.fill(views, axis);
        for (int n = 0; n < 2; ++n) {
          Field filled(fields[n].box());
          copies[n].copy_to(filled);
          for (int k = -1; k <= filled.nz(); ++k)
            for (int j = -1; j <= filled.ny(); ++j)
              for (int i = -1; i <= filled.nx(); ++i)
                ASSERT_EQ(filled.row(k, j)[i], fields[n].row(k, j)[i])
                    << to_string(processes) << " at " << i << ", " << j << ", " << k;
        }
      }
}

}  // namespace
}  // namespace octant::pencil
