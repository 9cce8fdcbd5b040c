#include "core/parameters.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/parameter_input.hpp"

namespace octant {

namespace {

std::string section_of(const std::string& name) {
  const auto dot = name.find('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

std::string key_of(const std::string& name) { return name.substr(name.find('.') + 1); }

void require_known_sections(const ParameterInput& input, const std::vector<std::string>& known) {
  for (const auto& given : input.sections()) {
    if (std::find(known.begin(), known.end(), given.name) != known.end()) continue;
    const std::string help = suggestion(given.name, known, "did you mean the section ");
    throw InputError("{}: unknown section [{}]; {}", given.where, given.name,
                     help.empty() ? "octant params lists all sections" : help);
  }
}

std::optional<std::string> peek_value(const ParameterInput& input, const std::string& name) {
  const auto* given = input.find(name);
  if (given == nullptr) return std::nullopt;
  const toml::node& value = given->text != nullptr ? *given->text : *given->value;
  if (!value.is_string()) throw InputError("{}: {}: expected a string", given->where, name);
  return value.ref<std::string>();
}

bool is_string(const ParameterField& field) {
  const auto* const names = std::get_if<NamedField>(&field);
  return names != nullptr ? !names->is_list : std::holds_alternative<std::string*>(field);
}

// Escapes bars, which would begin a new column in a Markdown table.
std::string table_cell(const std::string& text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

// Row of a parameter in a table of the manual, with unit, bounds, default and meaning.
std::string table_row(const Parameter& parameter) {
  const auto& info = parameter.info;
  auto range = range_text(info);
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", parameter.name, type_name(parameter),
                     info.unit, info.required ? "required" : "`" + parameter.default_value + "`",
                     range, table_cell(info.meaning));
}

}  // namespace

void ParameterSchema::add_field(const std::string& name, ParameterField field, ParameterInfo info) {
  OCTANT_REQUIRE(!index_of_.contains(name), "the parameter {} is declared twice", name);
  index_of_[name] = parameters_.size();
  std::string default_value = info.is_table ? "{}" : value_as_toml(field);
  parameters_.push_back({name, std::move(field), std::move(info), std::move(default_value)});
  if (parameters_.back().info.required) return;
  try {
    check_value(parameters_.back());
  } catch (const InputError& failure) {
    throw RunError("the default of the parameter {}: {}", name, failure.what());
  }
}

void ParameterSchema::read_text(const std::string& text, const std::string& source,
                                const Overrides& overrides) {
  assign(ParameterInput::from_text(text, source, overrides));
}

std::optional<std::string> ParameterSchema::peek_text(const std::string& text,
                                                      const std::string& source,
                                                      const std::string& name,
                                                      const Overrides& overrides) {
  return peek_value(ParameterInput::from_text(text, source, overrides), name);
}

void ParameterSchema::assign(const ParameterInput& input) {
  for (auto& parameter : parameters_) parameter.was_set = false;
  require_known_sections(input, sections());
  for (const auto& given : input.values())
    if (find(given.name) == nullptr)
      throw InputError("{}: unknown parameter {}; {}", given.where, given.name,
                       help_with(given.name));
  const auto is_first = [&](const GivenValue& given) {
    return std::ranges::find(unit_parameters_, given.name) != unit_parameters_.end();
  };
  for (const auto& given : input.values())
    if (is_first(given)) assign(given, UnitSystem{});
  const UnitSystem units = units_ ? units_() : UnitSystem{};
  for (const auto& given : input.values())
    if (!is_first(given)) assign(given, units);
  for (const auto& parameter : parameters_) {
    if (parameter.was_set || !parameter.info.required) continue;
    throw InputError("{}: the required parameter {} is missing; expected {} ({})", input.source(),
                     parameter.name, type_name(parameter), parameter.info.meaning);
  }
}

void ParameterSchema::assign(const GivenValue& given, const UnitSystem& units) {
  Parameter& parameter = *find(given.name);
  const bool is_text = given.text != nullptr && is_string(parameter.field);
  try {
    assign_value(parameter, is_text ? *given.text : *given.value, units);
  } catch (const InputError& failure) {
    throw InputError("{}: {}: {}", given.where, given.name, failure.what());
  }
  parameter.was_set = true;
}

void ParameterSchema::set_units(std::vector<std::string> parameters,
                                std::function<UnitSystem()> units) {
  unit_parameters_ = std::move(parameters);
  units_ = std::move(units);
}

std::string ParameterSchema::help_with(const std::string& unknown) const {
  if (std::string help = suggestion(unknown, names(), "did you mean "); !help.empty()) return help;
  const std::string section = section_of(unknown);
  return section.empty() ? "octant params lists all parameters"
                         : fmt::format("octant params {} lists those of its section", section);
}

std::string ParameterSchema::resolved_toml() const {
  std::string text;
  for (const auto& section : sections()) {
    if (!section.empty()) text += fmt::format("\n[{}]\n", section);
    for (const auto& parameter : parameters_) {
      if (section_of(parameter.name) != section) continue;
      const auto& unit = parameter.info.unit;
      text +=
          fmt::format("{} = {}  # {}{}\n", key_of(parameter.name), value_as_toml(parameter.field),
                      parameter.info.meaning, unit.empty() ? "" : " [" + unit + "]");
    }
  }
  return text;
}

std::string ParameterSchema::markdown(const std::string& section) const {
  const auto all = sections();
  if (!section.empty() && std::find(all.begin(), all.end(), section) == all.end()) {
    const std::string help = suggestion(section, all, "did you mean ");
    throw InputError("unknown parameter section [{}]; {}", section,
                     help.empty() ? fmt::format("expected one of {}", fmt::join(all, ", ")) : help);
  }
  std::string text;
  for (const auto& each : all) {
    if (!section.empty() && each != section) continue;
    text += fmt::format("{}## {}\n\n", text.empty() ? "" : "\n",
                        each.empty() ? "Top of the file" : "[" + each + "]");
    text += "| name | type | unit | default | range | meaning |\n|---|---|---|---|---|---|\n";
    for (const auto& parameter : parameters_) {
      if (section_of(parameter.name) == each) text += table_row(parameter);
    }
  }
  return text;
}

bool ParameterSchema::was_set(const std::string& name) const {
  const auto found = index_of_.find(name);
  OCTANT_REQUIRE(found != index_of_.end(), "there is no parameter {}", name);
  return parameters_[found->second].was_set;
}

void ParameterSchema::set_switch(const std::string& section, const std::string& parameter) {
  switches_[section] = parameter;
}

std::vector<std::string> ParameterSchema::without_effect() const {
  std::vector<std::string> found;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.was_set || value_as_toml(parameter.field) == parameter.default_value) continue;
    const std::string section = section_of(parameter.name);
    const auto given = switches_.find(section);
    const auto entry =
        index_of_.find(given == switches_.end() ? section + ".enabled" : given->second);
    if (entry == index_of_.end()) continue;
    const auto* const enabled = std::get_if<bool*>(&parameters_[entry->second].field);
    if (enabled != nullptr && !**enabled) found.push_back(parameter.name);
  }
  std::erase_if(found, [&](const std::string& name) { return key_of(name) == "enabled"; });
  return found;
}

Parameter* ParameterSchema::find(const std::string& name) {
  const auto found = index_of_.find(name);
  return found == index_of_.end() ? nullptr : &parameters_[found->second];
}

std::vector<std::string> ParameterSchema::names() const {
  std::vector<std::string> all;
  for (const auto& parameter : parameters_) all.push_back(parameter.name);
  return all;
}

std::vector<std::string> ParameterSchema::sections() const {
  std::vector<std::string> all;
  for (const auto& parameter : parameters_) {
    const auto section = section_of(parameter.name);
    if (std::find(all.begin(), all.end(), section) != all.end()) continue;
    all.insert(section.empty() ? all.begin() : all.end(), section);
  }
  return all;
}

}  // namespace octant
