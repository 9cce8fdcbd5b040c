#include "core/parameter_differences.hpp"

#include <sstream>

#include <fmt/ranges.h>

#include "core/parameter_input.hpp"

namespace octant {

namespace {

std::string as_toml(const toml::node& value) {
  if (const auto* number = value.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* list = value.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *list) items.push_back(as_toml(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::ostringstream text;
  text << toml::toml_formatter(value, toml::format_flags::none);
  return text.str();
}

}  // namespace

std::vector<ParameterDifference> parameter_differences(const std::string& first,
                                                       const std::string& first_source,
                                                       const std::string& second) {
  const ParameterInput before = ParameterInput::from_text(first, first_source, {});
  const ParameterInput after = ParameterInput::from_text(second, "the parameters of this run", {});
  std::vector<ParameterDifference> differences;
  for (const GivenValue& given : after.values()) {
    const GivenValue* stored = before.find(given.name);
    if (stored == nullptr) continue;
    const std::string one = as_toml(*stored->value), other = as_toml(*given.value);
    if (one != other) differences.push_back({given.name, one, other});
  }
  return differences;
}

}  // namespace octant
