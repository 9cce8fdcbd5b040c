// Photons of stars by age and metallicity, and shares of cells in those of point sources.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "subgrid/ionization/point_sources.hpp"
#include "subgrid/ionization/stellar_table.hpp"

namespace octant::subgrid::ionization {
namespace {

constexpr double k_megayear = 1e6 * constants::k_year;

// A text file that exists until the end of the scope.
class TableFile {
 public:
  explicit TableFile(const std::string& text)
      : path_(testing::TempDir() + "photons_" + std::to_string(::getpid()) + ".txt") {
    std::ofstream(path_) << text;
  }
  ~TableFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(StellarTable, emits_constant_rates_until_the_lifetime) {
  const StellarTable table({2.0, 3.0, 5.0}, 10.0);
  EXPECT_DOUBLE_EQ(table.photons(1.0, 4.0, 0.02)[0], 6.0);
  EXPECT_DOUBLE_EQ(table.photons(8.0, 20.0, 0.0)[1], 6.0);
  EXPECT_EQ(table.photons(10.0, 20.0, 0.0)[2], 0.0);
}

TEST(StellarTable, integrates_linear_rates_exactly) {
  const TableFile file("# Z, Myr, photons\n0.01 1 1e46\n0.01 3 3e46\n0.01 5 0\n");
  const StellarTable table(file.path(), 1, read_text_file);
  const double unit = 1e46 * k_megayear / constants::k_solar_mass;
  const auto photons = [&](double begin, double end) {
    return table.photons(begin * k_megayear, end * k_megayear, 0.01)[0] / unit;
  };
  EXPECT_NEAR(photons(0.0, 1.0), 1.0, 1e-14);
  EXPECT_NEAR(photons(1.0, 3.0), 4.0, 1e-13);
  EXPECT_NEAR(photons(1.5, 2.5), 2.0, 1e-13);
  EXPECT_NEAR(photons(3.0, 5.0), 3.0, 1e-13);
  EXPECT_NEAR(photons(0.0, 100.0), 8.0, 1e-13);
  // Steps add up.
  double sum = 0.0;
  for (int n = 0; n < 60; ++n) sum += photons(0.1 * n, 0.1 * (n + 1));
  EXPECT_NEAR(sum, 8.0, 1e-12);
}

TEST(StellarTable, interpolates_in_metallicity) {
  const TableFile file("0.01 1 1e46 0\n0.01 3 1e46 1e46\n0.03 1 2e46 0\n0.03 3 2e46 3e46\n");
  const StellarTable table(file.path(), 2, read_text_file);
  const auto photons = [&](double metallicity, int group) {
    return table.photons(0.0, 3.0 * k_megayear, metallicity)[group] /
           (1e46 * k_megayear / constants::k_solar_mass);
  };
  EXPECT_NEAR(photons(0.02, 0), 4.5, 1e-13);
  EXPECT_NEAR(photons(0.001, 0), 3.0, 1e-13);
  EXPECT_NEAR(photons(0.1, 1), 3.0, 1e-13);
  EXPECT_NEAR(photons(0.015, 1), 1.5, 1e-13);
}

TEST(StellarTable, refuses_tables_that_are_no_grid) {
  const auto refuses = [](const std::string& text, int groups) {
    const TableFile file(text);
    EXPECT_THROW(StellarTable(file.path(), groups, read_text_file), InputError) << text;
  };
  refuses("0.01 1 1e46\n", 1);                                       // one age
  refuses("0.01 1 1e46\n0.01 2 1e46\n", 2);                          // too few groups
  refuses("0.01 2 1e46\n0.01 1 1e46\n", 1);                          // ages fall
  refuses("0.02 1 1\n0.02 2 1\n0.01 1 1\n0.01 2 1\n", 1);            // metallicities fall
  refuses("0.01 1 1\n0.01 2 1\n0.02 1 1\n0.02 3 1\n", 1);            // other ages
  refuses("0.01 1 1\n0.01 2 1\n0.02 1 1\n", 1);                      // fewer ages
  refuses("0.01 1 1\n0.01 2 1\n0.02 1 1\n0.02 2 1\n0.02 3 1\n", 1);  // more ages
  refuses("0.01 1 -1\n0.01 2 1\n", 1);                               // negative rate
}

// Shares of a cell whose centre is at these distances, in cells of size 1.
double share_of(double x, double y, double z) {
  return share_along_axis(x, 1.0) * share_along_axis(y, 1.0) * share_along_axis(z, 1.0);
}

TEST(PointSources, share_their_photons_among_the_cells_around) {
  EXPECT_EQ(share_of(0.2, -0.3, 0.1), 1.0);    // inside
  EXPECT_EQ(share_of(0.5, -0.3, 0.1), 0.5);    // on a face
  EXPECT_EQ(share_of(-0.5, 0.5, 0.1), 0.25);   // on an edge
  EXPECT_EQ(share_of(-0.5, 0.5, 0.5), 0.125);  // on a corner
  EXPECT_EQ(share_of(0.2, 0.7, 0.1), 0.0);     // outside
  // Rounding errors of positions do not matter.
  EXPECT_EQ(share_of(0.5 + 1e-13, 0.5 - 1e-13, 0.0), 0.25);
}

}  // namespace
}  // namespace octant::subgrid::ionization
