// Spins of black holes against closed forms, and against every row of the reference tables.
#include "subgrid/black_holes/spin.hpp"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/subgrid/reference_table.hpp"

namespace octant::subgrid {
namespace {

constexpr double k_megayear = 1e6 * constants::k_year;

// The tables hold G and the Thomson cross section of CODATA 2014, where Octant has those of 2018.
constexpr double k_older_constants =
    (6.6524587158e-25 / 6.67408e-8) / (constants::k_thomson / constants::k_gravitational);

double norm(const SpinVector& a) { return std::hypot(a[0], a[1], a[2]); }

// The mass ratio at which a hole that begins with `a` reaches `end`, by bisection.
double mass_ratio_to_reach(double end, double a) {
  double lower = 1.0, upper = 3.0;
  for (int n = 0; n < 60; ++n) {
    const double middle = 0.5 * (lower + upper);
    (spin_after_thin_disc(a, middle) < end ? lower : upper) = middle;
  }
  return lower;
}

TEST(Spin, the_innermost_orbit_is_that_of_textbooks) {
  EXPECT_DOUBLE_EQ(innermost_orbit(0.0), 6.0);
  EXPECT_DOUBLE_EQ(innermost_orbit(1.0), 1.0);
  EXPECT_DOUBLE_EQ(innermost_orbit(-1.0), 9.0);
  EXPECT_NEAR(innermost_orbit(-0.998), 8.9944, 1e-4);
  // r = 6 - 4 sqrt(2/3) a + O(a^2): no digits are lost near 0, on either side.
  for (const double a : {1e-9, -1e-9})
    EXPECT_NEAR((innermost_orbit(a) - 6.0) / a, -4.0 * std::sqrt(2.0 / 3.0), 1e-5);
}

TEST(Spin, efficiencies_have_their_limits) {
  EXPECT_DOUBLE_EQ(radiative_efficiency(0.0), 1.0 - std::sqrt(8.0 / 9.0));
  EXPECT_DOUBLE_EQ(radiative_efficiency(1.0), 1.0 - std::sqrt(1.0 / 3.0));
  EXPECT_NEAR(eddington_time(0.1) / k_megayear, 45.0, 0.06);
  EXPECT_NEAR(arrested_jet_efficiency(0.7), 0.5898, 1e-4);
}

TEST(Spin, a_thin_disc_spins_up_to_the_limit_and_through_zero) {
  EXPECT_NEAR(spin_after_thin_disc(0.0, 2.2019), k_largest_spin, 2e-5);
  EXPECT_NEAR(mass_ratio_to_reach(0.0, -k_largest_spin), 1.2244, 5e-5);
  EXPECT_NEAR(mass_ratio_to_reach(0.0, -k_largest_spin),
              std::sqrt(innermost_orbit(-k_largest_spin) / 6.0), 1e-13);
  for (const double mass_ratio : {2.45, 3.0, 1e3})  // the orbit would be inside the horizon
    EXPECT_EQ(spin_after_thin_disc(0.0, mass_ratio), k_largest_spin);
}

TEST(Spin, steps_of_accretion_compose_exactly) {
  for (const double a : {-0.998, -0.5, -1e-7, 0.0, 0.3, 0.9, 0.998})
    for (const double mass_ratio : {1.001, 1.1, 1.3, 1.9, 2.3})
      for (const int chunks : {1, 7, 1000}) {
        double spin = a;
        for (int n = 0; n < chunks; ++n)
          spin = spin_after_thin_disc(spin, std::pow(mass_ratio, 1.0 / chunks));
        EXPECT_NEAR(spin, spin_after_thin_disc(a, mass_ratio), 1e-12)
            << a << " by " << mass_ratio << " in " << chunks;
      }
}

TEST(Spin, a_magnetically_arrested_disc_ends_at_its_fixed_point) {
  EXPECT_NEAR(arrested_spin_up(0.0790940), 0.0, 1e-5);
  for (const double a : {-0.998, 0.0, 0.5, 0.998})
    EXPECT_NEAR(spin_after_arrested_disc(a, 20.0), 0.079094, 1e-6);
  EXPECT_EQ(spin_after_arrested_disc(0.4, 1.0), 0.4);
}

TEST(Spin, a_hole_without_spin_turns_with_the_gas) {
  const SpinVector direction{0.6, 0.0, 0.8};
  const SpinVector spin = spin_after_chunk({}, {direction, 0.0, 1.1});
  for (int d = 0; d < 3; ++d)
    EXPECT_NEAR(spin[d], spin_after_thin_disc(0.0, 1.1) * direction[d], 1e-15);
}

TEST(Spin, a_tilted_disc_aligns_or_turns_against_the_hole) {
  const double angle = 2.5, cosine = std::cos(angle);
  const SpinVector tilted{std::sin(angle), 0.0, cosine};
  const auto with_disc_of = [&](double angular_momentum) {
    return spin_after_chunk({0.0, 0.0, 0.5}, {tilted, angular_momentum, 1.001});
  };
  // As cos(theta) = -J_disc / (2 J_hole) tells which: more of it aligns, less does not.
  EXPECT_NEAR(norm(with_disc_of(-2.0 * cosine + 1e-6)), spin_after_thin_disc(0.5, 1.001), 1e-13);
  EXPECT_NEAR(norm(with_disc_of(-2.0 * cosine - 1e-6)), -spin_after_thin_disc(-0.5, 1.001), 1e-13);
  // The axis is that of the total angular momentum.
  const SpinVector spin = with_disc_of(0.3);
  EXPECT_NEAR(spin[0] / spin[2], 0.3 * tilted[0] / (1.0 + 0.3 * tilted[2]), 1e-13);
  EXPECT_EQ(spin[1], 0.0);
}

TEST(Spin, a_hole_that_its_disc_has_stopped_goes_on_with_the_disc) {
  const DiscChunk chunk{{0.0, 0.0, -1.0}, 1e-6, 1.0 + 1e-3};
  SpinVector spin{0.0, 0.0, 0.01};
  double before = spin[2];
  for (int n = 0; n < 6; ++n) {
    spin = spin_after_chunk(spin, chunk);
    EXPECT_LT(spin[2], before);
    EXPECT_NEAR(spin[2] - before, -3.67e-3, 1e-4);
    before = spin[2];
  }
  EXPECT_LT(spin[2], -0.01);
  EXPECT_NEAR(spin[2], -spin_after_thin_disc(-0.01, std::pow(chunk.mass_ratio, 6)), 1e-12);
}

TEST(Spin, holes_without_spin_get_one_from_their_orbit) {
  EXPECT_NEAR(spin_of_merger(1.0, {}, {}, {0.0, 0.0, 3.0})[2], 0.6869, 5e-5);
  EXPECT_NEAR(spin_of_merger(0.5, {}, {}, {0.0, 2.0, 0.0})[1], 0.6251, 5e-5);
  EXPECT_NEAR(spin_of_merger(0.1, {}, {}, {-1.0, 0.0, 0.0})[0], -0.2640, 5e-5);
  EXPECT_NEAR(norm(limited_spin({0.0, 0.9, 0.9})), k_largest_spin, 1e-15);
  EXPECT_EQ(limited_spin({0.1, 0.2, 0.3}), (SpinVector{0.1, 0.2, 0.3}));
  EXPECT_THROW(spin_of_merger(1.5, {}, {}, {0.0, 0.0, 1.0}), RunError);
  EXPECT_THROW(spin_of_merger(0.5, {}, {}, {}), RunError);
}

TEST(GalaxySpin, efficiencies_are_those_of_the_table) {
  const auto rows = reference_table("galaxy/spin_efficiencies.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/";
  for (const ReferenceRow& row : *rows) {
    const double a = row.number("a"), efficiency = radiative_efficiency(a);
    EXPECT_NEAR(innermost_orbit(a) / row.number("r_isco"), 1.0, 1e-9) << a;
    EXPECT_NEAR(efficiency / row.number("eps_r"), 1.0, 1e-9) << a;
    const double time = k_older_constants * eddington_time(efficiency) / k_megayear;
    EXPECT_NEAR(time / row.number("eddington_time_Myr"), 1.0, 1e-9) << a;
    EXPECT_NEAR(arrested_jet_efficiency(a) / row.number("eta_mad"), 1.0, 1e-9) << a;
    EXPECT_NEAR(arrested_spin_up(a), row.number("s_mad"), 1e-9) << a;
  }
}

TEST(GalaxySpin, thin_discs_spin_up_as_in_the_table) {
  const auto rows = reference_table("galaxy/spin_up_thin_disc.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/";
  for (const ReferenceRow& row : *rows)
    for (const int chunks : {1, 7, 1000}) {
      double a = row.number("a0");
      for (int n = 0; n < chunks; ++n)
        a = spin_after_thin_disc(a, std::pow(row.number("mass_ratio"), 1.0 / chunks));
      EXPECT_NEAR(a, row.number("a"), 1e-9)
          << row.number("a0") << " by " << row.number("mass_ratio");
    }
}

TEST(GalaxySpin, magnetically_arrested_discs_spin_down_as_in_the_table) {
  const auto rows = reference_table("galaxy/spin_down_mad.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/";
  for (const ReferenceRow& row : *rows)
    EXPECT_NEAR(spin_after_arrested_disc(row.number("a0"), row.number("mass_ratio")),
                row.number("a"), 1e-8)
        << row.number("a0") << " by " << row.number("mass_ratio");
}

TEST(GalaxySpin, mergers_are_those_of_the_table) {
  const auto rows = reference_table("galaxy/spin_merger.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/";
  for (const ReferenceRow& row : *rows) {
    const auto vector = [&](const std::string& name) {
      return SpinVector{row.number(name + "x"), row.number(name + "y"), row.number(name + "z")};
    };
    const SpinVector spin =
        spin_of_merger(row.number("q"), vector("a1"), vector("a2"), vector("l"));
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(spin[d], vector("af")[d], 1e-9) << row.number("q");
    EXPECT_NEAR(norm(spin), row.number("af"), 1e-9);
  }
}

}  // namespace
}  // namespace octant::subgrid
