// One level that fills a periodic domain, where the discrete solution is known.
#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "gravity/level_solver.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"
#include "tests/unit/kernel_watch.hpp"

namespace octant::gravity::test {
namespace {

// Calls visit(centre, value) for every cell of own patches of a field that is stored.
template <class Visit>
void for_patch_cells(const LevelPatches& patches, const mesh::Geometry& geometry,
                     const DeviceArray<double>& field, const Visit& visit) {
  const int T = patches.side();
  const double h = geometry.cell_size(patches.level());
  for (int slot = 0; slot < patches.own(); ++slot) {
    const BlockCoordinates corner = morton_decode(patches.key(slot));
    for (int k = 0; k < T; ++k)
      for (int j = 0; j < T; ++j) {
        double* row = row_of(patches.strips().data(), T, field.data(), slot, j, k);
        for (int i = 0; row && i < T; ++i) {
          const Point x{(corner[0] * T + i + 0.5) * h, (corner[1] * T + j + 0.5) * h,
                        (corner[2] * T + k + 0.5) * h};
          visit(x, row[split(i, T)]);
        }
      }
  }
}

// Waves along all axes: an eigenfunction of the discrete Laplacian.
struct Wave {
  Point k;
  double operator()(const Point& x) const {
    return std::sin(k[0] * x[0] + 0.3) * std::cos(k[1] * x[1]) * std::sin(k[2] * x[2] + 1.1);
  }
  double laplacian(const Point& x, double h) const {  // times h^2
    double eigenvalue = 0.0;
    for (const double kd : k) eigenvalue -= 2.0 * (1.0 - std::cos(kd * h));
    return eigenvalue * (*this)(x);
  }
};

struct Shape {
  std::array<int, 3> cells;
  int block_size;
};

struct Solved {
  SolveReport report;
  double error = 0.0;
  std::vector<double> phi;
  int launches = 0;
};

Solved solve_wave(const Shape& shape, double tolerance, int most_cycles = 20, int unchecked = 0) {
  const Gas gas(box(shape.cells, shape.block_size));
  const mesh::Geometry& geometry = gas.mesh.geometry();
  FieldPool pool;
  PatchLevel level(gas.mesh.tree(), 0, {}, pool);
  LevelSolver solver(level, {});
  Wave wave;
  for (int d = 0; d < 3; ++d) wave.k[d] = 2 * M_PI * (d + 1) / geometry.upper()[d];
  DeviceArray<double> phi = level.make_field("phi"), f = level.make_field("f");
  Kokkos::deep_copy(phi, 0.0);
  for_patch_cells(level.patches(), geometry, f, [&](const Point& x, double& value) {
    value = wave.laplacian(x, geometry.cell_size(0));
  });
  Solved result;
  const auto restore = [&](DeviceArray<double>& again) {
    again = level.make_field("phi");
    Kokkos::deep_copy(again, 0.0);
  };
  const double norm = level.norm(f);
  const octant::test::KernelWatch watch;
  result.report = solver.solve(phi, f, norm, tolerance, most_cycles, {}, {unchecked, restore});
  result.launches = watch.launches();
  for_patch_cells(level.patches(), geometry, phi, [&](const Point& x, double& value) {
    result.error = std::max(result.error, std::abs(value - wave(x)));
    result.phi.push_back(value);
  });
  result.error = gas.mesh.communicator().max(result.error);
  return result;
}

class OnUniformGrids : public testing::TestWithParam<Shape> {};

TEST_P(OnUniformGrids, the_discrete_solution_is_found) {
  const Solved solved = solve_wave(GetParam(), 1e-9);
  EXPECT_LT(solved.error, 1e-7);
  EXPECT_LE(solved.report.cycles, 9);
}

// Extents with few factors of two, down to those that have no patch of more than 2^3 cells.
INSTANTIATE_TEST_SUITE_P(LevelSolver, OnUniformGrids,
                         testing::Values(Shape{{32, 32, 32}, 8}, Shape{{64, 32, 48}, 4},
                                         Shape{{16, 16, 16}, 2}, Shape{{32, 32, 32}, 32},
                                         Shape{{24, 12, 36}, 4}, Shape{{20, 20, 20}, 2},
                                         Shape{{6, 10, 14}, 2}, Shape{{32, 32, 32}, 16}));

TEST(LevelSolver, takes_four_cycles_to_a_tolerance_of_1e_4_and_two_rounds_in_each) {
  const Solved solved = solve_wave({{64, 64, 64}, 8}, 1e-4);
  EXPECT_LE(solved.report.cycles, 4);
  // The last sweep, which finds that all is well, needs two as well.
  EXPECT_EQ(solved.report.rounds, 2 * solved.report.cycles + 2);
}

// On grids of 16^3, 8^3 and 4^3 cells per patch.
TEST(LevelSolver, launches_few_kernels_on_any_number_of_ranks) {
  const Solved solved = solve_wave({{64, 64, 64}, 8}, 1e-4);
  const bool alone = Communicator::world().size() == 1;
  // A pass down and a pass up on each grid, and one launch for all coarser grids. With several
  // ranks, the finest grid has inner and border patches, and a halo is unpacked after each pass.
  constexpr int grids = 3;
  const int of_cycle = 2 * grids + 1 + (alone ? 0 : 1 + 2 * grids);
  const int of_check = alone ? 1 : 4, first_halo = alone ? 0 : 1;
  EXPECT_LE(solved.launches, solved.report.cycles * of_cycle + of_check + first_halo);
}

TEST(LevelSolver, gives_the_same_bits_for_any_number_of_unchecked_cycles) {
  const Solved reference = solve_wave({{32, 32, 32}, 4}, 1e-4);
  ASSERT_GE(reference.report.cycles, 2);
  EXPECT_LT(reference.report.far_cycles, reference.report.cycles + 1);
  for (const int unchecked :
       {1, reference.report.cycles, reference.report.cycles + 1, reference.report.cycles + 2, 30}) {
    const Solved solved = solve_wave({{32, 32, 32}, 4}, 1e-4, 20, unchecked);
    EXPECT_EQ(solved.report.cycles, reference.report.cycles) << unchecked;
    EXPECT_EQ(solved.report.far_cycles, reference.report.far_cycles) << unchecked;
    EXPECT_EQ(solved.report.residual, reference.report.residual) << unchecked;
    EXPECT_EQ(solved.phi, reference.phi) << unchecked;
  }
}

TEST(LevelSolver, gives_the_same_bits_for_every_block_size) {
  const Solved reference = solve_wave({{32, 32, 32}, 2}, 1e-6);
  if (Communicator::world().size() > 1) return;  // ranks hold other patches
  for (const int block_size : {4, 8, 16, 32})
    EXPECT_EQ(solve_wave({{32, 32, 32}, block_size}, 1e-6).phi, reference.phi);
}

// A level that fills a periodic box of 32^3 cells but for some of its 8^3 octants.
using Octants = std::vector<std::array<int, 3>>;

bool is_in(const Octants& octants, const Point& x) {
  const std::array octant{static_cast<int>(8 * x[0]), static_cast<int>(8 * x[1]),
                          static_cast<int>(8 * x[2])};
  return std::find(octants.begin(), octants.end(), octant) != octants.end();
}

// The mean factor by which a V-cycle reduces a residual that has all wavelengths at first.
double factor_beside_holes(const Octants& holes, const Communicator& ranks) {
  Gas gas(box({16, 16, 16}, 4, 1), ranks);
  gas.refine([&](const Point& x, int) { return !is_in(holes, x); });
  FieldPool pool;
  PatchLevel level(gas.mesh.tree(), 1, {}, pool);
  LevelSolver solver(level, {});
  DeviceArray<double> phi = level.make_field("phi"), f = level.make_field("f");
  Kokkos::deep_copy(phi, 0.0);
  for_patch_cells(level.patches(), gas.mesh.geometry(), f, [&](const Point& x, double& value) {
    const double row = std::floor(32 * x[2]) * 32 + std::floor(32 * x[1]);
    const auto cell = static_cast<std::uint64_t>(row * 32 + 32 * x[0]);
    value = is_in(holes, x) ? 0.0 : 0.5 + RandomStream(7, cell, 0).uniform(0);
  });
  const SolveReport report = solver.solve(phi, f, level.norm(f), 1e-10, 200);
  return std::pow(report.residual, 1.0 / report.cycles);
}

// Every part of the octants, drawn at random.
Octants scattered(double part) {
  Octants holes;
  for (int n = 0; n < 512; ++n)
    if (RandomStream(5, n, 0).uniform(0) < part) holes.push_back({n % 8, n / 8 % 8, n / 64});
  return holes;
}

TEST(LevelSolver, converges_as_fast_beside_holes_as_elsewhere) {
  Octants layer;
  for (int n = 0; n < 64; ++n) layer.push_back({n % 8, n / 8, 3});
  const std::pair<Octants, double> cases[] = {
      {{{4, 2, 4}, {4, 3, 6}, {5, 3, 4}, {5, 3, 5}, {6, 3, 4}}, 0.3},  // of a cosmological box
      {{{3, 4, 5}}, 0.3},
      {{{0, 0, 0}, {4, 4, 4}}, 0.3},
      {{{0, 0, 0}, {1, 0, 0}, {7, 7, 7}}, 0.3},
      {scattered(0.02), 0.3},
      {scattered(0.1), 0.3},
      {scattered(0.3), 0.3},
      {layer, 0.35}};  // no hole, but thinner than coarse cells
  for (const auto& [holes, largest] : cases) {
    const double factor = factor_beside_holes(holes, Communicator::world());
    EXPECT_LT(factor, largest) << holes.size() << " holes";
    const Communicator alone = Communicator::world().split(Communicator::world().rank());
    EXPECT_EQ(factor_beside_holes(holes, alone), factor);
  }
}

TEST(LevelSolver, says_with_numbers_that_it_did_not_converge) {
  try {
    solve_wave({{32, 32, 32}, 8}, 1e-10, 3);
    FAIL() << "no error";
  } catch (const RunError& error) {
    EXPECT_NE(std::string(error.what()).find("after 3 V-cycles"), std::string::npos);
  }
}

}  // namespace
}  // namespace octant::gravity::test
