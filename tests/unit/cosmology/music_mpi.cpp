// MUSIC's own files, in the folder that OCTANT_DATA names.
#include <array>
#include <cmath>

#include "cosmology/initial_conditions.hpp"
#include "cosmology/lagrangian.hpp"
#include "tests/unit/cosmology/initial_fixture.hpp"
#include "tests/unit/io/grafic_files.hpp"
#include "tests/unit/reference_path.hpp"

namespace octant::cosmology {
namespace {

using namespace initial_fixture;

const InitialHeader k_music_header{0.0, 0.3111, 0.6889, 0.047, 67.66, 50.0};

const Expansion k_music_expansion({.omega_m = 0.3111, .omega_lambda = 0.6889});

class Music : public testing::Test {
 protected:
  void SetUp() override {
    if (reference_path("ics").empty()) GTEST_SKIP() << "OCTANT_DATA names no folder with ics/";
  }
  std::unique_ptr<InitialConditions> read(const std::string& set) const {
    InitialOptions options;
    options.kind = InitialKind::grafic;
    options.path = reference_path("ics") + "/" + set + "/grafic";
    return make_initial_conditions(world, options, k_music_header, k_music_expansion, 0);
  }
  Communicator world = Communicator::world();
};

TEST_F(Music, fields_have_the_moments_that_were_measured_beside_them) {
  struct Set {
    const char* name;
    int side;
    double deviation, speed;  // of baryons' overdensity; rms v_x in km/s
  };
  for (const auto& [name, side, deviation, speed] :
       {Set{"b50_n032_2lpt", 32, 0.11507, 49.887}, Set{"b50_n064_2lpt", 64, 0.14782, 50.147}}) {
    const auto initial = read(name);
    EXPECT_NEAR(initial->header().scale_factor, 1.0 / 30.5, 1e-8);
    EXPECT_NEAR(initial->header().box, 50.0, 1e-5);
    const std::vector<Box> mine = blocks(world, initial->levels()[0].extent, 8);
    EXPECT_EQ(initial->levels()[0].side, side);
    InitialCells cells(world, *initial, 0, mine);
    const Moments delta = moments(world, cells.get({overdensity}));
    EXPECT_NEAR(delta.mean, 0.0, 1e-7);
    EXPECT_NEAR(delta.deviation(), deviation, 6e-6);
    const auto gas = cells.get({baryon_velocity, 0}), dark = cells.get({dark_velocity, 0});
    EXPECT_EQ(gas, dark);
    EXPECT_NEAR(moments(world, dark).rms, speed, 6e-4);
    // v = a H f psi at first order, a H f / h = 308.03; second order lowers the ratio a little.
    const auto psi = cells.get({displacement, 0});
    EXPECT_NEAR(ratio(world, dark, psi), 308.0, 0.04);
  }
}

// What both orders leave of a field, compared with the second order alone over waves longer than an
// eighth of the box: sum(rest second) / sum(second^2).
class LongWaves {
 public:
  LongWaves(const Communicator& world, const pencil::PencilGrid& grid)
      : world_(world), fourier_(grid) {}

  double share(const std::vector<double>& rest, const std::vector<double>& second) {
    return ratio(world_, spectrum(rest), spectrum(second));
  }

 private:
  // Real and imaginary parts.
  std::vector<double> spectrum(const std::vector<double>& values) {
    std::vector<double> parts;
    fourier_.forward(values.data());
    fourier_.for_each_mode([&](const pencil::Mode& mode, std::complex<double>& value) {
      if (mode.x * mode.x + mode.y * mode.y + mode.z * mode.z > 16) return;
      parts.push_back(value.real());
      parts.push_back(value.imag());
    });
    return parts;
  }

  Communicator world_;
  pencil::PeriodicFourier fourier_;
};

TEST_F(Music, both_orders_agree_with_ours_of_the_same_overdensity) {
  const auto initial = read("b50_n032_2lpt");
  const pencil::Cells cells{32, 32, 32};
  const pencil::PencilGrid grid(world, cells, pencil::fitting_process_grid(world.size(), cells));
  const double a = initial->header().scale_factor;
  const Growth growth = k_music_expansion.growth(a);
  const double rate = velocity_rate(k_music_expansion.background(), a);
  EXPECT_NEAR(growth.first, 0.0417366, 1e-6);  // as MUSIC's log
  EXPECT_NEAR(rate * growth.first_rate, 308.034, 1e-3);
  InitialCells own(world, *initial, 0, {grid.box(pencil::Orientation::x)});
  auto delta = own.get({overdensity});
  for (double& value : delta) value /= growth.first;
  LagrangianFields first(grid, k_music_header.box, delta, LptOrder::first);
  LagrangianFields both(grid, k_music_header.box, delta, LptOrder::second);
  LongWaves long_waves(world, grid);
  const auto compare = [&](const char* name, int axis, const std::vector<double>& theirs,
                           const std::vector<double>& one, const std::vector<double>& two) {
    std::vector<double> rest(theirs), second(two);
    for (std::size_t n = 0; n < theirs.size(); ++n) {
      rest[n] -= one[n];
      second[n] -= one[n];
    }
    // MUSIC differentiates by finite differences, so that short waves differ.
    EXPECT_NEAR(long_waves.share(theirs, two), 1.0, 2e-3) << name << axis;
    EXPECT_NEAR(long_waves.share(rest, second), 1.0, 0.04) << name << axis;
  };
  for (int axis = 0; axis < 3; ++axis) {
    compare("displacement ", axis, own.get({displacement, axis}), first.displacement(axis, growth),
            both.displacement(axis, growth));
    compare("velocity ", axis, own.get({dark_velocity, axis}), first.velocity(axis, growth, rate),
            both.velocity(axis, growth, rate));
  }
}

TEST_F(Music, a_zoom_lies_where_its_log_says_and_is_delivered_by_level) {
  const auto initial = read("b50_zoom_l5_l7");
  ASSERT_EQ(initial->levels().size(), 3);
  EXPECT_EQ(initial->levels()[0].side, 32);
  EXPECT_EQ(initial->levels()[1].extent, box({24, 40}, {24, 40}, {24, 40}));
  EXPECT_EQ(initial->levels()[2].extent, box({52, 74}, {52, 74}, {52, 74}));
  EXPECT_EQ(initial->scalars(), 1);

  // Refined are 0.001953 of the cells of level 5 and 0.125 of those of level 6, its log says. On
  // the finest level the mask marks the region that these cells make.
  for (const auto& [level, refined] : {std::pair{0, 64}, std::pair{1, 512}, std::pair{2, 4096}}) {
    double sum = 0.0;
    for (const double value : initial->own(level, {refinement})) sum += value;
    EXPECT_EQ(world.sum(static_cast<int>(sum)), refined) << level;
  }

  // With the cells refined that the mask marks, all of them twice, the gas has the mean density:
  // the files alone would miss it by 5e-6.
  ReproducibleSum mass;
  for (const int level : {0, 2}) {
    const auto delta = initial->own(level, {overdensity}), mask = initial->own(level, {refinement});
    for (std::size_t n = 0; n < delta.size(); ++n)
      if (mask[n] == (level == 0 ? 0.0 : 1.0)) mass += std::pow(8.0, -level) * (1.0 + delta[n]);
  }
  reproducible_sum(world, std::span(&mass, 1));
  EXPECT_NEAR(mass.to_double() / (32 * 32 * 32), 1.0, 1e-12);

  // One cell inside, and one outside of the finest level, which has the value of level 6.
  const std::string folder = reference_path("ics") + "/b50_zoom_l5_l7/grafic/";
  const auto planes = [&](const char* file, int plane) {
    return GraficFile(folder + file + "/ic_velcz").planes({plane, 1});
  };
  InitialCells cells(world, *initial, 2,
                     {box({60, 61}, {54, 55}, {70, 71}), box({75, 76}, {54, 55}, {70, 71})});
  const auto values = cells.get({dark_velocity, 2});
  EXPECT_EQ(values[0], planes("level_007", 70 - 52)[(54 - 52) * 22 + 60 - 52]);
  EXPECT_EQ(values[1], planes("level_006", 35 - 24)[(27 - 24) * 16 + 37 - 24]);

  std::int64_t particles = 0;  // in units of the mass of the finest
  for (int level = 0; level < 3; ++level) {
    const Box& extent = initial->levels()[static_cast<std::size_t>(level)].extent;
    for (int z = extent[2].begin; z < extent[2].end; ++z)
      for (int y = extent[1].begin; y < extent[1].end; ++y)
        for (int x = extent[0].begin; x < extent[0].end; ++x)
          if (!initial->is_covered(level, {x, y, z})) particles += 64 >> (3 * level);
  }
  EXPECT_EQ(particles, 128 * 128 * 128);
}

}  // namespace
}  // namespace octant::cosmology
