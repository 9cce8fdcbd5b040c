// Opacities in a text file, and their interpolation.
#include "radiation/opacity_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/wide_simd.hpp"
#include "radiation/exchange.hpp"
#include "radiation/opacity.hpp"

namespace octant::radiation::test {
namespace {

class OpacityTableTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  OpacityTable table(const std::string& text, const CodeUnits* units = nullptr) const {
    std::ofstream(path_) << text;
    return OpacityTable(path_, units, read_text_file);
  }
  // Power laws 2 rho^0.5 T^-1.5 and 3 rho T^-3.5 at nodes of uneven spacing.
  static std::string power_laws() {
    std::string text = "# density temperature planck rosseland\n";
    for (const double rho : {1e-3, 2e-2, 1.0, 50.0})
      for (const double T : {0.1, 1.0, 3.0, 200.0})
        text += fmt::format("{}, {} {} {}\n", rho, T, 2 * std::pow(rho, 0.5) * std::pow(T, -1.5),
                            3 * rho * std::pow(T, -3.5));
    return text;
  }
  // Message of the error that a file causes.
  std::string refusal(const std::string& text) const {
    try {
      table(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }

  std::string path_ = testing::TempDir() + "opacities.txt";
};

TEST_F(OpacityTableTest, is_exact_for_power_laws) {
  const OpacityTable file = table(power_laws());
  const Opacity opacity = Opacity::tabulated(file.grid(), 4.0);
  for (const double rho : {1e-3, 5e-3, 0.7, 3.0, 50.0})
    for (const double T : {0.1, 0.3, 1.0, 2.0, 170.0, 200.0}) {
      const OpacityValue<double> planck = opacity.planck.at_density(rho).evaluate(T);
      EXPECT_NEAR(planck.kappa / (2 * std::pow(rho, 0.5) * std::pow(T, -1.5)), 1.0, 1e-13);
      if (T > 0.1 && T < 200.0) {
        EXPECT_NEAR(planck.exponent, -1.5, 1e-12);
      }
      const double rosseland = 3 * rho * std::pow(T, -3.5);
      EXPECT_NEAR(opacity.extinction(rho, T) / (rho * (rosseland + 4.0)), 1.0, 1e-13);
    }
}

TEST_F(OpacityTableTest, has_the_bits_of_single_cells_in_packs) {
  using P = SimdTraits<WideDouble>;
  const OpacityTable file = table(power_laws());
  const OpacityLaw law = Opacity::tabulated(file.grid()).planck;
  const auto rho = [](int lane) { return 1e-4 * std::pow(9.0, lane); };
  const auto T = [](int lane) { return 400.0 * std::pow(0.3, lane); };
  const OpacityValue<WideDouble> found = law.at_density(P::generate(rho)).evaluate(P::generate(T));
  for (int lane = 0; lane < P::width; ++lane) {
    const OpacityValue<double> alone = law.at_density(rho(lane)).evaluate(T(lane));
    EXPECT_EQ(P::lane(found.kappa, lane), alone.kappa);
    EXPECT_EQ(P::lane(found.exponent, lane), alone.exponent);
  }
}

TEST_F(OpacityTableTest, has_the_nearest_opacity_beyond_its_limits) {
  const OpacityTable file = table(power_laws());
  const OpacityLaw law = Opacity::tabulated(file.grid()).planck;
  EXPECT_DOUBLE_EQ(law.at(1e-9, 2.0), law.at(1e-3, 2.0));
  EXPECT_DOUBLE_EQ(law.at(1e9, 2.0), law.at(50.0, 2.0));
  EXPECT_DOUBLE_EQ(law.at(1.0, 1e-9), law.at(1.0, 0.1));
  EXPECT_DOUBLE_EQ(law.at(1.0, 1e9), law.at(1.0, 200.0));
  EXPECT_EQ(law.at_density(1.0).evaluate(1e9).exponent, 0.0);
  EXPECT_EQ(law.at_density(1.0).evaluate(1e-9).exponent, 0.0);
  EXPECT_TRUE(file.grid().contains(1e-3, 0.1));
  EXPECT_TRUE(file.grid().contains(50.0, 200.0));
  EXPECT_FALSE(file.grid().contains(0.9e-3, 1.0));
  EXPECT_FALSE(file.grid().contains(51.0, 1.0));
  EXPECT_FALSE(file.grid().contains(1.0, 0.09));
  EXPECT_FALSE(file.grid().contains(1.0, 201.0));
  EXPECT_FALSE(file.grid().contains(std::numeric_limits<double>::quiet_NaN(), 1.0));
  EXPECT_EQ(file.ranges(), "densities from 0.001 to 50, and temperatures from 0.1 to 200");
}

TEST_F(OpacityTableTest, converts_from_cgs_units) {
  const CodeUnits units{.length = 1e3, .mass = 1e5, .time = 10.0};  // density: 1e-4 g/cm^3
  const OpacityTable file = table(power_laws(), &units);
  const double rho = 2.0e3, T = 3.0;                                   // 0.2 g/cm^3
  const double expected = 2 * std::pow(0.2, 0.5) * std::pow(T, -1.5);  // cm^2/g
  EXPECT_NEAR(Opacity::tabulated(file.grid()).planck.at(rho, T) / (expected * 1e5 / 1e6), 1.0,
              1e-13);
  EXPECT_NE(file.ranges().find("50 g/cm^3"), std::string::npos);
}

TEST_F(OpacityTableTest, is_solved_implicitly_like_the_power_law) {
  const OpacityTable file = table(power_laws());
  const Opacity tabulated = Opacity::tabulated(file.grid(), 0.5);
  Opacity law = Opacity::constant(2.0, 3.0, 0.5);
  law.planck.density_exponent = 0.5, law.planck.temperature_exponent = -1.5;
  law.rosseland.density_exponent = 1.0, law.rosseland.temperature_exponent = -3.5;
  const Light light{10.0, 3.0, 0.5};
  for (const double internal : {1.0, 40.0}) {
    RadiatingCell one{2.0, {0.3, 0, 0}, internal, 20.0, {50.0, 20.0, 0}}, other = one;
    EXPECT_GT(exchange(one, light, {1.5}, tabulated, 0.1), 0);
    EXPECT_GT(exchange(other, light, {1.5}, law, 0.1), 0);
    EXPECT_NEAR(one.internal / other.internal, 1.0, 1e-9);
    EXPECT_NEAR(one.energy / other.energy, 1.0, 1e-9);
    EXPECT_NEAR(one.momentum[0] / other.momentum[0], 1.0, 1e-9);
  }
}

TEST_F(OpacityTableTest, refuses_other_files_with_the_line) {
  const auto says = [&](const std::string& text, const std::string& fragment) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find(fragment), std::string::npos) << message;
    EXPECT_NE(message.find("opacities.txt"), std::string::npos) << message;
  };
  says("1 1 1 1\n1 2 1\n", ":2: expected density");
  says("1 1 1 1\n1 2 0 1\n", ":2: expected positive");
  says("1 1 1 1\n1 2 nan 1\n", ":2: expected numbers");
  says("1 1 1 1\n1 2 -1 1\n", ":2: expected positive");
  says("1 1 1 1\n1 1 1 1\n", ":2: the temperature 1 does not exceed 1");
  says("2 1 1 1\n2 2 1 1\n1 1 1 1\n", ":3: the density 1 is less than 2");
  says("1 1 1 1\n1 2 1 1\n2 1 1 1\n2 3 1 1\n", ":4: the temperature is 3");
  says("1 1 1 1\n1 2 1 1\n2 1 1 1\n3 1 1 1\n", ":4: the density 2 has 1 temperatures");
  says("1 1 1 1\n1 2 1 1\n2 1 1 1\n", "the last density, 2, has 1 temperatures; expected 2");
  says("1 1 1 1\n1 2 1 1\n2 1 1 1\n2 2 1 1\n2 3 1 1\n", ":5: the temperature is 3");
  says("1 1 1 1\n1 2 1 1\n", "at least two densities");
  says("# nothing\n", "at least two densities");
}

TEST_F(OpacityTableTest, names_the_parameter_of_a_missing_file) {
  try {
    OpacityTable(path_ + ".none", nullptr, read_text_file);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("radiation.opacity_table"), std::string::npos);
  }
}

}  // namespace
}  // namespace octant::radiation::test
