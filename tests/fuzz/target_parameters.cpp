// Parameter files, overrides, quantities with units, and the parameters of a checkpoint.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "core/parameters.hpp"
#include "core/units.hpp"
#include "fuzz.hpp"

namespace octant {

namespace {

enum class Shape { sphere, cube };
constexpr auto names_of(Shape) { return std::array{"sphere", "cube"}; }

// One parameter of each type.
struct Options {
  bool enabled = false;
  int count = 1;
  std::int64_t steps = 100;
  double radius = 1.0, length = 1.0, density = 1.0;
  std::string name = "sedov";
  std::array<int, 3> cells{8, 8, 8};
  std::array<double, 3> centre{};
  std::vector<double> times;
  std::vector<std::string> fields, constants, tables;
  Shape shape = Shape::sphere;
  std::vector<Shape> shapes;

  void declare(ParameterSchema& schema) {
    schema.add("name", name, {.meaning = "Name", .choices = {"sedov", "sod"}});
    schema.add("units.length", length, {.unit = "kpc", .meaning = "Unit of length", .above = 0});
    schema.add("gas.enabled", enabled, {.meaning = "Gas"});
    schema.add("gas.count", count, {.meaning = "Count", .min = 0, .max = 99});
    schema.add("gas.steps", steps, {.meaning = "Steps", .min = 0});
    schema.add("gas.radius", radius, {.unit = "length", .meaning = "Radius", .above = 0});
    schema.add("gas.density", density, {.unit = "m_p / cm^3", .may_be_infinite = true});
    schema.add("mesh.cells", cells, {.meaning = "Cells", .min = 1});
    schema.add("mesh.centre", centre, {.unit = "length", .meaning = "Centre"});
    schema.add("output.times", times, {.unit = "Myr", .meaning = "Times", .min = 0});
    schema.add("output.fields", fields, {.meaning = "Fields"});
    schema.add("problem.constants", constants,
               {.meaning = "Constants", .is_table = true, .are_constants = true});
    schema.add("problem.tables", tables, {.meaning = "Tables", .is_table = true});
    schema.add("problem.shape", shape, {.meaning = "Shape"});
    schema.add("problem.shapes", shapes, {.meaning = "Shapes"});
    schema.set_units({"units.length"}, [this] {
      return UnitSystem{.code = CodeUnits{length * 3e21, 1e33, 3e13}, .hubble = 0.7};
    });
  }
};

// Text without the lines "--set NAME=VALUE", which become overrides.
std::string without_overrides(std::string_view input, ParameterSchema::Overrides& overrides) {
  std::string text;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.starts_with("--set ")) overrides.emplace_back(line.substr(6));
    else text += std::string(line) + "\n";
  }
  return text;
}

}  // namespace

OCTANT_FUZZ(parameters, text) {
  ParameterSchema::Overrides overrides;
  const std::string text = without_overrides(input, overrides);
  Options options, again;
  ParameterSchema schema, second;
  options.declare(schema);
  again.declare(second);
  fuzz::attempt([&] { ParameterSchema::peek_text(text, "run.toml", "problem.shape", overrides); });
  fuzz::attempt([&] { parameter_differences(text, "run.toml", schema.resolved_toml()); });
  schema.read_text(text, "run.toml", overrides);
  schema.without_effect();
  // The written parameters must be readable, and reading them must restore every value exactly.
  const std::string resolved = schema.resolved_toml();
  try {
    second.read_text(resolved, "resolved.toml");
  } catch (const InputError& error) {
    throw std::logic_error("resolved parameters are refused: " + std::string(error.what()));
  }
  if (second.resolved_toml() != resolved)
    throw std::logic_error("parameters differ after writing and reading:\n" + resolved +
                           second.resolved_toml());
}

}  // namespace octant
