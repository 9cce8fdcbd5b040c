// Stars by the self-consistent field method against exact solutions.
#include <array>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "problems/self_consistent_field.hpp"
#include "problems/spherical_star.hpp"
#include "tests/unit/problems/problem_fixture.hpp"

namespace octant::problems {
namespace {

std::array<StarMatter, 2> both_of_index(double first, double second) {
  return {StarMatter::of_index(first), StarMatter::of_index(second)};
}

TEST(StellarModel, a_star_at_rest_is_that_of_lane_and_emden) {
  // Central over mean density, and K = N G M^((n-1)/n) R^((3-n)/n) (Chandrasekhar 1939, table 4).
  struct Known {
    double index, concentration, constant;
  };
  for (const auto& [index, concentration, constant] :
       {Known{1.0, 3.28987, 0.63662}, {1.5, 5.99071, 0.42422}, {3.0, 54.1825, 0.36394}}) {
    const StarModel model = solve_star({StarMatter::of_index(index), 1.0, 1.0, 1.0}, 1.0);
    const ModelStar& star = model.stars.front();
    EXPECT_NEAR(star.central_density / (3.0 / (4.0 * M_PI)) / concentration, 1.0, 1e-4) << index;
    EXPECT_NEAR(star.polytropic_constant / constant, 1.0, 1e-4) << index;
    EXPECT_NEAR(model.potential_energy * (index - 5.0) / 3.0, 1.0, 1e-4) << index;
    EXPECT_LT(model.virial_error(), 1e-4) << index;
    EXPECT_EQ(model.angular_velocity, 0.0);
  }
}

TEST(StellarModel, a_flat_star_is_the_one_that_octo_tiger_ships) {
  // Its axis ratio is 0.605 / 0.905; found on 100^2 cells, to three digits.
  const StarModel model =
      solve_star({StarMatter::of_index(1.5), 0.24511, 0.905, 0.605 / 0.905}, 1.0);
  const ModelStar& star = model.stars.front();
  EXPECT_NEAR(model.angular_velocity, 0.51555, 2e-3);
  EXPECT_NEAR(star.polytropic_constant, 0.16813, 2e-4);
  EXPECT_NEAR(star.central_density, 1.0, 2e-3);
  EXPECT_NEAR(star.volume, 1.8852, 4e-3);
  EXPECT_LT(model.virial_error(), 1e-4);
  // The surface goes through the two requested points.
  const StarProfile profile = star.on_host();
  for (const double share : {0.99, 1.01}) {
    EXPECT_EQ(profile.enthalpy_at(0.905 * share, 0.0, 0.0) > 0.0, share < 1.0);
    EXPECT_EQ(profile.enthalpy_at(0.0, 0.0, -0.605 * share) > 0.0, share < 1.0);
  }
}

TEST(StellarModel, stars_that_are_no_larger_than_points_move_by_keplers_law) {
  const StarModel model = solve_binary({both_of_index(1.5, 1.0), 2.0, 0.25, 3.0, {0.2, 0.2}}, 1.5);
  EXPECT_NEAR(model.angular_velocity * model.angular_velocity, 1.5 * 2.0 / 27.0, 1e-5);
  EXPECT_NEAR(model.stars[0].profile.centre, -0.6, 1e-4);
  EXPECT_NEAR(model.stars[1].profile.centre, 2.4, 1e-4);
}

TEST(StellarModel, large_stars_of_a_binary_are_in_equilibrium) {
  const StarModel model = solve_binary({both_of_index(1.5, 1.5), 1.0, 0.5, 1.0, {0.8, 0.95}}, 1.0);
  EXPECT_LT(model.virial_error(), 1e-4);
  EXPECT_GT(model.angular_velocity, 1.0);  // bulges attract more than points
  EXPECT_LT(model.angular_velocity, 1.03);
  const double inner = inner_lagrangian_point(0.5);
  EXPECT_NEAR(inner, 0.57075, 1e-5);
  EXPECT_NEAR(inner_lagrangian_point(1.0), 0.5, 1e-12);
  const StarProfile first = model.stars[0].on_host();
  for (const double share : {0.97, 1.03})
    EXPECT_EQ(first.enthalpy_at(first.centre + 0.8 * inner * share, 0.0, 0.0) > 0.0, share < 1.0);
  // Alike above and below, and to both sides.
  EXPECT_EQ(first.enthalpy_at(first.centre + 0.1, 0.2, 0.1),
            first.enthalpy_at(first.centre + 0.1, -0.2, -0.1));
}

// dp = rho dH, and pressure and density are those of the equation of state.
void expect_consistent(const StarMatter& matter, double lowest, double highest,
                       const std::function<double(double rho)>& pressure) {
  for (double h = lowest; h < highest; h *= 1.13) {
    const double step = 1e-4 * h;
    const double slope = (matter.pressure(h + step) - matter.pressure(h - step)) / (2.0 * step);
    EXPECT_NEAR(slope / matter.density(h), 1.0, 1e-3) << h;
    EXPECT_NEAR(matter.pressure(h) / pressure(matter.density(h)), 1.0, 1e-12) << h;
    EXPECT_NEAR(matter.times_specific_pressure(2.0, h) * matter.density(h),
                2.0 * matter.pressure(h), 1e-12 * matter.pressure(h));
  }
  EXPECT_EQ(matter.density(0.0), 0.0);
  EXPECT_EQ(matter.pressure(-1.0), 0.0);
}

TEST(StarMatter, is_that_of_the_equation_of_state) {
  const hydro::ColdCurve cold{hydro::ColdCurve::degenerate, 3.0, 1.0 / 0.7};
  expect_consistent(StarMatter::of_electrons(3.0, 0.7), 1e-6, 1e5,
                    [&](double rho) { return cold.at(rho).pressure; });
  hydro::Barotrope pieces;
  pieces.add_piece(0.1, 0.1, 5.0 / 3.0);
  pieces.add_piece(0.1, 0.1, 1.0);
  pieces.add_piece(0.4, 0.4, 2.0);
  expect_consistent(StarMatter::of_pieces(pieces), 1e-4, 30.0,
                    [&](double rho) { return pieces.at(rho).pressure; });
  // Continuous where the exponent changes.
  const StarMatter matter = StarMatter::of_pieces(pieces);
  EXPECT_NEAR(matter.enthalpy_at[1], 2.5, 1e-14);
  EXPECT_NEAR(matter.enthalpy_at[2], 2.5 + std::log(4.0), 1e-14);
  for (const int n : {1, 2})
    for (const double share : {1.0 - 1e-12, 1.0 + 1e-12})
      EXPECT_NEAR(matter.density(matter.enthalpy_at[n] * share) / pieces.density[n], 1.0, 1e-10);
}

TEST(StarMatter, the_heaviest_white_dwarf_is_that_of_chandrasekhar) {
  // A = B = G = 1: 4 pi 2.01824 (2 / pi)^(3/2).
  const StarMatter matter = StarMatter::of_electrons(1.0, 1.0);
  const double largest = 4.0 * M_PI * 2.01824 * std::pow(2.0 / M_PI, 1.5);
  EXPECT_THROW(stable_star(matter, 1.001 * largest, 1.0, 0.0, "mass"), InputError);
  EXPECT_LT(stable_star(matter, 0.99 * largest, 1.0, 0.0, "mass").radius,
            0.5 * stable_star(matter, 0.5 * largest, 1.0, 0.0, "mass").radius);
}

TEST(StellarModel, the_mass_of_a_white_dwarf_determines_its_radius) {
  for (const double axis_ratio : {1.0, 0.8}) {
    const StarModel model =
        solve_star({StarMatter::of_electrons(1.0, 1.0), 4.0, 0.0, axis_ratio}, 1.0);
    EXPECT_LT(model.virial_error(), 1e-4);
    // The mass follows from the profile, whose density has no further factor.
    const StarProfile star = model.stars.front().on_host();
    EXPECT_EQ(star.matter.scale, 1.0);
    double mass = 0.0;
    constexpr int k_cells = 60;
    const double cell = 2.0 * star.reach / k_cells;
    for (int n = 0; n < k_cells * k_cells * k_cells; ++n) {
      const auto place = [&](int i) { return (i + 0.5) * cell - star.reach; };
      const double h = star.enthalpy_at(place(n % k_cells), place(n / k_cells % k_cells),
                                        place(n / k_cells / k_cells));
      mass += star.matter.density(h) * cell * cell * cell;
    }
    EXPECT_NEAR(mass, 4.0, 0.01);
  }
}

TEST(StellarModel, stars_in_contact_share_one_envelope) {
  for (const double filling : {1.1, 1.5}) {
    const StarModel model =
        solve_binary({both_of_index(1.5, 1.5), 1.0, 1.0, 1.0, {filling, filling}}, 1.0);
    EXPECT_LT(model.virial_error(), 3e-4) << filling;
    // The bulges of the stars attract more than points: Omega = 1 for those.
    EXPECT_GT(model.angular_velocity, 1.0);
    EXPECT_LT(model.angular_velocity, 1.1);
    const StarProfile first = model.stars[0].on_host(), second = model.stars[1].on_host();
    EXPECT_EQ(first.centre, -0.5);
    EXPECT_EQ(second.centre, 0.5);
    // Gas in the neck; the enthalpy is largest in the centres, and the stars mirror each other.
    const double neck = first.enthalpy_at(-1e-9, 0.0, 0.0);
    EXPECT_GT(neck, 0.0);
    EXPECT_EQ(first.enthalpy_at(1e-3, 0.0, 0.0), 0.0);
    EXPECT_NEAR(second.enthalpy_at(1e-9, 0.0, 0.0) / neck, 1.0, 1e-6);
    for (const double x : {0.2, 0.45, 0.55, 0.7})
      EXPECT_LT(second.enthalpy_at(x, 0.0, 0.0), second.enthalpy_at(0.5, 0.0, 0.0)) << x;
    EXPECT_NEAR(first.enthalpy_at(-0.4, 0.1, 0.05) / second.enthalpy_at(0.4, -0.1, 0.05), 1.0,
                1e-12);
    // Mass and volume by cells.
    double mass = 0.0, volume = 0.0;
    constexpr int k_cells = 80;
    const double cell = 2.4 / k_cells;
    for (int n = 0; n < k_cells * k_cells * k_cells; ++n) {
      const auto place = [&](int i) { return (i + 0.5) * cell - 1.2; };
      const double h = first.enthalpy_at(place(n % k_cells), place(n / k_cells % k_cells),
                                         place(n / k_cells / k_cells));
      mass += first.matter.density(h) * cell * cell * cell;
      volume += h > 0.0 ? cell * cell * cell : 0.0;
    }
    EXPECT_NEAR(mass, 0.5, 2e-3);
    EXPECT_NEAR(volume / model.stars[0].volume, 1.0, 0.02);
  }
}

TEST(StellarModel, a_contact_binary_that_barely_touches_is_a_pair_of_full_stars) {
  const StarModel contact =
      solve_binary({both_of_index(1.5, 1.5), 1.0, 1.0, 1.0, {1.001, 1.001}}, 1.0);
  const StarModel apart = solve_binary({both_of_index(1.5, 1.5), 1.0, 1.0, 1.0, {0.99, 0.99}}, 1.0);
  EXPECT_NEAR(contact.angular_velocity / apart.angular_velocity, 1.0, 2e-3);
  EXPECT_NEAR(contact.stars[0].central_density / apart.stars[0].central_density, 1.0, 0.03);
  EXPECT_NEAR(contact.stars[0].volume / apart.stars[0].volume, 1.0, 0.03);
  EXPECT_NEAR(contact.potential_energy / apart.potential_energy, 1.0, 0.01);
}

TEST(StellarModel, white_dwarfs_in_contact_are_as_far_apart_as_their_mass_requires) {
  const StarMatter matter = StarMatter::of_electrons(1.0, 1.0);
  const StarModel light = solve_binary({{matter, matter}, 4.0, 1.0, 0.0, {1.2, 1.2}}, 1.0);
  const StarModel heavy = solve_binary({{matter, matter}, 8.0, 1.0, 0.0, {1.2, 1.2}}, 1.0);
  EXPECT_LT(light.virial_error(), 3e-4);
  EXPECT_LT(heavy.separation, 0.9 * light.separation);
  EXPECT_EQ(heavy.stars[0].profile.matter.scale, 1.0);
  // A star in contact is larger than at rest, by the rotation.
  const double radius = std::cbrt(light.stars[0].volume / (4.0 / 3.0 * M_PI));
  const double at_rest = stable_star(matter, 2.0, 1.0, 0.0, "mass").radius;
  EXPECT_GT(radius / at_rest, 1.0);
  EXPECT_LT(radius / at_rest, 1.3);
}

TEST(StellarModel, what_cannot_be_is_an_error) {
  EXPECT_THROW(solve_star({StarMatter::of_index(1.5), 1.0, 1.0, 0.5}, 1.0), InputError);
  EXPECT_THROW(solve_binary({both_of_index(1.5, 1.5), 1.0, 0.5, 1.0, {0.8, 1.1}}, 1.0), InputError);
  // Stars in contact are equal.
  EXPECT_THROW(solve_binary({both_of_index(1.5, 1.5), 1.0, 0.5, 1.0, {1.1, 1.1}}, 1.0), InputError);
  EXPECT_THROW(solve_binary({both_of_index(1.5, 1.0), 1.0, 1.0, 1.0, {1.1, 1.1}}, 1.0), InputError);
  EXPECT_THROW(solve_binary({both_of_index(1.5, 1.5), 1.0, 1.0, 1.0, {1.1, 1.2}}, 1.0), InputError);
}

TEST(RotatingStar, cells_hold_its_mass_and_angular_momentum) {
  mesh::MeshOptions options = test::box(32, 0, mesh::Boundary::outflow, mesh::Boundary::outflow);
  options.lower = {-1.2, -1.2, -1.2};
  options.upper = {1.2, 1.2, 1.2};
  const test::ReadyProblem ready("rotating_star", options, "ambient_density = 1e-12");
  const StarModel model = solve_star({StarMatter::of_index(1.5), 1.0, 1.0, 0.75}, 1.0);
  double mass = 0.0, momentum = 0.0;
  ready.for_each_cell(0, [&](const GasState& gas, const Position& x) {
    mass += gas.density * ready.geometry.cell_volume(0);
    momentum += gas.density * ready.geometry.cell_volume(0) *
                (x[0] * gas.velocity[1] - x[1] * gas.velocity[0]);
  });
  EXPECT_NEAR(mass, 1.0, 1e-4);
  // Of points in the middles of cells, of which each lacks its own share.
  EXPECT_NEAR(momentum * model.angular_velocity / (2.0 * model.kinetic_energy), 1.0, 1e-2);
}

}  // namespace
}  // namespace octant::problems
