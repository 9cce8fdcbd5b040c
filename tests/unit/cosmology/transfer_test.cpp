#include "cosmology/linear_power.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>

#include "tests/unit/io/grafic_files.hpp"
#include "tests/unit/reference_path.hpp"

namespace octant::cosmology {
namespace {

using grafic_files::expect_input_error;

SpectrumOptions planck() {
  SpectrumOptions options;
  options.omega_m = 0.3111, options.omega_b = 0.047, options.h = 0.6766;
  options.spectral_index = 0.967, options.sigma_8 = 0.81;
  return options;
}

SpectrumOptions table(const std::string& text) {
  SpectrumOptions options = planck();
  options.transfer = Transfer::table;
  options.table = testing::TempDir() + "octant_spectrum.txt";
  std::ofstream(options.table) << text;
  return options;
}

TEST(EisensteinHu, agrees_with_another_implementation) {
  // k in h/Mpc and P(k) in (Mpc/h)^3, by the package colossus 1.4.0.
  const double reference[][2] = {{1.0382232e-04, 4.0896443e+02}, {4.6550012e-04, 1.7389060e+03},
                                 {2.0871270e-03, 7.0479831e+03}, {9.3578902e-03, 2.0116286e+04},
                                 {4.1957250e-02, 1.4110783e+04}, {1.8812049e-01, 2.1241571e+03},
                                 {8.4346130e-01, 9.8342529e+01}, {3.7817624e+00, 2.7403434e+00},
                                 {1.6955996e+01, 5.7079620e-02}, {3.1622777e+02, 1.9623316e-05}};
  const LinearPower power(planck(), read_text_file);
  for (const auto& [k, expected] : reference) EXPECT_NEAR(power(k) / expected, 1.0, 1e-3) << k;
}

TEST(EisensteinHu, agrees_with_the_reference_spectrum_at_redshift_29) {
  const std::string path = reference_path("ref/pk_linear_z29.5.csv");
  if (path.empty()) GTEST_SKIP() << "OCTANT_DATA names no folder with ref/pk_linear_z29.5.csv";
  const double growth = 0.0417366371;  // D(z = 29.5) / D(0), from the same folder
  const LinearPower power(planck(), read_text_file);
  std::ifstream file(path);
  double worst = 0.0;
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    double k = 0.0, today = 0.0, early = 0.0;
    char comma;
    if (!(std::istringstream(line) >> k >> comma >> today >> comma >> early)) continue;
    worst = std::max(worst, std::abs(power(k) * growth * growth / early - 1.0));
    ++rows;
  }
  EXPECT_GT(rows, 100);
  EXPECT_LT(worst, 1e-2);
  RecordProperty("worst", std::to_string(worst));
  std::printf("worst difference %.2e over %d wavenumbers\n", worst, rows);
}

TEST(EisensteinHu, without_peaks_goes_through_the_middle_of_those_with_peaks) {
  const SpectrumOptions o = planck();
  const EisensteinHu transfer(o.omega_m, o.omega_b, o.h, o.cmb_temperature);
  for (double k = 1e-4; k < 10.0; k *= 1.3)
    EXPECT_NEAR(transfer.smooth(k) / transfer(k), 1.0, 0.07) << k;
  EXPECT_NEAR(transfer(1e-6), 1.0, 1e-3);
  EXPECT_NEAR(transfer.smooth(1e-6), 1.0, 1e-3);
}

TEST(LinearPower, has_the_sigma_8_asked_for) {
  for (const Transfer transfer : {Transfer::eisenstein_hu, Transfer::eisenstein_hu_smooth}) {
    SpectrumOptions options = planck();
    options.transfer = transfer;
    EXPECT_NEAR(LinearPower(options, read_text_file).sigma(8.0), 0.81, 1e-12);
  }
}

TEST(LinearPower, sigma_of_a_power_law_is_the_analytic_one) {
  // For P = A k^-2, sigma(r)^2 = A / (2 pi^2 r) int W^2 dx with int_0^inf W(x)^2 dx = 3 pi / 5.
  std::string text;
  for (double k = 1e-5; k < 1e3; k *= 1.1) text += fmt::format("{} {}\n", k, std::pow(k, -2.0));
  SpectrumOptions options = table(text);
  options.spectral_index = -2.0;
  const LinearPower power(options, read_text_file);
  const double amplitude = power(1.0);
  for (const double r : {2.0, 8.0, 20.0}) {
    const double expected = std::sqrt(amplitude * 3.0 / (10.0 * std::numbers::pi * r));
    EXPECT_NEAR(power.sigma(r) / expected, 1.0, 1e-5) << r;
  }
}

TEST(LinearPower, of_a_table_passes_through_its_points_up_to_a_factor) {
  const LinearPower power(table("# k P\n0.01 100\n\n0.1 50 # seven\n1 1\n"), read_text_file);
  EXPECT_NEAR(power(0.1) / power(0.01), 0.5, 1e-12);
  EXPECT_NEAR(power(1.0) / power(0.01), 0.01, 1e-12);
  EXPECT_NEAR(power(std::sqrt(0.1)) / power(0.1), std::sqrt(0.02), 1e-12);
  EXPECT_NEAR(power(0.001) / power(0.01), std::pow(0.1, 0.967), 1e-12);
  EXPECT_NEAR(power.sigma(8.0), 0.81, 1e-12);
  expect_input_error([&] { power(1.1); }, {"octant_spectrum", "ends at k = 1", "1.1"});
}

TEST(LinearPower, refuses_spectra_that_cannot_be) {
  const auto refuse = [](const SpectrumOptions& options, const std::vector<std::string>& words) {
    expect_input_error([&] { LinearPower(options, read_text_file); }, words);
  };
  SpectrumOptions baryons = planck();
  baryons.omega_b = 0.4;
  refuse(baryons, {"cosmology.omega_b = 0.4"});
  SpectrumOptions missing = planck();
  missing.transfer = Transfer::table, missing.table = "nowhere.txt";
  refuse(missing, {"nowhere.txt", "initial.table"});
  refuse(table("0.1 1\n0.2 x\n"), {"octant_spectrum.txt:2", "0.2 x"});
  refuse(table("0.1 1\n0.2\n"), {"octant_spectrum.txt:2"});
  refuse(table("0.1 1\n0.2 1 3\n"), {"octant_spectrum.txt:2", "two positive numbers"});
  refuse(table("0.1 1\n0.2 -1\n"), {"octant_spectrum.txt:2", "positive"});
  refuse(table("0.1 1\n0.05 1\n"), {"octant_spectrum.txt:2", "not larger than"});
  refuse(table("0.1 1\n"), {"1 values"});
}

}  // namespace
}  // namespace octant::cosmology
