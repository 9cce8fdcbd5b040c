// Parameters of a run: declared once, in code, by binding a name to a field of an options struct.
//
//   struct HydroOptions { double gamma = 1.4; Scheme scheme = Scheme::rk2; };
//
//   void declare(ParameterSchema& schema, HydroOptions& options) {
//     schema.add("hydro.gamma", options.gamma, {.meaning = "Specific heats' ratio", .above = 1.0});
//     schema.add("hydro.scheme", options.scheme, {.meaning = "Time integration"});
//   }
//
// Reading a file, checking it, `octant params` and the reference manual all follow from there. The
// default of a parameter is what its field holds when it is declared. Values of enumerations are
// read and written by their names (core/named.hpp), which are the choices.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/named_field.hpp"
#include "core/quantity.hpp"

namespace octant {

// What a parameter means and what it may be. Bounds hold for numbers, and for each one of a list.
// The file may give a number as a text: a constant expression, or a quantity that is converted to
// `unit`, if that consists of units of core/quantity.hpp and of "length", "density" and others that
// stand for code units.
struct ParameterInfo {
  std::string unit = "";
  std::string meaning = "";
  double min = -std::numeric_limits<double>::infinity();    // smallest value
  double max = std::numeric_limits<double>::infinity();     // largest value
  double above = -std::numeric_limits<double>::infinity();  // exclusive lower bound
  double below = std::numeric_limits<double>::infinity();   // exclusive upper bound
  std::vector<std::string> choices = {};                    // for text; empty: anything, or all
  bool required = false;                                    // no default: the file must give it
  bool may_be_infinite = false;                             // where "without end" has a meaning
  bool are_constants = false;  // definitions "name = value", whose values may have units
  // What a text must be, and the function that says what is wrong with one, or "".
  std::string expected = "";
  std::string (*fault)(const std::string&) = nullptr;
};

// The field that a parameter is bound to.
using ParameterField = std::variant<bool*, int*, std::int64_t*, double*, std::string*,
                                    std::array<int, 3>*, std::array<double, 3>*,
                                    std::vector<double>*, std::vector<std::string>*, NamedField>;

struct Parameter {
  std::string name;  // "section.key", or "key" at the top of the file
  ParameterField field;
  ParameterInfo info;
  std::string default_value;  // as TOML
  bool was_set = false;       // by the file or by an override
};

class ParameterSchema {
 public:
  // Values that replace those of the file: "section.key=value", as after --set. The value is TOML;
  // what is not TOML is taken as text, so that `hydro.riemann=hllc` needs no quotes.
  using Overrides = std::vector<std::string>;

  // Binds a parameter to a field, which must outlive every read. Throws RunError if the name is
  // taken or the default breaks its own bounds.
  template <class T>
  void add(const std::string& name, T& field, ParameterInfo info) {
    if constexpr (std::is_constructible_v<NamedField, T&>) {
      NamedField named(field);
      if (info.choices.empty()) info.choices = named.choices;
      add_field(name, std::move(named), std::move(info));
    } else {
      add_field(name, &field, std::move(info));
    }
  }

  // The unit system that converts quantities such as "10 kpc". It is asked for after the given
  // `parameters`, on which it depends, are set, and before all others. Without it, quantities are
  // converted to physical units only.
  void set_units(std::vector<std::string> parameters, std::function<UnitSystem()> units);

  // Sets every field that the TOML file or an override gives; the others keep their defaults.
  // Throws InputError for the first thing that is wrong: no such file, TOML syntax, unknown key,
  // wrong type, out of range, unknown choice, or a required parameter that is missing.
  void read_file(const std::string& path, const Overrides& overrides = {});

  // The same for a text; `source` names it in messages.
  void read_text(const std::string& text, const std::string& source,
                 const Overrides& overrides = {});

  // What a file or an override gives for a text parameter, before the schema is complete.
  static std::optional<std::string> peek(const std::string& path, const std::string& name,
                                         const Overrides& overrides = {});
  static std::optional<std::string> peek_text(const std::string& text, const std::string& source,
                                              const std::string& name,
                                              const Overrides& overrides = {});

  // Every parameter with its present value; unit and meaning as comments. Reading this text back
  // gives the same values to the last bit.
  std::string resolved_toml() const;

  // Tables of all parameters, or of one section, in Markdown. Throws InputError if there is no such
  // section.
  std::string markdown(const std::string& section = "") const;

  // The sections in order of declaration; "" stands for the top of the file and comes first.
  std::vector<std::string> sections() const;

  // Whether the last read found the parameter in the file or among the overrides.
  bool was_set(const std::string& name) const;

  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  void add_field(const std::string& name, ParameterField field, ParameterInfo info);
  void assign(const class ParameterInput& input);
  void assign(const struct GivenValue& given, const UnitSystem& units);
  std::string help_with(const std::string& unknown) const;
  Parameter* find(const std::string& name);
  std::vector<std::string> names() const;

  std::vector<Parameter> parameters_;          // in order of declaration
  std::map<std::string, std::size_t> places_;  // name -> index in parameters_
  std::vector<std::string> unit_parameters_;
  std::function<UnitSystem()> units_;
};

}  // namespace octant
