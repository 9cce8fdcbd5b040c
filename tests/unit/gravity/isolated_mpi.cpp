// The base level of an isolated system by Fourier transforms of a padded grid.
#include <gtest/gtest.h>

#include "tests/unit/gravity/gravity_fixture.hpp"

namespace octant::gravity::test {
namespace {

Gravity solved_isolated(Gas& gas, const GravityOptions& options = {}) {
  Gravity gravity(options, gas.mesh, {});
  gravity.adapt_to_mesh();
  for (int level = 0; level <= gas.mesh.finest_level(); ++level) gravity.solve(level, 0.0);
  return gravity;
}

std::vector<double> isolated_potential(const Gas& gas, const Gravity& gravity) {
  return read(gas, gravity, 0, static_cast<int>(Field::potential));
}

double most(const Gas& gas, const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return gas.mesh.communicator().max(most);
}

// Values of the Green's function of the 7-point Laplacian: Watson's integral and what follows from
// it and the equation of the cell of the mass; and the potential of a point far away.
TEST(IsolatedSystem, potential_of_one_cell_is_that_of_the_endless_grid) {
  const double h = 1.0 / 32;
  Gas gas(box({32, 32, 32}, 8, 0, "outflow"));
  scatter_blocks(gas, 2);
  const Point place{5.5 * h, 8.5 * h, 12.5 * h};
  const auto distance = [&](const Point& x) {
    return std::hypot(x[0] - place[0], x[1] - place[1], x[2] - place[2]);
  };
  gas.set_density([&](const Point& x) { return distance(x) < 0.1 * h ? 1.0 : 0.0; });
  const auto phi = isolated_potential(gas, solved_isolated(gas));
  const double unit = 4.0 * M_PI * h * h;
  std::size_t n = 0;
  gas.for_cells(0, [&](const Point& x, std::int64_t) {
    const double r = distance(x) / h, value = phi[n++] / -unit;
    if (r < 1.1) {
      EXPECT_NEAR(value, 0.2527310098586630 - (r < 0.1 ? 0.0 : 1.0 / 6), 1e-12);
    } else if (r > 15) {
      EXPECT_NEAR(value * 4 * M_PI * r, 1.0, 2e-3);  // and terms of 1 / r^3
    }
  });
}

// In and out of corners, where multipoles about the centre say little.
double isolated_lumps(const Point& x) {
  const GaussianBall corner{.centre = {0.12, 0.15, 0.85}, .width = 0.08, .mass = 1.0};
  const GaussianBall other{.centre = {0.7, 0.55, 0.2}, .width = 0.07, .mass = 0.4};
  return corner.density(x) + other.density(x);
}

TEST(IsolatedSystem, fourier_solution_obeys_the_equation_of_multigrid) {
  Gas gas(box({32, 16, 24}, 8, 0, "outflow"));
  gas.set_density(isolated_lumps);
  FieldPool pool;
  PatchLevel level(gas.mesh.tree(), 0, {}, pool);
  const Gravity gravity = solved_isolated(gas);
  // With the Fourier solution's own values beyond the domain nothing is left to solve for; here
  // they are 0, which leaves a residual in the cells beside the boundary alone.
  const DeviceArray<double> phi =
      level.make_field("phi", {.x = gravity.stored().field(0, Field::potential)});
  const DeviceArray<double> f =
      level.make_field("f", {.x = {gas.mesh.fields(0).blocks(0), gas.mesh.layout().stride_slot}});
  level.halo().run(phi.data());
  const double h = 1.0 / 32;
  const int T = level.patches().side();
  for (int slot = 0; slot < level.patches().own(); ++slot) {
    const auto at = [&](const DeviceArray<double>& field, int i, int j, int k) {
      return field.data()[((std::int64_t{slot} * T + k) * T + j) * T + split(i, T)];
    };
    for (int k = 1; k < T - 1; ++k)
      for (int j = 1; j < T - 1; ++j)
        for (int i = 1; i < T - 1; ++i) {
          const double sum = at(phi, i - 1, j, k) + at(phi, i + 1, j, k) + at(phi, i, j - 1, k) +
                             at(phi, i, j + 1, k) + at(phi, i, j, k - 1) + at(phi, i, j, k + 1);
          EXPECT_NEAR(sum - 6.0 * at(phi, i, j, k), 4.0 * M_PI * h * h * at(f, i, j, k), 1e-12);
        }
  }
}

TEST(IsolatedSystem, multigrid_with_multipoles_comes_close_to_the_fourier_solution) {
  const auto density = [](const Point& x) {
    return GaussianBall{.centre = {0.45, 0.5, 0.55}, .width = 0.08}.density(x);
  };
  Gas gas(box({32, 32, 32}, 8, 0, "outflow"));
  gas.set_density(density);
  const auto fourier = isolated_potential(gas, solved_isolated(gas, {.base = BaseSolver::fft}));
  auto difference = isolated_potential(
      gas, solved_isolated(gas, {.base = BaseSolver::multigrid, .tolerance = 1e-9}));
  for (std::size_t n = 0; n < difference.size(); ++n) difference[n] -= fourier[n];
  // Multipoles are of point masses, the grid's potential has terms of (h/r)^2 more.
  EXPECT_LT(most(gas, difference), 1e-3 * most(gas, fourier));
  EXPECT_GT(most(gas, difference), 0.0);
}

// The forces of all cells on each other cancel, but for those beside the boundary.
TEST(IsolatedSystem, total_force_is_rounding_on_a_uniform_grid) {
  Gas gas(box({32, 32, 32}, 8, 0, "outflow"));
  gas.set_density([](const Point& x) {
    const bool inside = x[0] > 0.1 && x[0] < 0.9 && x[1] > 0.1 && x[1] < 0.9 && x[2] > 0.1;
    return inside && x[2] < 0.9 ? isolated_lumps(x) : 0.0;
  });
  for (const int order : {2, 4}) {
    const Gravity gravity = solved_isolated(gas, {.gradient_order = order});
    for (int axis = 0; axis < 3; ++axis) {
      const auto g = read(gas, gravity, 0, static_cast<int>(Field::acceleration_x) + axis);
      std::vector<double> force, strength;
      const double* rho = gas.mesh.fields(0).blocks(mesh::LevelFields::k_now);
      gas.for_cells(0, [&](const Point&, std::int64_t cell) {
        force.push_back(rho[cell] * g[force.size()]);
        strength.push_back(std::abs(force.back()));
      });
      const double total = reproducible_sum(gas.mesh.communicator(), force);
      EXPECT_LT(std::abs(total), 1e-13 * reproducible_sum(gas.mesh.communicator(), strength));
    }
  }
}

// Beside the boundary, too, where differences reach beyond the domain.
TEST(IsolatedSystem, force_beside_the_boundary_converges_at_second_order) {
  const auto error = [](int cells) {
    const GaussianBall ball{.centre = {0.35, 0.5, 0.6}, .width = 0.07, .mass = 1.0};
    Gas gas(box({cells, cells, cells}, 8, 0, "outflow"));
    gas.set_density([&](const Point& x) { return ball.density(x); });
    const Gravity gravity = solved_isolated(gas);
    double worst = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      const auto g = read(gas, gravity, 0, static_cast<int>(Field::acceleration_x) + axis);
      std::size_t n = 0;
      gas.for_cells(0, [&](const Point& x, std::int64_t) {
        const double found = g[n++];
        bool beside = false;
        for (const double c : x) beside = beside || c < 2.0 / cells || c > 1.0 - 2.0 / cells;
        if (beside) worst = std::max(worst, std::abs(found - ball.acceleration(x, axis)));
      });
    }
    return gas.mesh.communicator().max(worst);
  };
  EXPECT_GT(std::log2(error(16) / error(32)), 1.7);
}

// Blocks of a finer level may touch the boundary: their ghost cells beyond it are extrapolated.
TEST(IsolatedSystem, finer_levels_may_touch_the_boundary) {
  const GaussianBall ball{.centre = {0.5, 0.5, 0.25}, .width = 0.05, .mass = 1.0};
  const auto error = [&](int cells) {
    Gas gas(box({cells, cells, cells}, 4, 1, "outflow"));
    gas.refine([](const Point& x, int) { return x[2] < 0.5; });
    gas.set_density([&](const Point& x) { return ball.density(x); });
    const auto phi =
        read(gas, solved_isolated(gas, {.tolerance = 1e-8}), 1, static_cast<int>(Field::potential));
    double worst = 0.0;
    std::size_t n = 0;
    gas.for_cells(1, [&](const Point& x, std::int64_t) {
      worst = std::max(worst, std::abs(phi[n++] - ball.potential(x)));
    });
    return gas.mesh.communicator().max(worst);
  };
  EXPECT_GT(std::log2(error(16) / error(32)), 1.8);
}

TEST(IsolatedSystem, potentials_have_the_same_bits_on_any_number_of_ranks) {
  const auto bits = [](const Communicator& communicator) {
    Gas gas(box({64, 32, 64}, 8, 1, "outflow"), communicator);  // as large as four ranks are worth
    gas.refine([](const Point& x, int) { return x[0] < 0.2; });
    scatter_blocks(gas, 1);
    gas.set_density(isolated_lumps);
    return fingerprint(gas, solved_isolated(gas, {.base = BaseSolver::fft}));
  };
  EXPECT_EQ(bits(Communicator::world()),
            bits(Communicator::world().split(Communicator::world().rank())));
}

}  // namespace
}  // namespace octant::gravity::test
