#include "core/parameters.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant {
namespace {

struct Options {
  std::string model = "amr";
  double gamma = 1.4;
  std::string riemann = "hllc";
  bool dual_energy = false;
  int max_level = 2;
  std::int64_t max_steps = 1000;
  std::array<int, 3> base_cells = {32, 32, 32};
  std::array<double, 3> upper = {1.0, 1.0, 1.0};
  std::vector<double> times = {};
  std::vector<std::string> fields = {"density"};
};

ParameterSchema schema_of(Options& options) {
  ParameterSchema schema;
  schema.add("hydro.gamma", options.gamma,
             {.meaning = "Ratio of specific heats", .max = 5.0, .above = 1.0});
  schema.add("hydro.riemann", options.riemann,
             {.meaning = "Riemann solver", .choices = {"llf", "hll", "hllc", "exact"}});
  schema.add("hydro.dual_energy", options.dual_energy, {.meaning = "Keep the internal energy too"});
  schema.add("mesh.max_level", options.max_level, {.meaning = "Finest level", .min = 0, .max = 20});
  schema.add("time.max_steps", options.max_steps, {.meaning = "Coarse steps at most", .min = 0});
  schema.add("mesh.base_cells", options.base_cells, {.meaning = "Cells of level 0", .min = 2});
  schema.add("mesh.upper", options.upper, {.unit = "cm", .meaning = "Upper corner"});
  schema.add("output.times", options.times, {.unit = "s", .meaning = "Snapshot times", .min = 0.0});
  schema.add("output.fields", options.fields, {.meaning = "What to write"});
  schema.add("model", options.model, {.meaning = "Kind of flow", .choices = {"amr", "dns"}});
  return schema;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& failure) {
    return failure.what();
  }
  return "no InputError";
}

std::string reading_error(const std::string& text, const std::vector<std::string>& overrides = {}) {
  Options options;
  auto schema = schema_of(options);
  return error_of([&] { schema.read_text(text, "a.toml", overrides); });
}

TEST(ParameterSchema, reads_every_type) {
  Options options;
  auto schema = schema_of(options);
  schema.read_text(R"(
    model = "dns"
    [hydro]
    gamma = 2
    riemann = "exact"
    dual_energy = true
    [mesh]
    max_level = 7
    base_cells = [4, 8, 16]
    upper = [1, 2.5, 1e3]
    [time]
    max_steps = 5000000000
    [output]
    times = [0.5, 1]
    fields = ["pressure", "density"]
  )",
                   "a.toml");
  EXPECT_EQ(options.model, "dns");
  EXPECT_EQ(options.gamma, 2.0);
  EXPECT_EQ(options.riemann, "exact");
  EXPECT_TRUE(options.dual_energy);
  EXPECT_EQ(options.max_level, 7);
  EXPECT_EQ(options.max_steps, 5000000000);
  EXPECT_EQ(options.base_cells, (std::array<int, 3>{4, 8, 16}));
  EXPECT_EQ(options.upper, (std::array<double, 3>{1.0, 2.5, 1e3}));
  EXPECT_EQ(options.times, (std::vector<double>{0.5, 1.0}));
  EXPECT_EQ(options.fields, (std::vector<std::string>{"pressure", "density"}));
}

TEST(ParameterSchema, keeps_defaults_and_knows_what_was_set) {
  Options options;
  auto schema = schema_of(options);
  schema.read_text("[hydro]\ngamma = 1.5\n", "a.toml", {"mesh.max_level=3"});
  EXPECT_EQ(options.riemann, "hllc");
  EXPECT_TRUE(schema.was_set("hydro.gamma"));
  EXPECT_TRUE(schema.was_set("mesh.max_level"));
  EXPECT_FALSE(schema.was_set("hydro.riemann"));
}

TEST(ParameterSchema, overrides_replace_the_file_and_need_no_quotes) {
  Options options;
  auto schema = schema_of(options);
  schema.read_text("[hydro]\ngamma = 1.5\nriemann = 'llf'\n", "a.toml",
                   {"hydro.gamma=1.25", "hydro.riemann=hll", "mesh.base_cells=[8, 8, 4]",
                    "hydro.dual_energy=true", "hydro.gamma = 1.75"});
  EXPECT_EQ(options.gamma, 1.75);  // the last one counts
  EXPECT_EQ(options.riemann, "hll");
  EXPECT_EQ(options.base_cells[2], 4);
  EXPECT_TRUE(options.dual_energy);
}

TEST(ParameterSchema, an_override_of_a_string_may_look_like_a_number_or_a_date) {
  std::string grid = "auto";
  double length = 1.0;
  ParameterSchema schema;
  schema.add("grid", grid, {.meaning = "Ranks along y and z"});
  schema.add("length", length, {.meaning = "Any"});
  for (const std::string text : {"0x4", "4", "1e3", "2024-01-01", "007"}) {
    schema.read_text("", "a.toml", {"grid=" + text, "length=0x10"});
    EXPECT_EQ(grid, text);
    EXPECT_EQ(length, 16.0);
    EXPECT_EQ(ParameterSchema::peek_text("", "a.toml", "grid", {"grid=" + text}), text);
  }
  const auto error = [&](const std::string& override) {
    return error_of([&] { schema.read_text("", "a.toml", {override}); });
  };
  EXPECT_EQ(error("grid=true"), "--set grid=true: grid: expected a string, found true");
  EXPECT_EQ(error("grid=[4]"), "--set grid=[4]: grid: expected a string, found the list [ 4 ]");
  EXPECT_EQ(error("length=2024-01-01"),
            "--set length=2024-01-01: length: expected a number, found a date or time");
}

TEST(ParameterSchema, resolved_parameters_read_back_to_the_same_bits) {
  Options options;
  auto schema = schema_of(options);
  options.gamma = std::nextafter(1.4, 2.0);
  options.upper = {1.0 / 3.0, 5e-324, -1.7976931348623157e308};
  options.times = {0.1, 1e22, 3.0};
  options.fields = {"a \"quoted\" \\ name", "line\nbreak", "\u00e9t\u00e9"};
  const auto text = schema.resolved_toml();

  Options again;
  auto copy = schema_of(again);
  copy.read_text(text, "resolved");
  EXPECT_EQ(again.gamma, options.gamma);
  EXPECT_EQ(again.upper, options.upper);
  EXPECT_EQ(again.times, options.times);
  EXPECT_EQ(again.fields, options.fields);
  EXPECT_EQ(copy.resolved_toml(), text);
  for (const auto& parameter : copy.parameters()) EXPECT_TRUE(parameter.was_set) << parameter.name;
  EXPECT_NE(text.find("# Upper corner [cm]"), std::string::npos);
}

TEST(ParameterSchema, a_misspelt_key_names_its_line_and_the_nearest_name) {
  EXPECT_EQ(reading_error("[hydro]\n\ngama = 1.4\n"),
            "a.toml:3: unknown parameter hydro.gama; did you mean hydro.gamma");
  EXPECT_EQ(reading_error("[time]\ngamma = 1.4\n"),
            "a.toml:2: unknown parameter time.gamma; did you mean hydro.gamma");
  EXPECT_EQ(reading_error("modle = 'amr'\n"),
            "a.toml:1: unknown parameter modle; did you mean model");
  EXPECT_EQ(reading_error("[mehs]\n"),
            "a.toml:1: unknown section [mehs]; did you mean the section mesh");
  EXPECT_EQ(reading_error("", {"hydro.reimann=hll"}),
            "--set hydro.reimann=hll: unknown parameter hydro.reimann; "
            "did you mean hydro.riemann");
}

TEST(ParameterSchema, an_unknown_key_without_a_close_name_leads_to_the_list) {
  EXPECT_EQ(
      reading_error("[hydro]\nflux = 1\n"),
      "a.toml:2: unknown parameter hydro.flux; octant params hydro lists those of its section");
  EXPECT_EQ(reading_error("[hydro]\nmagnetic = true\n"),
            "a.toml:2: unknown parameter hydro.magnetic; Octant has no magnetic fields; see "
            "Limitations (docs/limitations.md)");
  EXPECT_EQ(reading_error("[dust]\n"),
            "a.toml:1: unknown section [dust]; Octant has no dust; see Limitations "
            "(docs/limitations.md)");
}

TEST(ParameterSchema, the_first_wrong_line_is_the_one_reported) {
  EXPECT_EQ(reading_error("[mesh]\nzzz = 1\n[hydro]\naaa = 1\n").substr(0, 9), "a.toml:2:");
}

TEST(ParameterSchema, a_wrong_type_says_what_was_expected_and_found) {
  EXPECT_EQ(reading_error("[hydro]\ngamma = 'big'"),
            "a.toml:2: hydro.gamma: expected a number, found the string \"big\": \"big\" is not a "
            "known unit");
  EXPECT_EQ(reading_error("[mesh]\nmax_level = 2.5"),
            "a.toml:2: mesh.max_level: expected an integer, found the number 2.5");
  EXPECT_EQ(reading_error("[mesh]\nbase_cells = [8, 8]"),
            "a.toml:2: mesh.base_cells: expected 3 integers, found the list [ 8, 8 ]");
  EXPECT_EQ(reading_error("[hydro]\ndual_energy = 1"),
            "a.toml:2: hydro.dual_energy: expected true or false, found the integer 1");
  EXPECT_EQ(reading_error("hydro = 3"),
            "a.toml:1: unknown parameter hydro; octant params lists all parameters");
}

TEST(ParameterSchema, numbers_out_of_range_are_refused) {
  EXPECT_EQ(reading_error("[hydro]\ngamma = 1.0"),
            "a.toml:2: hydro.gamma: 1 is out of range; expected > 1 and <= 5");
  EXPECT_EQ(reading_error("[hydro]\ngamma = nan"),
            "a.toml:2: hydro.gamma: nan is out of range; expected > 1 and <= 5");
  EXPECT_EQ(reading_error("[mesh]\nbase_cells = [8, 1, 8]"),
            "a.toml:2: mesh.base_cells: 1 is out of range; expected >= 2");
  EXPECT_EQ(reading_error("[output]\ntimes = [1, -1]"),
            "a.toml:2: output.times: -1 is out of range; expected >= 0");
  EXPECT_EQ(reading_error("[mesh]\nmax_level = 5000000000"),
            "a.toml:2: mesh.max_level: 5000000000 does not fit into 32 bits");
}

TEST(ParameterSchema, numbers_without_end_are_refused_unless_they_mean_something) {
  double speed = 0.0, longest = std::numeric_limits<double>::infinity();
  std::vector<double> times;
  ParameterSchema schema;
  schema.add("speed", speed, {.meaning = "Any"});
  schema.add("times", times, {.meaning = "Any", .min = 0});
  schema.add("longest", longest, {.meaning = "Any", .min = 0, .may_be_infinite = true});
  const auto error = [&](const std::string& text) {
    return error_of([&] { schema.read_text(text, "a.toml"); });
  };
  EXPECT_EQ(error("speed = inf"), "a.toml:1: speed: inf is out of range; expected a finite number");
  EXPECT_EQ(error("speed = -inf"),
            "a.toml:1: speed: -inf is out of range; expected a finite number");
  EXPECT_EQ(error("speed = nan"), "a.toml:1: speed: nan is out of range; expected a finite number");
  EXPECT_EQ(error("times = [1, inf]"), "a.toml:1: times: inf is out of range; expected >= 0");
  EXPECT_EQ(error_of([&] { schema.read_text("", "a.toml", {"speed=inf"}); }),
            "--set speed=inf: speed: inf is out of range; expected a finite number");
  EXPECT_EQ(error("longest = nan"), "a.toml:1: longest: nan is out of range; expected >= 0");
  EXPECT_EQ(error("longest = inf"), "no InputError");
}

TEST(ParameterSchema, an_unknown_choice_lists_the_choices) {
  EXPECT_EQ(reading_error("[hydro]\nriemann = 'hlcc'"),
            "a.toml:2: hydro.riemann: unknown choice \"hlcc\"; expected \"llf\" or \"hll\" or "
            "\"hllc\" or \"exact\" (nearest: hllc)");
}

TEST(ParameterSchema, a_syntax_error_names_its_line) {
  EXPECT_EQ(reading_error("[hydro]\ngamma = \n").substr(0, 25), "a.toml:2: not valid TOML:");
  EXPECT_NE(reading_error("[hydro]\nscheme = \"rk2\ngamma = 1.4\n")
                .find("; check for a missing closing quotation mark"),
            std::string::npos);
  EXPECT_EQ(reading_error("", {"gamma"}), "--set gamma: expected section.key=value");
}

TEST(ParameterSchema, keys_that_nest_without_end_are_refused) {
  std::string key = "a";
  for (int n = 0; n < 100'000; ++n) key += ".a";
  const std::string expected =
      ":2: 100000 dots in one line; expected keys of the form section.key; long lists may "
      "continue on the next line";
  EXPECT_EQ(reading_error("[hydro]\n" + key + " = 1\n"), "a.toml" + expected);
  EXPECT_EQ(reading_error("\n[" + key + "]\n"), "a.toml" + expected);
  EXPECT_EQ(reading_error("", {"hydro.gamma={" + key + "=1}"}).substr(0, 22),
            "--set:1: 100001 dots i");
}

TEST(ParameterSchema, what_is_no_parameter_file_is_told) {
  const std::string path = testing::TempDir() + "parameters_test.toml";
  const auto error = [&](const std::string& file) {
    return error_of([&] { read_parameter_file(file); });
  };
  const std::string begin = "cannot read the parameter file ";
  EXPECT_EQ(error("."), begin + ".: this is a directory");
  EXPECT_EQ(error("/dev/null"), begin + "/dev/null: this is not a regular file");
  std::ofstream(path).close();
  EXPECT_EQ(error(path), begin + path + ": the file is empty");
  std::filesystem::resize_file(path, 5 << 20);
  EXPECT_EQ(error(path), begin + path + ": the file has 5242880 bytes; is this a parameter file?");
  std::filesystem::remove(path);
}

TEST(ParameterSchema, a_missing_file_or_required_parameter_is_an_error) {
  Options options;
  auto schema = schema_of(options);
  EXPECT_EQ(error_of([&] { read_parameter_file("no/such.toml"); }),
            "cannot read the parameter file no/such.toml: No such file or directory");
  std::string name;
  schema.add("problem.name", name, {.meaning = "What to simulate", .required = true});
  EXPECT_EQ(error_of([&] { schema.read_text("", "a.toml"); }),
            "a.toml: the required parameter problem.name is missing; expected a string (What to "
            "simulate)");
  schema.read_text("[problem]\nname = 'sedov'", "a.toml");
  EXPECT_EQ(name, "sedov");
}

TEST(ParameterSchema, a_name_can_be_peeked_at_before_the_rest_is_known) {
  const std::string text = "[problem]\nname = 'sedov'\nradius = 3\n";
  EXPECT_EQ(ParameterSchema::peek_text(text, "a.toml", "problem.name"), "sedov");
  EXPECT_EQ(ParameterSchema::peek_text(text, "a.toml", "problem.name", {"problem.name=sod"}),
            "sod");
  EXPECT_EQ(ParameterSchema::peek_text(text, "a.toml", "model"), std::nullopt);
  EXPECT_EQ(error_of([&] { ParameterSchema::peek_text(text, "a.toml", "problem.radius"); }),
            "a.toml:3: problem.radius: expected a string");
}

TEST(ParameterSchema, tables_keep_bars_inside_their_cells) {
  double jump = 0.0;
  ParameterSchema schema;
  schema.add("refine.jump", jump, {.meaning = "|a - b|"});
  EXPECT_NE(schema.markdown().find(R"(| \|a - b\| |)"), std::string::npos);
}

TEST(ParameterSchema, tables_name_type_unit_default_range_and_meaning) {
  Options options;
  auto schema = schema_of(options);
  schema.read_text("[hydro]\ngamma = 1.1", "a.toml");  // the table still shows the default
  const auto hydro = schema.markdown("hydro");
  EXPECT_NE(hydro.find("| `hydro.gamma` | a number |  | `1.4` | > 1 and <= 5 | Ratio of specific"),
            std::string::npos)
      << hydro;
  EXPECT_EQ(hydro.find("mesh."), std::string::npos);
  EXPECT_NE(schema.markdown().find("`mesh.upper` | 3 numbers | cm | `[1.0, 1.0, 1.0]` |"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { schema.markdown("hidro"); }),
            "unknown parameter section [hidro]; did you mean hydro");
}

TEST(ParameterSchema, mistakes_in_a_declaration_are_found) {
  Options options;
  auto schema = schema_of(options);
  EXPECT_THROW(schema.add("hydro.gamma", options.gamma, {}), RunError);
  EXPECT_THROW(schema.add("hydro.other", options.gamma, {.min = 2.0}), RunError);
}

TEST(ParameterSchema, a_table_stands_for_a_list_of_its_entries_in_their_order) {
  Options options;
  auto schema = schema_of(options);
  schema.read_text("[output.fields]\nmach = 3\nbase = \"mach*2\"\n", "a.toml");
  const std::vector<std::string> entries{"mach = 3.0", "base = mach*2"};
  EXPECT_EQ(options.fields, entries);

  const std::string resolved = schema.resolved_toml();
  schema.read_text(resolved, "run.toml");
  EXPECT_EQ(options.fields, entries);
  schema.read_text("", "a.toml", {"output.fields={b=1, a='x'}"});
  EXPECT_EQ(options.fields, (std::vector<std::string>{"b = 1.0", "a = x"}));
  EXPECT_EQ(reading_error("[output]\nfields = {a = true}"),
            "a.toml:2: output.fields: expected a list of strings, found a section");
  EXPECT_EQ(reading_error("[output]\ntimes = {a = 1}"),
            "a.toml:2: output.times: expected a list of numbers, found a section");
}

}  // namespace
}  // namespace octant
