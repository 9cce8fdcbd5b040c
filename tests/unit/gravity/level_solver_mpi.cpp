#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"

namespace octant::gravity::test {
namespace {

// Waves along all axes, of which the discrete Laplacian is known exactly.
struct Wave {
  std::array<double, 3> k;
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

class OnUniformGrids : public testing::TestWithParam<Shape> {};

TEST_P(OnUniformGrids, the_discrete_solution_is_found) {
  const auto [cells, block_size] = GetParam();
  MeshFixture fixture(box(cells, block_size), 2, 0);
  LevelSolver solver(fixture.mesh.tree(), 0, {});
  const mesh::Geometry& geometry = fixture.mesh.geometry();
  const double h = geometry.cell_size(0);
  Wave wave;
  for (int d = 0; d < 3; ++d) wave.k[d] = 2 * M_PI * (d + 1) / geometry.upper()[d];
  DeviceArray<double> phi = solver.make_field("phi"), f = solver.make_field("f");
  Kokkos::deep_copy(phi, 0.0);
  Kokkos::deep_copy(f, 0.0);
  for_patch_cells(solver.patches(), geometry, f,
                  [&](const Point& x, double& value) { value = wave.laplacian(x, h); });
  solver.halo().run(f.data());
  const auto report = solver.solve(phi, f, solver.norm(f), 1e-9, 20);
  double error = 0.0;
  for_patch_cells(solver.patches(), geometry, phi, [&](const Point& x, double& value) {
    error = std::max(error, std::abs(value - wave(x)));
  });
  EXPECT_LT(fixture.mesh.communicator().max(error), 1e-7);
  EXPECT_LE(report.cycles, 14);
  std::printf("%d cycles residual %g rounds %ld\n", report.cycles, report.residual, report.rounds);
}

INSTANTIATE_TEST_SUITE_P(LevelSolver, OnUniformGrids,
                         testing::Values(Shape{{32, 32, 32}, 8}, Shape{{64, 32, 48}, 4},
                                         Shape{{16, 16, 16}, 2}, Shape{{64, 64, 64}, 32},
                                         Shape{{24, 12, 36}, 4}, Shape{{20, 20, 20}, 2},
                                         Shape{{6, 10, 14}, 2}, Shape{{32, 32, 32}, 16}));

}  // namespace
}  // namespace octant::gravity::test
