#include "cosmology/initial_conditions.hpp"

#include <algorithm>
#include <complex>
#include <fstream>
#include <map>
#include <numbers>

#include "cosmology/initial_generator.hpp"
#include "cosmology/lagrangian.hpp"
#include "cosmology/linear_power.hpp"
#include "pencil/fourier.hpp"
#include "tests/unit/cosmology/grafic_folder.hpp"
#include "tests/unit/cosmology/initial_fixture.hpp"
#include "tests/unit/io/grafic_files.hpp"
#include "tests/unit/io/scratch.hpp"

namespace octant::cosmology {
namespace {

using namespace initial_fixture;
using grafic_files::expect_input_error;

const Expansion k_expansion({.omega_m = 0.3, .omega_lambda = 0.7});
constexpr float k_spacing = 500.0F / 7 / 8;  // Mpc, of 8 cells in 50 Mpc/h
const InitialHeader k_header{0.03, 0.3, 0.7, 0.05, 70.0, 50.0};

class Initial : public testing::Test {
 protected:
  std::unique_ptr<InitialConditions> make(const InitialOptions& options,
                                          const InitialHeader& header = k_header) const {
    return make_initial_conditions(world, options, header, k_expansion, 16);
  }
  std::unique_ptr<InitialConditions> generated(int cells) const {
    InitialOptions options;
    options.cells = cells;
    return make(options);
  }
  std::unique_ptr<InitialConditions> from_files(const InitialHeader& header = k_header) const {
    InitialOptions options;
    options.kind = InitialKind::grafic, options.path = folder();
    return make(options, header);
  }
  std::string folder() const { return scratch.path("grafic"); }

  // Levels of 8^3 cells and of the 8 x 4 x 4 from cell (4, 8, 8) on of 16; values tell the place in
  // the file, on the finer level from 1000 on.
  void write_zoom(const std::vector<std::string>& fields) const {
    for (const auto& field : fields) {
      grafic_files::write(world, folder() + "/level_003/" + field, coarse(),
                          [](std::int64_t n) { return static_cast<float>(n); });
      grafic_files::write(world, folder() + "/level_004/" + field, fine(),
                          [](std::int64_t n) { return static_cast<float>(1000 + n); });
    }
  }
  static GraficHeader coarse() { return {{8, 8, 8}, k_spacing, {}, 0.03F, 0.3F, 0.7F, 70.0F}; }
  static GraficHeader fine() {
    return {{8, 4, 4}, k_spacing / 2, {2 * k_spacing, 4 * k_spacing, 4 * k_spacing}, 0.03F, 0.3F,
            0.7F,      70.0F};
  }
  // What a cell of level 1 or 2 of write_zoom holds.
  static double zoom_value(int level, int x, int y, int z) {
    if (level == 2) x /= 2, y /= 2, z /= 2;
    if (x >= 4 && x < 12 && y >= 8 && y < 12 && z >= 8 && z < 12)
      return 1000 + ((z - 8) * 4 + (y - 8)) * 8 + (x - 4);
    return ((z / 2) * 8 + y / 2) * 8 + x / 2;
  }

  Communicator world = Communicator::world();
  Scratch scratch{world};
};

const std::vector<std::string> k_dark{"ic_velcx", "ic_velcy", "ic_velcz"};

TEST_F(Initial, cells_come_to_whoever_asks_from_the_finest_level_that_has_them) {
  write_zoom(k_dark);
  InitialHeader header = k_header;
  header.box = 0.0, header.scale_factor = 0.0;
  auto initial = from_files(header);
  EXPECT_NEAR(initial->header().box, 50.0, 1e-5);
  EXPECT_NEAR(initial->header().scale_factor, 0.03, 1e-8);
  ASSERT_EQ(initial->levels().size(), 2);
  EXPECT_EQ(initial->levels()[1].side, 16);
  EXPECT_EQ(initial->levels()[1].extent, box({4, 12}, {8, 12}, {8, 12}));
  EXPECT_TRUE(initial->is_covered(0, {2, 4, 5}));
  EXPECT_FALSE(initial->is_covered(0, {1, 4, 5}));
  EXPECT_FALSE(initial->is_covered(1, {4, 8, 8}));

  for (const int level : {1, 2}) {
    const int side = 8 << level, r = world.rank();
    const std::vector<Box> boxes{box({0, side}, {0, side}, {r, r + 1}), box({0, 0}, {0, 0}, {0, 0}),
                                 box({3, 6 + r}, {7, side}, {5, 10}),
                                 box({side / 2, side / 2 + 1}, {9, 10}, {9, 11})};
    InitialCells cells(world, *initial, level, boxes);
    const auto values = cells.get({dark_velocity, 1});
    std::size_t n = 0;
    for (const Box& asked : boxes)
      for (int z = asked[2].begin; z < asked[2].end; ++z)
        for (int y = asked[1].begin; y < asked[1].end; ++y)
          for (int x = asked[0].begin; x < asked[0].end; ++x, ++n)
            ASSERT_EQ(values.at(n), zoom_value(level, x, y, z)) << x << " " << y << " " << z;
    EXPECT_EQ(n, values.size());
  }
}

TEST_F(Initial, every_plane_is_read_by_one_rank) {
  write_zoom(k_dark);
  auto initial = from_files();
  for (const int level : {0, 1}) {
    const CellSpread spread = initial->spread(level);
    const Box& extent = initial->levels()[static_cast<std::size_t>(level)].extent;
    int next = extent[2].begin;
    for (int rank = 0; rank < world.size(); ++rank) {
      const Box own = spread.box(rank);
      EXPECT_EQ(own[2].begin, next);
      EXPECT_EQ(own[0], extent[0]);
      EXPECT_EQ(own[1], extent[1]);
      next = own[2].end;
    }
    EXPECT_EQ(next, extent[2].end);
  }
}

TEST_F(Initial, displacements_that_no_file_holds_follow_from_velocities) {
  write_zoom(k_dark);
  auto initial = from_files();
  ASSERT_TRUE(initial->has({displacement, 2}));
  InitialCells cells(world, *initial, 1, {box({0, 16}, {9, 11}, {3, 4})});
  EXPECT_NEAR(ratio(world, cells.get({dark_velocity, 2}), cells.get({displacement, 2})),
              velocity_rate(k_expansion.background(), 0.03) * k_expansion.growth(0.03).first_rate,
              1e-4);  // a is in single precision
}

TEST_F(Initial, the_mass_of_gas_does_not_depend_on_the_cells_that_are_refined) {
  write_zoom(k_dark);
  grafic_files::write(world, folder() + "/level_003/ic_deltab", coarse(),
                      [](std::int64_t n) { return 0.01F * static_cast<float>(n % 37) - 0.1F; });
  grafic_files::write(world, folder() + "/level_004/ic_deltab", fine(),
                      [](std::int64_t n) { return 0.02F * static_cast<float>(n % 29) - 0.3F; });
  auto initial = from_files();
  const std::vector<Box> mine = blocks(world, box({0, 16}, {0, 16}, {0, 16}), 2);
  InitialCells fine_cells(world, *initial, 1, mine);
  std::vector<Box> parents;
  for (const Box& b : mine)
    parents.push_back(box({b[0].begin / 2, b[0].end / 2}, {b[1].begin / 2, b[1].end / 2},
                          {b[2].begin / 2, b[2].end / 2}));
  InitialCells coarse_cells(world, *initial, 0, parents);
  const auto fine_values = fine_cells.get({overdensity});
  const auto coarse_values = coarse_cells.get({overdensity});
  EXPECT_NEAR(moments(world, coarse_values).mean, 0.0, 1e-16);
  bool differ = false;
  for (std::size_t n = 0; n < coarse_values.size(); ++n) {
    double sum = 0.0;
    for (int c = 0; c < 8; ++c) {
      sum += fine_values[8 * n + c];
      differ = differ || fine_values[8 * n + c] != coarse_values[n];
    }
    EXPECT_NEAR(sum / 8.0, coarse_values[n], 1e-15);
  }
  EXPECT_TRUE(world.any(differ));
}

TEST_F(Initial, files_of_another_universe_are_refused) {
  write_zoom(k_dark);
  const auto refuse = [&](double InitialHeader::*number, double value,
                          const std::vector<std::string>& words) {
    InitialHeader header = k_header;
    header.*number = value;
    expect_input_error([&] { from_files(header); }, words);
  };
  refuse(&InitialHeader::omega_m, 0.31, {folder(), "cosmology.omega_m = 0.3", "0.31"});
  refuse(&InitialHeader::omega_lambda, 0.69, {"cosmology.omega_lambda = 0.7", "0.69"});
  refuse(&InitialHeader::hubble, 67.0, {"cosmology.h = 0.7", "0.67"});
  refuse(&InitialHeader::box, 60.0, {"50", "60"});
  refuse(&InitialHeader::scale_factor, 0.02, {"scale factor = 0.03", "0.02"});
}

TEST_F(Initial, fields_that_are_not_there_are_named) {
  write_zoom(k_dark);
  auto files = from_files();
  EXPECT_FALSE(files->has({overdensity}));
  expect_input_error([&] { files->own(0, {overdensity}); }, {folder(), "ic_deltab"});
  expect_input_error([&] { files->own(0, {scalar, 1}); }, {"ic_pvar_00002"});
  auto made = generated(8);
  expect_input_error([&] { made->own(0, {refinement}); }, {"refinement mask", "grafic"});
}

TEST_F(Initial, files_without_dark_matter_are_refused) {
  write_zoom({"ic_deltab"});
  expect_input_error([&] { from_files(); }, {folder(), "ic_velcx"});
  InitialOptions options;
  options.kind = InitialKind::grafic;
  expect_input_error([&] { make(options); }, {"initial.path"});
}

TEST_F(Initial, a_damaged_plane_ends_every_rank_with_one_message) {
  write_zoom(k_dark);
  auto initial = from_files();
  if (world.is_root()) grafic_files::overwrite(folder() + "/level_003/ic_velcx", 52 + 7 * 264, "?");
  world.barrier();
  expect_input_error([&] { initial->own(0, {dark_velocity, 0}); }, {"corrupt", "plane 7 of 8"});
}

TEST_F(Initial, gas_that_would_be_negative_is_refused) {
  InitialOptions options;
  options.sigma_8 = 100.0;
  auto initial = make(options);
  expect_input_error([&] { initial->own(0, {overdensity}); }, {"overdensity", "exceed -1"});
}

TEST_F(Initial, a_table_that_is_too_short_ends_every_rank) {
  InitialOptions options;
  options.transfer = Transfer::table, options.table = scratch.path("table.txt");
  if (world.is_root()) std::ofstream(options.table) << "0.01 1\n0.5 1\n";
  world.barrier();
  expect_input_error([&] { make(options); }, {"table.txt", "ends at k = 0.5"});
}

// The modes of a field given as x-pencils of a grid.
std::vector<std::complex<double>> modes_of(const pencil::PencilGrid& grid,
                                           const std::vector<double>& values,
                                           std::vector<pencil::Mode>& modes) {
  pencil::PeriodicFourier fourier(grid);
  fourier.forward(values.data());
  std::vector<std::complex<double>> coefficients;
  fourier.for_each_mode([&](const pencil::Mode& mode, std::complex<double>& value) {
    modes.push_back(mode);
    coefficients.push_back(value);
  });
  return coefficients;
}

TEST_F(Initial, generated_modes_are_the_noise_times_the_root_of_the_spectrum) {
  const int side = 32;
  const double box = k_header.box;
  const auto initial = generated(side);
  SpectrumOptions spectrum;
  spectrum.omega_m = 0.3, spectrum.omega_b = 0.05, spectrum.h = 0.7;
  spectrum.sigma_8 = 0.81, spectrum.spectral_index = 0.967;
  const LinearPower power(spectrum, read_text_file);
  const pencil::PencilGrid grid(world, {side, side, side},
                                pencil::fitting_process_grid(world.size(), {side, side, side}));
  std::vector<pencil::Mode> modes;
  const auto delta = modes_of(grid, initial->own(0, {overdensity}), modes);
  const double growth = k_expansion.growth(0.03).first;
  constexpr int k_bins = 16;
  std::vector<ReproducibleSum> sums(3 * k_bins);  // measured and expected power, modes
  double worst = 0.0;
  for (std::size_t n = 0; n < modes.size(); ++n) {
    const auto [x, y, z, weight] = modes[n];
    const double length = std::sqrt(static_cast<double>(x * x + y * y + z * z));
    if (length == 0.0) {
      EXPECT_LT(std::abs(delta[n]), 1e-10);
      continue;
    }
    const double p = power(2.0 * std::numbers::pi * length / box) * growth * growth;
    const auto expected =
        noise_mode(1, modes[n], grid.cells()) * std::sqrt(p * std::pow(side / box, 3));
    worst = std::max(worst, std::abs(delta[n] - expected) / std::sqrt(p * std::pow(side, 6)));
    const auto bin = static_cast<std::size_t>(length + 0.5);
    if (bin >= k_bins) continue;
    sums[3 * bin] += weight * std::norm(delta[n]) * std::pow(box, 3) / std::pow(side, 6);
    sums[3 * bin + 1] += weight * p;
    sums[3 * bin + 2] += weight;
  }
  EXPECT_LT(worst, 1e-13);
  reproducible_sum(world, sums);
  for (int bin = 1; bin < k_bins; ++bin) {
    const double count = sums[3 * bin + 2].to_double();
    const double found = sums[3 * bin].to_double() / sums[3 * bin + 1].to_double();
    // Half of the modes are independent: P varies by sqrt(2 / count). Four times that.
    EXPECT_NEAR(found, 1.0, 4.0 * std::sqrt(2.0 / count)) << "k = " << bin << " of the box";
  }
}

TEST_F(Initial, a_finer_generated_grid_has_the_same_waves) {
  // Coefficients per cell and counted from the box's corner, of the waves that both grids hold.
  using Waves = std::map<std::array<int, 3>, std::complex<double>>;
  const auto waves_of = [&](int side) {
    const Communicator alone = world.split(world.rank());
    const pencil::PencilGrid grid(alone, {side, side, side}, {1, 1});
    const auto made = generated(side);
    InitialCells whole(world, *made, 0, {made->levels()[0].extent});
    std::vector<pencil::Mode> modes;
    const auto values = modes_of(grid, whole.get({overdensity}), modes);
    Waves waves;
    for (std::size_t n = 0; n < modes.size(); ++n) {
      const auto [x, y, z, weight] = modes[n];
      if (x >= 4 || std::abs(y) >= 4 || std::abs(z) >= 4) continue;
      waves[{x, y, z}] =
          values[n] * std::polar(std::pow(side, -3.0), -std::numbers::pi * (x + y + z) / side);
    }
    return waves;
  };
  const Waves coarse = waves_of(8);
  for (const int side : {12, 16}) {
    const Waves fine = waves_of(side);
    ASSERT_EQ(fine.size(), coarse.size());
    double largest = 0.0;
    for (const auto& [wave, value] : coarse) largest = std::max(largest, std::abs(value));
    for (const auto& [wave, value] : coarse)
      EXPECT_LT(std::abs(fine.at(wave) - value), 1e-13 * largest);
  }
}

TEST_F(Initial, gas_and_dark_matter_are_generated_as_one_fluid_at_every_number_of_ranks) {
  const auto initial = generated(16);
  const std::vector<Box> whole{initial->levels()[0].extent};
  InitialCells cells(world, *initial, 0, world.is_root() ? whole : std::vector<Box>{});
  const auto gas = cells.get({baryon_velocity, 1}), dark = cells.get({dark_velocity, 1});
  EXPECT_EQ(gas, dark);
  const Communicator alone = world.split(world.rank());
  if (!world.is_root()) return;
  InitialOptions options;
  const auto serial = make_initial_conditions(alone, options, k_header, k_expansion, 16);
  EXPECT_EQ(serial->own(0, {dark_velocity, 1}), dark);
  EXPECT_EQ(serial->own(0, {overdensity}).size(), 4096);
}

TEST_F(Initial, written_fields_are_read_back_in_single_precision) {
  const auto made = generated(16);
  write_grafic_folder(world, *made, folder());
  const auto read = from_files();
  EXPECT_EQ(read->levels()[0].side, 16);
  EXPECT_FALSE(read->has({refinement}));
  const std::vector<Box> mine = blocks(world, read->levels()[0].extent, 4);
  InitialCells from_made(world, *made, 0, mine), from_read(world, *read, 0, mine);
  for (const InitialField field : {InitialField{overdensity}, InitialField{displacement, 2},
                                   InitialField{baryon_velocity, 1}}) {
    const auto a = from_made.get(field), b = from_read.get(field);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t n = 0; n < a.size(); ++n) EXPECT_EQ(static_cast<float>(a[n]), b[n]);
  }
}

}  // namespace
}  // namespace octant::cosmology
