// Numbers with units and constant expressions, and the parameters that take them.
#include "core/units.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::quantity_test {
namespace {

using namespace constants;

// Lengths in kpc, densities of a solar mass per cubic kpc, times in Myr.
const CodeUnits k_galactic{1e3 * k_parsec, k_solar_mass, 1e6 * k_year};

UnitSystem galactic() { return {.code = k_galactic, .why_no_code = "", .hubble = {}}; }

double number(const std::string& text, const std::string& unit = "") {
  return number_of(text, unit, galactic());
}

std::string refusal(const std::string& text, const std::string& unit,
                    const UnitSystem& system = galactic()) {
  try {
    number_of(text, unit, system);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(Quantity, constant_expressions_have_the_bits_of_double_arithmetic) {
  EXPECT_EQ(number("5/3"), 5.0 / 3.0);
  EXPECT_EQ(number("2^-3"), 0.125);
  EXPECT_EQ(number("1e3/4"), 250.0);
  EXPECT_EQ(number("-2^2"), -4.0);
  EXPECT_EQ(number("1 - 2 - 3"), -4.0);
  EXPECT_EQ(number("8/4/2"), 1.0);
  EXPECT_EQ(number("2^3^2"), 512.0);
  EXPECT_EQ(number("(1 + 2) * 3 / .5"), 18.0);
  EXPECT_EQ(number("2 pi"), 2.0 * M_PI);
  EXPECT_EQ(number("sqrt(2)"), std::sqrt(2.0));
  EXPECT_EQ(number("0.1*3"), 0.1 * 3.0);
}

TEST(Quantity, without_a_unit_is_in_the_unit_of_the_parameter) {
  EXPECT_EQ(number("10/4", "kpc"), 2.5);
  EXPECT_EQ(number("10/4", "length"), 2.5);
  EXPECT_EQ(number("2^4", "cells"), 16.0);
}

TEST(Quantity, is_exact_in_its_own_unit_and_in_multiples_of_it) {
  EXPECT_EQ(number("0.3 kpc", "kpc"), 0.3);
  EXPECT_EQ(number("1 Mpc", "kpc"), 1000.0);
  EXPECT_EQ(number("7 Gyr", "Myr"), 7000.0);
  EXPECT_EQ(number("24 hour", "s"), 86400.0);
  EXPECT_EQ(number("1 kg/m^3", "g cm^-3"), 1e-3);
  EXPECT_EQ(number("5 %", "%"), 5.0);
  EXPECT_EQ(number("70 km/s/Mpc", "100 km/s/Mpc"), 0.7);
}

TEST(Quantity, is_converted_to_code_units) {
  EXPECT_EQ(number("10 kpc", "length"), 10.0);
  EXPECT_EQ(number("0.5 Gyr", "time"), 500.0);
  EXPECT_DOUBLE_EQ(number("3 Msun/kpc^3", "density"), 3.0);
  EXPECT_DOUBLE_EQ(number("3 M☉/kpc^3", "code density"), 3.0);
  const double velocity = k_galactic.velocity();
  EXPECT_DOUBLE_EQ(number("220 km/s", "velocity"), 220e5 / velocity);
  EXPECT_DOUBLE_EQ(number("220 km/s", "length / time"), 220e5 / velocity);
  EXPECT_DOUBLE_EQ(number("1e-13 erg/cm^3", "pressure"), 1e-13 / k_galactic.energy_density());
  EXPECT_DOUBLE_EQ(number("1e-13 erg cm^-3", "mass / (length time^2)"),
                   1e-13 / k_galactic.energy_density());
  EXPECT_DOUBLE_EQ(number("1/Myr", "radians per time"), 1.0);
  EXPECT_DOUBLE_EQ(number("1 k_B * 1e4 K / m_p", "velocity^2"),
                   k_boltzmann * 1e4 / k_proton_mass / (velocity * velocity));
  EXPECT_DOUBLE_EQ(number("1 kpc + 500 pc", "length"), 1.5);
}

TEST(Quantity, knows_the_hubble_parameter) {
  UnitSystem system;
  system.hubble = 0.5;
  EXPECT_EQ(number_of("50 Mpc/h", "Mpc/h", system), 50.0);
  EXPECT_EQ(number_of("50 Mpc", "Mpc/h", system), 25.0);
  EXPECT_EQ(refusal("50 Mpc", "Mpc/h"),
            "units with h require a cosmological box (cosmology.enabled = true)");
  EXPECT_EQ(refusal("24 h", "s"),
            "\"24 h\" is a multiple of the Hubble parameter h (hours are written \"hour\"); "
            "expected a time such as \"1 Myr\", or a number in s");
}

TEST(Quantity, of_another_dimension_is_refused_with_what_was_expected) {
  EXPECT_EQ(refusal("10 kpc", "time"),
            "\"10 kpc\" is a length; expected a time such as \"1 Myr\", or a number in code units");
  EXPECT_EQ(refusal("10 kpc", "Myr"),
            "\"10 kpc\" is a length; expected a time such as \"1 Myr\", or a number in Myr");
  EXPECT_EQ(refusal("10 kpc", ""), "\"10 kpc\" is a length; expected a number without a unit");
  EXPECT_EQ(refusal("10 kpc", "cells"), "\"10 kpc\" is a length; expected a number (of cells)");
  EXPECT_EQ(refusal("10 kpc g", "refine.mass_unit"),
            "\"10 kpc g\" is length mass; expected a number (of refine.mass_unit)");
  EXPECT_EQ(refusal("1 kpc + 1 Myr", "length"), "a length and a time cannot be added");
}

TEST(Quantity, in_code_units_needs_a_unit_system) {
  EXPECT_EQ(refusal("10 kpc", "length", {.code = {}, .why_no_code = "give [units]", .hubble = {}}),
            "\"10 kpc\" cannot be converted to code units: give [units]");
  EXPECT_EQ(number_of("10 kpc", "kpc", {}), 10.0);
}

TEST(Quantity, that_is_none_is_refused) {
  EXPECT_EQ(refusal("10 kpcs", "kpc"), "\"kpcs\" is not a known unit (did you mean \"kpc\"?)");
  EXPECT_EQ(refusal("10 Kpc", "kpc"), "\"Kpc\" is not a known unit (did you mean \"kpc\"?)");
  EXPECT_EQ(refusal("large", ""), "\"large\" is not a known unit");
  EXPECT_EQ(refusal("1 +", ""), "the quantity is incomplete");
  EXPECT_EQ(refusal("", ""), "the quantity is incomplete");
  EXPECT_EQ(refusal("(1", ""), "unbalanced parenthesis");
  EXPECT_EQ(refusal("1 2", ""), "\"2\" cannot be parsed");
  EXPECT_EQ(refusal("1;", ""), "\";\" cannot be parsed");
  EXPECT_EQ(refusal("2^(1 kpc)", ""), "exponents must be dimensionless");
  EXPECT_EQ(refusal("1 erg/g K", ""),
            "a unit follows a division by a unit; write \"a/(b c)\" or \"a/b*c\"");
  EXPECT_EQ(refusal(std::string(100'000, '(') + "1", ""), "the quantity is nested too deeply");
  EXPECT_EQ(refusal(std::string(100'000, '-') + "1", ""), "the quantity is nested too deeply");
}

// --- parameters ----------------------------------------------------------------------------------

struct Options {
  double length = 1.0, end = 1.0, gamma = 1.4;
  std::array<double, 3> centre{};
  std::vector<double> times;
  int cells = 8;
  std::vector<std::string> constants;
};

ParameterSchema schema_of(Options& options) {
  ParameterSchema schema;
  schema.add("time.end", options.end, {.unit = "time", .meaning = "End", .min = 0});
  schema.add("time.output", options.times, {.unit = "Myr", .meaning = "Times of output"});
  schema.add("hydro.gamma", options.gamma, {.meaning = "Ratio of specific heats", .above = 1.0});
  schema.add("mesh.cells", options.cells, {.unit = "cells", .meaning = "Cells"});
  schema.add("mesh.centre", options.centre, {.unit = "length", .meaning = "Centre"});
  schema.add("problem.constants", options.constants,
             {.meaning = "Constants", .are_constants = true});
  schema.add("units.length", options.length, {.unit = "cm", .meaning = "Unit of length"});
  schema.set_units({"units.length"}, [&options] {
    UnitSystem system;
    system.code = CodeUnits{options.length, 1.0, 1e6 * k_year};
    return system;
  });
  return schema;
}

std::string reading_error(const std::string& text) {
  Options options;
  ParameterSchema schema = schema_of(options);
  try {
    schema.read_text(text, "a.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(Parameters, take_quantities_in_the_units_of_the_file_wherever_those_stand) {
  Options options;
  ParameterSchema schema = schema_of(options);
  schema.read_text(
      "[time]\nend = '0.1 Gyr'\noutput = ['1 Gyr', 20, '60/2']\n"
      "[hydro]\ngamma = '5/3'\n"
      "[mesh]\ncells = '2^5'\ncentre = ['1 Mpc', 0, '-1/4']\n"
      "[units]\nlength = '1 kpc'\n",
      "a.toml");
  EXPECT_EQ(options.end, 100.0);
  EXPECT_EQ(options.times, (std::vector<double>{1000.0, 20.0, 30.0}));
  EXPECT_EQ(options.gamma, 5.0 / 3.0);
  EXPECT_EQ(options.cells, 32);
  EXPECT_EQ(options.centre, (std::array<double, 3>{1000.0, 0.0, -0.25}));
  // The resolved parameters are numbers that give the same values.
  const std::string text = schema.resolved_toml();
  EXPECT_NE(text.find("centre = [1000.0, 0.0, -0.25]"), std::string::npos) << text;
  Options again;
  ParameterSchema copy = schema_of(again);
  copy.read_text(text, "resolved.toml");
  EXPECT_EQ(again.gamma, options.gamma);
  EXPECT_EQ(copy.resolved_toml(), text);
}

TEST(Parameters, take_quantities_from_overrides) {
  Options options;
  ParameterSchema schema = schema_of(options);
  schema.read_text("", "a.toml",
                   {"units.length=1 kpc", "hydro.gamma=5/3", "mesh.centre=[\"3 kpc\",0,0]"});
  EXPECT_EQ(options.gamma, 5.0 / 3.0);
  EXPECT_EQ(options.centre[0], 3.0);
}

TEST(Parameters, name_place_key_and_expectation_of_a_wrong_quantity) {
  EXPECT_EQ(reading_error("[time]\n\nend = '3 kpc'"),
            "a.toml:3: time.end: expected a number, found the string \"3 kpc\": \"3 kpc\" is a "
            "length; expected a time such as \"1 Myr\", or a number in code units");
  EXPECT_EQ(reading_error("[mesh]\ncells = '7/2'"),
            "a.toml:2: mesh.cells: expected an integer, found the string \"7/2\", which is 3.5");
  EXPECT_EQ(reading_error("[hydro]\ngamma = '1/0'"),
            "a.toml:2: hydro.gamma: inf is out of range; expected > 1");
}

TEST(Parameters, hint_at_quotation_marks_around_quantities) {
  const auto expect_hint = [](const std::string& line, const std::string& hint) {
    const std::string error = reading_error("[time]\n" + line + "\n");
    EXPECT_NE(error.find(hint), std::string::npos) << error;
  };
  expect_hint("end = 10 Myr",
              "; quantities and expressions require quotation marks: end = \"10 Myr\"");
  expect_hint("end = 5/3  # why",
              "; quantities and expressions require quotation marks: end = \"5/3\"");
}

TEST(Parameters, convert_quantities_among_constants_to_code_units) {
  Options options;
  ParameterSchema schema = schema_of(options);
  schema.read_text(
      "[units]\nlength = '1 kpc'\n"
      "[problem.constants]\nr0 = '10 kpc'\nm = 3\nb = '2*m'\nt0 = '2 Myr'\nc = 'sin(r0)'\n",
      "a.toml");
  EXPECT_EQ(options.constants,
            (std::vector<std::string>{"r0 = 10", "m = 3.0", "b = 2*m", "t0 = 2", "c = sin(r0)"}));
}

}  // namespace
}  // namespace octant::quantity_test
