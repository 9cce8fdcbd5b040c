#include "core/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "core/error.hpp"
#include "core/names.hpp"

namespace octant {

namespace quantities {
namespace {

// Exponents of length, mass, time, temperature and the Hubble parameter.
using Dimension = std::array<double, 5>;
enum { k_hubble = 4 };

// Number times a product of units. The number is computed in double precision as written, so that
// "5/3" has the bits of 5.0 / 3.0. The scale of the units is separate and has higher precision, so
// that "10 kpc" is exactly 10 in kpc.
struct Quantity {
  double number = 1.0;
  long double scale = 1.0L;  // in cgs
  Dimension dimension{};
  bool has_unit = false;
  bool has_code_unit = false;
};

// --- units ---------------------------------------------------------------------------------------

struct Unit {
  long double scale;
  Dimension dimension;
};

constexpr Dimension k_number{}, k_length{1}, k_mass{0, 1}, k_time{0, 0, 1},
    k_temperature{0, 0, 0, 1}, k_energy{2, 1, -2}, k_force{1, 1, -2}, k_power{2, 1, -3};

const std::map<std::string, Unit, std::less<>>& units() {
  using namespace constants;
  static const std::map<std::string, Unit, std::less<>> all = [] {
    const long double pc = k_parsec, au = k_astronomical_unit, year = k_year, eV = k_electron_volt;
    return std::map<std::string, Unit, std::less<>>{
        {"mm", {0.1L, k_length}},
        {"cm", {1.0L, k_length}},
        {"m", {100.0L, k_length}},
        {"km", {1e5L, k_length}},
        {"Rsun", {k_solar_radius, k_length}},
        {"R_sun", {k_solar_radius, k_length}},
        {"au", {au, k_length}},
        {"AU", {au, k_length}},
        {"pc", {pc, k_length}},
        {"kpc", {1e3L * pc, k_length}},
        {"Mpc", {1e6L * pc, k_length}},
        {"Gpc", {1e9L * pc, k_length}},
        {"s", {1.0L, k_time}},
        {"min", {60.0L, k_time}},
        {"hour", {3600.0L, k_time}},
        {"hours", {3600.0L, k_time}},
        {"day", {86400.0L, k_time}},
        {"days", {86400.0L, k_time}},
        {"yr", {year, k_time}},
        {"kyr", {1e3L * year, k_time}},
        {"Myr", {1e6L * year, k_time}},
        {"Gyr", {1e9L * year, k_time}},
        {"g", {1.0L, k_mass}},
        {"kg", {1e3L, k_mass}},
        {"Msun", {k_solar_mass, k_mass}},
        {"M_sun", {k_solar_mass, k_mass}},
        {"M☉", {k_solar_mass, k_mass}},
        {"m_p", {k_proton_mass, k_mass}},
        {"m_H", {k_hydrogen_mass, k_mass}},
        {"K", {1.0L, k_temperature}},
        {"eV", {eV, k_energy}},
        {"keV", {1e3L * eV, k_energy}},
        {"erg", {1.0L, k_energy}},
        {"J", {1e7L, k_energy}},
        {"k_B", {k_boltzmann, {2, 1, -2, -1}}},
        {"dyn", {1.0L, k_force}},
        {"N", {1e5L, k_force}},
        {"Pa", {10.0L, {-1, 1, -2}}},
        {"bar", {1e6L, {-1, 1, -2}}},
        {"Lsun", {k_solar_luminosity, k_power}},
        {"L_sun", {k_solar_luminosity, k_power}},
        {"W", {1e7L, k_power}},
        {"Hz", {1.0L, {0, 0, -1}}},
        {"%", {0.01L, k_number}},
        {"h", {1.0L, {0, 0, 0, 0, 1}}},
    };
  }();
  return all;
}

struct CodeName {
  const char* name;
  Dimension dimension;
};

// Names of code units in the units of parameters. "code" and "radians" have the value 1.
constexpr CodeName k_code_names[] = {
    {"length", k_length}, {"mass", k_mass},          {"time", k_time},
    {"volume", {3}},      {"velocity", {1, 0, -1}},  {"acceleration", {1, 0, -2}},
    {"density", {-3, 1}}, {"pressure", {-1, 1, -2}}, {"energy", k_energy}};

long double cgs_of(const Dimension& dimension, const CodeUnits& code) {
  return std::pow(static_cast<long double>(code.length), dimension[0]) *
         std::pow(static_cast<long double>(code.mass), dimension[1]) *
         std::pow(static_cast<long double>(code.time), dimension[2]);
}

// --- dimensions in messages ----------------------------------------------------------------------

struct NamedDimension {
  const char* name;
  Dimension dimension;
  const char* example;
};

constexpr NamedDimension k_dimensions[] = {{"a length", k_length, "10 kpc"},
                                           {"an area", {2}, "1 pc^2"},
                                           {"a volume", {3}, "1 Mpc^3"},
                                           {"a time", k_time, "1 Myr"},
                                           {"a rate", {0, 0, -1}, "1/Myr"},
                                           {"a mass", k_mass, "1e6 Msun"},
                                           {"a velocity", {1, 0, -1}, "100 km/s"},
                                           {"an acceleration", {1, 0, -2}, "1e-8 cm/s^2"},
                                           {"a density", {-3, 1}, "1e-24 g/cm^3"},
                                           {"a number density", {-3}, "1 cm^-3"},
                                           {"a pressure", {-1, 1, -2}, "1e-12 erg/cm^3"},
                                           {"an energy", k_energy, "1e51 erg"},
                                           {"an energy per mass", {2, 0, -2}, "1e12 erg/g"},
                                           {"a temperature", k_temperature, "1e4 K"},
                                           {"a diffusivity", {2, 0, -1}, "1 cm^2/s"}};

bool is_same(const Dimension& a, const Dimension& b) {
  for (std::size_t n = 0; n < a.size(); ++n)
    if (std::abs(a[n] - b[n]) > 1e-9) return false;
  return true;
}

const NamedDimension* find_name(Dimension dimension) {
  dimension[k_hubble] = 0.0;
  const auto found = std::ranges::find_if(
      k_dimensions, [&](const auto& named) { return is_same(named.dimension, dimension); });
  return found == std::end(k_dimensions) ? nullptr : found;
}

// Returns "a length", or "length^2 mass".
std::string name_of(const Dimension& dimension) {
  if (const NamedDimension* named = find_name(dimension)) return named->name;
  constexpr const char* k_bases[] = {"length", "mass", "time", "temperature", "h"};
  std::string text;
  for (std::size_t n = 0; n < dimension.size(); ++n) {
    if (dimension[n] == 0.0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " ", k_bases[n]);
    if (dimension[n] != 1.0) text += fmt::format("^{:g}", dimension[n]);
  }
  return text.empty() ? "a number without a unit" : text;
}

// --- arithmetic ----------------------------------------------------------------------------------

Quantity product(Quantity a, const Quantity& b) {
  a.number *= b.number;
  a.scale *= b.scale;
  for (std::size_t n = 0; n < a.dimension.size(); ++n) a.dimension[n] += b.dimension[n];
  a.has_unit |= b.has_unit;
  a.has_code_unit |= b.has_code_unit;
  return a;
}

Quantity quotient(Quantity a, const Quantity& b) {
  a.number /= b.number;
  a.scale /= b.scale;
  for (std::size_t n = 0; n < a.dimension.size(); ++n) a.dimension[n] -= b.dimension[n];
  a.has_unit |= b.has_unit;
  a.has_code_unit |= b.has_code_unit;
  return a;
}

Quantity power(Quantity a, double exponent) {
  a.number = std::pow(a.number, exponent);
  a.scale = std::pow(a.scale, static_cast<long double>(exponent));
  for (double& each : a.dimension) each *= exponent;
  return a;
}

Quantity sum(Quantity a, const Quantity& b, double sign) {
  if (!is_same(a.dimension, b.dimension))
    throw InputError("{} and {} cannot be added", name_of(a.dimension), name_of(b.dimension));
  const double other =
      a.has_unit || b.has_unit ? b.number * static_cast<double>(b.scale / a.scale) : b.number;
  a.number += sign * other;
  a.has_unit |= b.has_unit;
  return a;
}

struct Function {
  const char* name;
  double (*value)(double);
};
constexpr Function k_functions[] = {{"exp", std::exp}, {"ln", std::log},  {"log10", std::log10},
                                    {"sin", std::sin}, {"cos", std::cos}, {"tan", std::tan},
                                    {"abs", std::fabs}};

// --- texts ---------------------------------------------------------------------------------------

bool is_unit_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
}

constexpr int k_deepest = 100;  // nesting of parentheses, signs and powers

// Recursive-descent parser for quantities. Throws InputError for invalid text.
class Parser {
 public:
  // `code` enables the names of code units, such as "length", which are unknown without it.
  explicit Parser(std::string_view text, const CodeUnits* code = nullptr)
      : text_(text), code_(code) {}

  Quantity whole() {
    const Quantity value = terms();
    if (!at_end()) refuse();
    return value;
  }
  // Names of the units used.
  const std::vector<std::string>& unit_names() const { return unit_names_; }

 private:
  [[noreturn]] void refuse() const {
    if (position_ >= text_.size()) throw InputError("the quantity is incomplete");
    throw InputError("\"{}\" cannot be parsed", printable(text_.substr(position_)));
  }

  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t'))
      ++position_;
  }
  bool at_end() {
    skip_blanks();
    return position_ == text_.size();
  }
  char next() { return at_end() ? '\0' : text_[position_]; }
  bool take(char c) {
    if (next() != c) return false;
    ++position_;
    return true;
  }
  // Name at the present position; empty if there is none.
  std::string_view peek_name() {
    if (next() == '%') return text_.substr(position_, 1);
    std::size_t end = position_;
    while (end < text_.size() &&
           (is_unit_letter(text_[end]) || (end > position_ && is_digit(text_[end]))))
      ++end;
    return text_.substr(position_, end - position_);
  }
  bool take_name(std::string_view name) {
    if (at_end() || peek_name() != name) return false;
    position_ += name.size();
    return true;
  }

  Quantity terms() {
    Quantity value = factors();
    for (;;) {
      if (take('+')) value = sum(value, factors(), 1.0);
      else if (take('-')) value = sum(value, factors(), -1.0);
      else return value;
    }
  }

  // Product of factors separated by blanks, as in "10 km/s". After a division by a unit, as in
  // "erg/g K", a blank is ambiguous and refused.
  Quantity factors() {
    Quantity value = signed_power();
    bool by_unit = false;
    for (;;) {
      if (take('*')) {
        value = product(value, signed_power());
        by_unit = false;
      } else if (take('/') || take_name("per")) {
        const Quantity divisor = signed_power();
        value = quotient(value, divisor);
        by_unit = divisor.has_unit;
      } else if (const char c = next(); is_unit_letter(c) || c == '(' || c == '%') {
        if (by_unit)
          throw InputError("a unit follows a division by a unit; write \"a/(b c)\" or \"a/b*c\"");
        value = product(value, signed_power());
      } else {
        return value;
      }
    }
  }

  Quantity signed_power() {
    const Depth depth(*this);
    if (take('+')) return signed_power();
    if (take('-')) {
      Quantity value = signed_power();
      value.number = -value.number;
      return value;
    }
    const Quantity base = primary();
    if (!take('^')) return base;
    const Quantity exponent = signed_power();
    if (exponent.has_unit) throw InputError("exponents must be dimensionless");
    return power(base, exponent.number);
  }

  Quantity primary() {
    if (take('(')) {
      const Quantity value = terms();
      if (!take(')')) throw InputError("unbalanced parenthesis");
      return value;
    }
    const char c = next();
    if (is_digit(c) || c == '.') return number();
    if (is_unit_letter(c) || c == '%') return named();
    refuse();
  }

  Quantity number() {
    double value = 0.0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) refuse();
    position_ += end - begin;
    return {.number = value};
  }

  Quantity named() {
    const std::string name(peek_name());
    position_ += name.size();
    if (name == "pi") return {.number = M_PI};
    if (name == "sqrt" && next() == '(') return power(primary(), 0.5);
    for (const Function& function : k_functions)
      if (name == function.name && next() == '(') {
        const Quantity value = primary();
        if (value.has_unit) throw InputError("the argument of {}() must be dimensionless", name);
        return {.number = function.value(value.number)};
      }
    if (code_ != nullptr) {
      if (name == "code" || name == "radians") return {};
      for (const CodeName& known : k_code_names)
        if (name == known.name)
          return {.scale = cgs_of(known.dimension, *code_),
                  .dimension = known.dimension,
                  .has_unit = true,
                  .has_code_unit = true};
    }
    const auto found = units().find(name);
    if (found == units().end()) refuse_name(name);
    unit_names_.push_back(name);
    return {.scale = found->second.scale, .dimension = found->second.dimension, .has_unit = true};
  }

  [[noreturn]] static void refuse_name(const std::string& name) {
    std::vector<std::string> known;
    for (const auto& [unit, unused] : units()) known.push_back(unit);
    const std::string close = close_name(name, known);
    throw InputError("\"{}\" is not a known unit{}", printable(name),
                     close.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", close));
  }

  // Limits the nesting depth, which protects the stack.
  struct Depth {
    explicit Depth(Parser& counted) : parser(counted) {
      if (++parser.depth_ > k_deepest) throw InputError("the quantity is nested too deeply");
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  std::string_view text_;
  const CodeUnits* code_;
  std::size_t position_ = 0;
  int depth_ = 0;
  std::vector<std::string> unit_names_;
};

// Unit of a parameter; empty for counts and ratios, whose unit is not a physical one.
std::optional<Quantity> unit_of(const std::string& unit, const CodeUnits& code) {
  if (unit.empty()) return Quantity{};
  try {
    const Quantity found = Parser(unit, &code).whole();
    return found.has_unit ? std::optional(found) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Describes the values accepted for a parameter of this unit, for messages.
std::string expected(const std::string& unit, const std::optional<Quantity>& target) {
  if (unit.empty()) return "a number without a unit";
  if (!target) return fmt::format("a number (of {})", unit);
  const NamedDimension* named = find_name(target->dimension);
  return named == nullptr
             ? fmt::format("a number in {}", unit)
             : fmt::format("{} such as \"{}\", or a number in {}", named->name, named->example,
                           target->has_code_unit ? "code units" : unit);
}

double in_unit(const Quantity& value, const Quantity& unit, const UnitSystem& system) {
  const double powers_of_h = value.dimension[k_hubble] - unit.dimension[k_hubble];
  if (powers_of_h != 0.0 && !system.hubble)
    throw InputError("units with h require a cosmological box (cosmology.enabled = true)");
  const double h = powers_of_h == 0.0 ? 1.0 : std::pow(*system.hubble, powers_of_h);
  return value.number / unit.number * static_cast<double>(value.scale / unit.scale) * h;
}

bool is_same_but_for_h(Dimension a, const Dimension& b) {
  a[k_hubble] = b[k_hubble];
  return is_same(a, b);
}

}  // namespace
}  // namespace quantities

double number_of(const std::string& text, const std::string& unit, const UnitSystem& system) {
  using namespace quantities;
  const Quantity value = Parser(text).whole();
  if (!value.has_unit) return value.number;
  const std::optional<Quantity> target = unit_of(unit, system.code.value_or(CodeUnits{}));
  if (!target || !is_same_but_for_h(value.dimension, target->dimension)) {
    const bool hours = is_same(value.dimension, {0, 0, 0, 0, 1});
    throw InputError("\"{}\" is {}; expected {}", printable(text),
                     hours ? "a multiple of the Hubble parameter h (hours are written \"hour\")"
                           : name_of(value.dimension),
                     expected(unit, target));
  }
  if (target->has_code_unit && !system.code)
    throw InputError("\"{}\" cannot be converted to code units: {}", printable(text),
                     system.why_no_code);
  return in_unit(value, *target, system);
}

bool is_convertible(const std::string& unit) {
  return quantities::unit_of(unit, CodeUnits{}).has_value();
}

void resolve_units(std::vector<std::string>& definitions, const UnitSystem& system) {
  using namespace quantities;
  std::vector<std::string> names;
  const auto split = [](const std::string& definition) {
    const std::size_t equals = std::min(definition.find('='), definition.size());
    const std::size_t end = definition.find_last_not_of(' ', equals == 0 ? 0 : equals - 1);
    return std::pair(definition.substr(0, end + 1),
                     definition.substr(std::min(equals + 1, definition.size())));
  };
  for (const std::string& definition : definitions) names.push_back(split(definition).first);
  for (std::string& definition : definitions) {
    const auto [name, text] = split(definition);
    Parser parser(text);
    Quantity value;
    try {
      value = parser.whole();
    } catch (const InputError&) {
      continue;  // an expression of defined names, or an error that its compilation reports
    }
    const auto is_defined = [&](const std::string& unit) {
      return std::ranges::find(names, unit) != names.end();
    };
    if (!value.has_unit || std::ranges::any_of(parser.unit_names(), is_defined)) continue;
    if (!system.code)
      throw InputError("{}: \"{}\" cannot be converted to code units: {}", name, printable(text),
                       system.why_no_code);
    const Quantity unit{.scale = cgs_of(value.dimension, *system.code),
                        .dimension = {value.dimension[0], value.dimension[1], value.dimension[2],
                                      value.dimension[3]}};
    definition = fmt::format("{} = {}", name, in_unit(value, unit, system));
  }
}

}  // namespace octant
