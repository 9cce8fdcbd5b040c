// Potentials and forces on whole meshes: against analytic solutions, and bit for bit.
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"

namespace octant::gravity::test {
namespace {

constexpr GaussianBall k_ball{.centre = {0.47, 0.52, 0.55}, .width = 0.06, .mass = 1.0};

// Errors over leaf cells, relative to the same norm of the exact solution.
struct Errors {
  double potential;       // L2
  double force;           // L1, of cells away from a level jump
  double force_at_jumps;  // L1, of cells next to one
};

bool is_leaf(const Gas& gas, int level, std::int64_t at) {
  const int N = gas.mesh.layout().block_size;
  const auto slot = static_cast<int>(at / gas.mesh.layout().stride_slot);
  const auto c = static_cast<int>(at % gas.mesh.layout().stride_slot);
  const int octant = (c % N >= N / 2) + 2 * (c / N % N >= N / 2) + 4 * (c / (N * N) >= N / 2);
  return !(gas.mesh.blocks(level).refined(slot) >> octant & 1);
}

Errors errors_of(const Gas& gas, const Gravity& gravity, const GaussianBall& ball,
                 const std::function<bool(const Point&, int)>& near_jump) {
  const Communicator& communicator = gas.mesh.communicator();
  std::vector<double> potential, exact_potential, force[2], exact_force[2];
  for (int level = 0; level <= gas.mesh.finest_level(); ++level) {
    const double volume = gas.mesh.geometry().cell_volume(level);
    const auto phi = read(gas, gravity, level, static_cast<int>(Field::potential));
    std::vector<double> g[3];
    for (int d = 0; d < 3; ++d)
      g[d] = read(gas, gravity, level, static_cast<int>(Field::acceleration_x) + d);
    std::size_t n = 0;
    gas.for_cells(level, [&](const Point& x, std::int64_t at) {
      const std::size_t c = n++;
      if (!is_leaf(gas, level, at)) return;
      potential.push_back(volume * std::pow(phi[c] - ball.potential(x), 2));
      exact_potential.push_back(volume * std::pow(ball.potential(x), 2));
      const bool jump = near_jump(x, level);
      for (int d = 0; d < 3; ++d) {
        force[jump].push_back(volume * std::abs(g[d][c] - ball.acceleration(x, d)));
        exact_force[jump].push_back(volume * std::abs(ball.acceleration(x, d)));
      }
    });
  }
  const auto ratio = [&](const std::vector<double>& a, const std::vector<double>& b) {
    return reproducible_sum(communicator, a) / std::max(reproducible_sum(communicator, b), 1e-300);
  };
  return {std::sqrt(ratio(potential, exact_potential)), ratio(force[0], exact_force[0]),
          ratio(force[1], exact_force[1])};
}

Gravity solved_to(Gas& gas, double tolerance = 1e-8, int gradient_order = 4) {
  Gravity gravity({.tolerance = tolerance, .gradient_order = gradient_order}, gas.mesh, {});
  gravity.adapt_to_mesh();
  for (int level = 0; level <= gas.mesh.finest_level(); ++level) gravity.solve(level, 0.0);
  return gravity;
}

Errors on_a_uniform_mesh(int cells, int gradient_order) {
  Gas gas(box({cells, cells, cells}, 8, 0, "outflow"));
  gas.set_density([](const Point& x) { return k_ball.density(x); });
  return errors_of(gas, solved_to(gas, 1e-8, gradient_order), k_ball,
                   [](const Point&, int) { return false; });
}

TEST(Potential, of_a_ball_converges_at_second_order_on_uniform_meshes) {
  const Errors coarse = on_a_uniform_mesh(32, 2), fine = on_a_uniform_mesh(64, 2);
  EXPECT_GT(std::log2(coarse.potential / fine.potential), 1.9);
  EXPECT_GT(std::log2(coarse.force / fine.force), 1.9);
  EXPECT_LT(on_a_uniform_mesh(64, 4).force, fine.force);
}

// What mass in a wave can do is the force times the distance, D(k) / k of its potential energy.
TEST(UnfeltEnergy, is_what_differences_flatten_of_a_wave) {
  for (const int order : {2, 4})
    for (const int waves : {2, 4, 8}) {
      Gas gas(box({32, 8, 8}, 4));
      const double k = 2.0 * M_PI * waves, h = gas.mesh.geometry().cell_size(0);
      gas.set_density([&](const Point& x) { return 1.0 + 0.3 * std::cos(k * x[0] + 0.4); });
      Gravity gravity = solved_to(gas, 1e-10, order);
      ReproducibleSum sums[] = {gravity.potential_energy([&](int level) {
                                  return BlockField{
                                      gas.mesh.fields(level).blocks(mesh::LevelFields::k_now),
                                      gas.mesh.layout().stride_slot};
                                }),
                                gravity.unfelt_energy()};
      reproducible_sum(gas.mesh.communicator(), std::span<ReproducibleSum>(sums));
      const double energy = sums[0].to_double();
      const double x = k * h;
      const double share = order == 2 ? 1.0 - std::sin(x) / x
                                      : 1.0 - (8.0 * std::sin(x) - std::sin(2.0 * x)) / (6.0 * x);
      EXPECT_NEAR(sums[1].to_double() / -energy / share, 1.0, waves == 8 ? 0.04 : 0.003)
          << order << " " << waves;
    }
}

// The same physical regions are refined at both resolutions: cubes of 1/2 and 1/4 of the box.
Errors on_a_refined_mesh(int cells, int block_size) {
  Gas gas(box({cells, cells, cells}, block_size, 2, "outflow"));
  const auto inside = [](const Point& x, double half) {
    return std::abs(x[0] - 0.5) < half && std::abs(x[1] - 0.5) < half &&
           std::abs(x[2] - 0.5) < half;
  };
  for (int round = 0; round < 2; ++round)
    gas.refine([&](const Point& x, int level) { return inside(x, level == 0 ? 0.25 : 0.125); });
  gas.set_density([](const Point& x) { return k_ball.density(x); });
  const auto near_jump = [&](const Point& x, int level) {
    const double h = 2.0 * gas.mesh.geometry().cell_size(level);
    for (const double half : {0.25, 0.125})
      if (inside(x, half + h) && !inside(x, half - h)) return true;
    return false;
  };
  return errors_of(gas, solved_to(gas), k_ball, near_jump);
}

TEST(Potential, of_a_ball_converges_at_second_order_on_refined_meshes) {
  const Errors coarse = on_a_refined_mesh(32, 4), fine = on_a_refined_mesh(64, 4);
  EXPECT_GT(std::log2(coarse.potential / fine.potential), 1.9);
  EXPECT_GT(std::log2(coarse.force / fine.force), 1.9);
  EXPECT_GT(std::log2(coarse.force_at_jumps / fine.force_at_jumps), 1.0);
}

// --- other masses on a uniform grid ------------------------------------------------------------

// The L2 error of the potential of any density, relative to the exact one.
double potential_error(int cells, const Function& density, const Function& exact) {
  Gas gas(box({cells, cells, cells}, 8, 0, "outflow"));
  gas.set_density(density);
  const Gravity gravity = solved_to(gas, 1e-6);
  const auto phi = read(gas, gravity, 0, static_cast<int>(Field::potential));
  std::vector<double> errors, squares;
  gas.for_cells(0, [&](const Point& x, std::int64_t) {
    errors.push_back(std::pow(phi[errors.size()] - exact(x), 2));
    squares.push_back(std::pow(exact(x), 2));
  });
  return std::sqrt(reproducible_sum(gas.mesh.communicator(), errors) /
                   reproducible_sum(gas.mesh.communicator(), squares));
}

TEST(Potential, of_two_bodies_converges_at_second_order) {
  const GaussianBall a{.centre = {0.35, 0.45, 0.55}, .width = 0.07, .mass = 1.0};
  const GaussianBall b{.centre = {0.65, 0.5, 0.4}, .width = 0.06, .mass = 0.4};
  const auto density = [&](const Point& x) { return a.density(x) + b.density(x); };
  const auto exact = [&](const Point& x) { return a.potential(x) + b.potential(x); };
  const double coarse = potential_error(16, density, exact);
  EXPECT_GT(std::log2(coarse / potential_error(32, density, exact)), 1.8);
}

// The share of a cell within the radius, from 8^3 points.
double covered_share(const Point& centre, double h, double radius) {
  int inside = 0;
  for (int n = 0; n < 512; ++n) {
    const auto r = [&](int d, int place) {
      return centre[d] - 0.5 + ((place + 0.5) / 8 - 0.5) * h;
    };
    inside += std::hypot(r(0, n % 8), r(1, n / 8 % 8), r(2, n / 64)) < radius;
  }
  return inside / 512.0;
}

TEST(Potential, of_a_uniform_sphere_converges_at_second_order) {
  constexpr double radius = 0.3;
  const auto exact = [](const Point& x) {  // mass 1
    const double r = std::hypot(x[0] - 0.5, x[1] - 0.5, x[2] - 0.5);
    return r > radius ? -1.0 / r : -0.5 / radius * (3.0 - r * r / (radius * radius));
  };
  const auto error = [&](int cells) {
    const auto density = [cells](const Point& x) {
      return covered_share(x, 1.0 / cells, radius) / (4.0 / 3.0 * M_PI * std::pow(radius, 3));
    };
    return potential_error(cells, density, exact);
  };
  EXPECT_GT(std::log2(error(16) / error(32)), 1.8);
}

// --- cycles ------------------------------------------------------------------------------------

// The V-cycles to 1e-6, by level, of the first solves on a mesh, and then of those after a step in
// which lumps moved by a finest cell.
std::vector<int> cycles_by_level(int block_size, const Communicator& communicator) {
  Gas gas(box({32, 32, 32}, block_size, 2), communicator);
  const auto density = [](const Point& x, double moved) {
    double sum = 1.0;
    for (const GaussianBall& ball :
         {GaussianBall{.centre = {0.2 + moved, 0.3, 0.6}, .width = 0.05},
          GaussianBall{.centre = {0.27, 0.35 - moved, 0.52}, .width = 0.03},
          GaussianBall{.centre = {0.7, 0.8, 0.95 + moved}, .width = 0.04}})
      sum += ball.density(x);
    return sum;
  };
  for (int round = 0; round < 2; ++round)
    gas.refine(
        [&](const Point& x, int level) { return density(x, 0.0) > (level == 0 ? 20.0 : 200.0); });
  scatter_blocks(gas, 3);
  Gravity gravity({.base = BaseSolver::multigrid, .tolerance = 1e-6}, gas.mesh, {});
  gravity.adapt_to_mesh();
  std::vector<int> cycles;
  for (const int step : {0, 1}) {
    gas.set_density([&](const Point& x) { return density(x, step / 128.0); });
    for (int level = 0; level <= gas.mesh.finest_level(); ++level)
      cycles.push_back(gravity.solve(level, step).cycles);
  }
  return cycles;
}

TEST(Cycles, are_seven_at_most_to_1e_6_on_every_level_and_the_same_on_any_number_of_ranks) {
  for (const int block_size : {4, 8}) {
    const auto cycles = cycles_by_level(block_size, Communicator::world());
    ASSERT_EQ(cycles.size(), 6u);
    for (const int n : cycles) EXPECT_LE(n, 7) << "blocks of " << block_size;
    const Communicator alone = Communicator::world().split(Communicator::world().rank());
    EXPECT_EQ(cycles, cycles_by_level(block_size, alone));
  }
}

// --- bits --------------------------------------------------------------------------------------

void refine_at_random(Gas& gas, std::uint64_t seed) {
  mesh::FlagMasks flags(gas.mesh.geometry().max_level() + 1);
  for (int l = 0; l <= gas.mesh.geometry().max_level(); ++l) {
    flags[l].assign(gas.mesh.blocks(l).slots(), 0);
    for (const int slot : gas.mesh.blocks(l).own())
      for (const int bit : {21, 22, 25, 26, 37, 38, 41, 42}) {
        const auto key = static_cast<std::uint64_t>(gas.mesh.blocks(l).key(slot));
        if (RandomStream(seed, 16 * key + l, 0).uniform(bit) < 0.1)
          flags[l][slot] |= std::uint64_t{1} << bit;
      }
  }
  gas.mesh.regrid(flags);
}

double moving_lumps(const Point& x) {
  return 1.0 + 0.5 * std::sin(2 * M_PI * x[0]) * std::cos(4 * M_PI * x[1]) +
         0.3 * std::sin(2 * M_PI * (x[2] + x[0]));
}

struct Bits {
  int block_size;
  const char* boundary;
};
class BitsOf : public testing::TestWithParam<Bits> {};

TEST_P(BitsOf, potentials_do_not_depend_on_who_owns_the_blocks) {
  const auto [block_size, boundary] = GetParam();
  std::vector<std::uint64_t> found;
  for (const std::uint64_t seed : {0, 1}) {
    Gas gas(box({32, 16, 16}, block_size, 2, boundary));
    for (int round = 0; round < 2; ++round) refine_at_random(gas, 7 + round);
    if (seed > 0) scatter_blocks(gas, seed);
    gas.set_density(moving_lumps);
    Gravity gravity({.tolerance = 1e-6}, gas.mesh, {});
    gravity.adapt_to_mesh();
    for (const double time : {0.0, 0.1})
      for (int level = 0; level <= gas.mesh.finest_level(); ++level) gravity.solve(level, time);
    found.push_back(fingerprint(gas, gravity));
    // Blocks take their values along.
    scatter_blocks(gas, seed + 10);
    EXPECT_EQ(gravity.adapt_to_mesh(), gas.mesh.finest_level() + 1);
    EXPECT_EQ(fingerprint(gas, gravity), found.back());
  }
  EXPECT_EQ(found[1], found[0]);
}

INSTANTIATE_TEST_SUITE_P(Gravity, BitsOf,
                         testing::Values(Bits{2, "periodic"}, Bits{4, "periodic"},
                                         Bits{8, "outflow"}, Bits{16, "periodic"}));

TEST(Gravity, new_blocks_start_from_the_interpolated_potential) {
  Gas gas(box({32, 32, 32}, 8, 1));
  gas.set_density(moving_lumps);
  Gravity gravity = solved_to(gas);
  gas.refine([](const Point& x, int) { return x[0] < 0.4; });
  gas.set_density(moving_lumps);
  EXPECT_EQ(gravity.adapt_to_mesh(), 1);
  // What is left to improve is of the order of h^2.
  EXPECT_LT(gravity.solve(1, 0.0).first_residual, 0.1);
}

// A solver of all levels at once, whose potential is the number of its solves so far.
class Counting final : public PotentialSolver {
 public:
  static constexpr const char* name = "counting";
  struct Parameters {
    void declare(ParameterSchema&) {}
  };
  Counting(const Parameters&, const SolverSetting& setting)
      : PotentialSolver(setting), mesh_(setting.mesh) {}
  bool solves_single_levels() const override { return false; }
  void connect() override {}
  SolveReport solve(LevelRange levels, const Sources&) override {
    ++solves_;
    for (int level = levels.first; level <= levels.last; ++level) {
      double* phi = stored().field(level, Field::potential).data;
      for (const int slot : mesh_.blocks(level).own())
        std::fill_n(phi + slot * stored().layout().stride_slot, stored().layout().stride_variable,
                    solves_);
    }
    return {};
  }

 private:
  const mesh::Mesh& mesh_;
  double solves_ = 0.0;
};

TEST(Gravity, asks_a_solver_of_all_levels_for_a_level_and_all_finer_ones) {
  Gas gas(box({16, 16, 16}, 4, 2));
  for (int round = 0; round < 2; ++round)
    gas.refine([](const Point& x, int) { return x[0] < 0.4; });
  gas.set_density(moving_lumps);
  GravityOptions options;
  options.solver = Counting::name;
  options.solvers.push_back(std::make_unique<SolverKind<Counting>>());
  Gravity gravity(options, gas.mesh, {});
  gravity.adapt_to_mesh();
  const auto found = [&](int level, Field field) {
    double most = 0.0;
    for (const double phi : read(gas, gravity, level, static_cast<int>(field)))
      most = std::max(most, phi);
    return gas.mesh.communicator().max(most);
  };
  gravity.solve(gravity.solved_with(0), 0.0);
  gravity.solve(gravity.solved_with(1), 0.5);
  for (int level = 0; level <= 2; ++level) {
    EXPECT_EQ(found(level, Field::potential), level == 0 ? 1.0 : 2.0);
    EXPECT_EQ(found(level, Field::previous_potential), 1.0);
    EXPECT_EQ(gravity.stored().times(level).now, level == 0 ? 0.0 : 0.5);
  }
}

TEST(Gravity, refuses_domains_that_are_periodic_along_some_axes_only) {
  auto options = box({16, 16, 16}, 8);
  options.boundary[1] = {mesh::Boundary::outflow, mesh::Boundary::outflow};
  Gas gas(options);
  EXPECT_THROW(Gravity({}, gas.mesh, {}), InputError);
}

}  // namespace
}  // namespace octant::gravity::test
