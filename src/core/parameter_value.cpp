#include "core/parameter_input.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <type_traits>
#include <utility>

#include "core/error.hpp"
#include "core/names.hpp"

namespace octant {

namespace {

std::string scalar_text(double value);

constexpr double k_infinity = std::numeric_limits<double>::infinity();

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// --- from TOML -----------------------------------------------------------------------------------

std::string found_text(const toml::array& list) {
  constexpr std::size_t k_short = 60;
  std::ostringstream text;
  text << list;
  return text.str().size() > k_short ? fmt::format("a list of {} values", list.size())
                                     : fmt::format("the list {}", text.str());
}

std::string found_text(const toml::node& value) {
  switch (value.type()) {
    case toml::node_type::table: return "a section";
    case toml::node_type::array: return found_text(*value.as_array());
    case toml::node_type::string: return fmt::format("the string \"{}\"", value.ref<std::string>());
    case toml::node_type::integer: return fmt::format("the integer {}", value.ref<std::int64_t>());
    case toml::node_type::floating_point: return fmt::format("the number {}", value.ref<double>());
    case toml::node_type::boolean: return value.ref<bool>() ? "true" : "false";
    default: return "a date or time";
  }
}

// Unit system and target unit for numbers given as strings.
struct Reading {
  const ParameterInfo& info;
  const UnitSystem& units;
  std::string expected;  // such as "a list of numbers"

  double number(const toml::node& value) const {
    const std::string& text = value.ref<std::string>();
    try {
      return number_of(text, info.unit, units);
    } catch (const InputError& failure) {
      throw InputError("expected {}, found the string \"{}\": {}", expected, printable(text),
                       failure.what());
    }
  }
};

bool read_scalar(const toml::node& value, bool& field, const Reading&) {
  if (!value.is_boolean()) return false;
  field = value.ref<bool>();
  return true;
}

bool read_scalar(const toml::node& value, std::int64_t& field, const Reading& reading) {
  if (value.is_string()) {
    const double number = reading.number(value);
    constexpr double k_most = 9007199254740992.0;  // 2^53: limit of exact integers in a double
    if (number != std::trunc(number) || std::abs(number) > k_most)
      throw InputError("expected {}, found the string \"{}\", which is {}", reading.expected,
                       printable(value.ref<std::string>()), number);
    field = static_cast<std::int64_t>(number);
    return true;
  }
  if (!value.is_integer()) return false;
  field = value.ref<std::int64_t>();
  return true;
}

bool read_scalar(const toml::node& value, int& field, const Reading& reading) {
  std::int64_t wide = 0;
  if (!read_scalar(value, wide, reading)) return false;
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    throw InputError("{} does not fit into 32 bits", wide);
  }
  field = static_cast<int>(wide);
  return true;
}

bool read_scalar(const toml::node& value, double& field, const Reading& reading) {
  if (value.is_string()) {
    field = reading.number(value);
    return true;
  }
  if (!value.is_number()) return false;
  field = value.is_integer() ? static_cast<double>(value.ref<std::int64_t>()) : value.ref<double>();
  return true;
}

bool read_scalar(const toml::node& value, std::string& field, const Reading&) {
  if (!value.is_string()) return false;
  field = value.ref<std::string>();
  return true;
}

template <class T, std::size_t n>
bool read_field(const toml::node& value, std::array<T, n>& field, const Reading& reading) {
  const auto* list = value.as_array();
  if (list == nullptr || list->size() != n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if (!read_scalar((*list)[i], field[i], reading)) return false;
  }
  return true;
}

// Reads a table as a list of strings "name = value" in the order of the file, which toml++ stores
// only as positions.
bool read_table(const toml::table& table, std::vector<std::string>& field) {
  std::vector<std::pair<toml::source_position, std::string>> entries;
  for (const auto& [key, value] : table) {
    std::string text;
    if (value.is_string()) text = value.ref<std::string>();
    else if (value.is_integer()) text = scalar_text(static_cast<double>(value.ref<std::int64_t>()));
    else if (value.is_floating_point()) text = scalar_text(value.ref<double>());
    else return false;
    entries.push_back({key.source().begin, fmt::format("{} = {}", key.str(), text)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  field.clear();
  for (auto& entry : entries) field.push_back(std::move(entry.second));
  return true;
}

template <class T>
bool read_field(const toml::node& value, std::vector<T>& field, const Reading& reading) {
  if constexpr (std::is_same_v<T, std::string>)
    if (const auto* table = value.as_table()) {
      if (!read_table(*table, field)) return false;
      if (reading.info.are_constants) resolve_units(field, reading.units);
      return true;
    }

  const auto* list = value.as_array();
  if (list == nullptr) return false;
  std::vector<T> elements(list->size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!read_scalar((*list)[i], elements[i], reading)) return false;
  }
  field = std::move(elements);
  return true;
}

template <class T>
bool read_field(const toml::node& value, T& field, const Reading& reading) {
  return read_scalar(value, field, reading);
}

// --- checks --------------------------------------------------------------------------------------

void check_number(double value, const ParameterInfo& info) {
  const bool is_number = std::isfinite(value) || (std::isinf(value) && info.may_be_infinite);
  const bool inside = is_number && value >= info.min && value <= info.max &&
                      (info.above == -k_infinity || value > info.above) &&
                      (info.below == k_infinity || value < info.below);
  if (!inside) {
    throw InputError("{} is out of range; expected {}", value,
                     range_text(info).empty() ? "a finite number" : range_text(info));
  }
}

void check_text(const std::string& value, const ParameterInfo& info) {
  if (value.find('\0') != std::string::npos)
    throw InputError("the string contains the character U+0000, which is not allowed");
  if (info.fault != nullptr)
    if (const std::string fault = info.fault(value); !fault.empty())
      throw InputError("\"{}\" {}; expected {}", printable(value), fault, info.expected);
  const auto& choices = info.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  const std::string close = suggestion(value, choices, "nearest: ");
  throw InputError("unknown choice \"{}\"; expected {}{}", printable(value), range_text(info),
                   close.empty() ? "" : fmt::format(" ({})", close));
}

template <class T>
void check_scalar(const T& value, const ParameterInfo& info) {
  if constexpr (std::is_same_v<T, std::string>) {
    check_text(value, info);
  } else if constexpr (!std::is_same_v<T, bool>) {
    check_number(static_cast<double>(value), info);
  }
}

// Reads names, which are checked before they are set because invalid names have no value.
bool read_names(const toml::node& value, const NamedField& field, const Reading& reading) {
  std::vector<std::string> names(1);
  const bool is_read = field.is_list ? read_field(value, names, reading)
                                     : read_scalar(value, names.front(), reading);
  if (!is_read) return false;
  for (const std::string& name : names) check_text(name, reading.info);
  field.set(names);
  return true;
}

// --- to TOML -------------------------------------------------------------------------------------

std::string scalar_text(bool value) { return value ? "true" : "false"; }
std::string scalar_text(int value) { return fmt::format("{}", value); }
std::string scalar_text(std::int64_t value) { return fmt::format("{}", value); }

std::string scalar_text(double value) {
  auto text = fmt::format("{}", value);  // shortest text that represents exactly this value
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string scalar_text(const std::string& value) {
  std::string text = "\"";
  for (const char letter : value) {
    if (letter == '"' || letter == '\\') {
      (text += '\\') += letter;
    } else if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      text += fmt::format("\\u{:04X}", static_cast<unsigned>(letter));
    } else {
      text += letter;
    }
  }
  return text + '"';
}

template <class List>
std::string list_text(const List& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ", ";
    text += scalar_text(list[i]);
  }
  return text + "]";
}

}  // namespace

void assign_value(Parameter& parameter, const toml::node& value, const UnitSystem& units) {
  const Reading reading{parameter.info, units, type_name(parameter)};
  const Overloaded read{[&](const NamedField& field) { return read_names(value, field, reading); },
                        [&](auto* field) { return read_field(value, *field, reading); }};
  if (!std::visit(read, parameter.field)) {
    throw InputError("expected {}, found {}", reading.expected, found_text(value));
  }
  check_value(parameter);
}

void check_value(const Parameter& parameter) {
  const auto& info = parameter.info;
  std::visit(Overloaded{[&]<class T, std::size_t n>(std::array<T, n>* list) {
                          for (const auto& element : *list) check_scalar(element, info);
                        },
                        [&]<class T>(std::vector<T>* list) {
                          for (const auto& element : *list) check_scalar(element, info);
                        },
                        [&](const NamedField& field) {
                          for (const auto& name : field.get()) check_text(name, info);
                        },
                        [&]<class T>(T* scalar) { check_scalar(*scalar, info); }},
             parameter.field);
}

std::string value_as_toml(const ParameterField& field) {
  return std::visit(
      Overloaded{
          []<class T, std::size_t n>(const std::array<T, n>* list) { return list_text(*list); },
          []<class T>(const std::vector<T>* list) { return list_text(*list); },
          [](const NamedField& names) {
            return names.is_list ? list_text(names.get()) : scalar_text(names.get().front());
          },
          []<class T>(const T* scalar) { return scalar_text(*scalar); }},
      field);
}

std::string type_name(const Parameter& parameter) {
  if (parameter.info.is_table) return "a table";
  return std::visit(
      Overloaded{
          [](bool*) { return "true or false"; }, [](int*) { return "an integer"; },
          [](std::int64_t*) { return "an integer"; }, [](double*) { return "a number"; },
          [](std::string*) { return "a string"; }, [](std::array<int, 3>*) { return "3 integers"; },
          [](std::array<double, 3>*) { return "3 numbers"; },
          [](std::vector<double>*) { return "a list of numbers"; },
          [](std::vector<std::string>*) { return "a list of strings"; },
          [](const NamedField& names) { return names.is_list ? "a list of strings" : "a string"; }},
      parameter.field);
}

std::string range_text(const ParameterInfo& info) {
  if (!info.choices.empty()) return fmt::format("\"{}\"", fmt::join(info.choices, "\" or \""));
  std::string low, high;
  if (info.above != -k_infinity) low = fmt::format("> {}", info.above);
  else if (info.min != -k_infinity) low = fmt::format(">= {}", info.min);
  if (info.below != k_infinity) high = fmt::format("< {}", info.below);
  else if (info.max != k_infinity) high = fmt::format("<= {}", info.max);
  return low.empty() || high.empty() ? low + high : low + " and " + high;
}

}  // namespace octant
