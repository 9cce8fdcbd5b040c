// Parameters of a run: declared once, in code, by binding a name to a field of an options struct.
//
//   struct HydroOptions { double gamma = 1.4; Scheme scheme = Scheme::rk2; };
//
//   void declare(ParameterSchema& schema, HydroOptions& options) {
//     schema.add("hydro.gamma", options.gamma,
//                {.meaning = "Ratio of specific heats", .above = 1.0});
//     schema.add("hydro.scheme", options.scheme, {.meaning = "Time integration"});
//   }
//
// Reading and checking files, `octant params` and the reference manual use these declarations. The
// default of a parameter is the value of its field at the declaration. Values of enumerations are
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

#include "core/named.hpp"
#include "core/units.hpp"

namespace octant {

// Meaning and allowed values of a parameter. Bounds hold for numbers, and for each element of a
// list. The file may give a number as a string: a constant expression, or a quantity that is
// converted to `unit`, if `unit` consists of units of core/units.hpp and of "length", "density" and
// other names of code units.
struct ParameterInfo {
  std::string unit = "";
  std::string meaning = "";
  double min = -std::numeric_limits<double>::infinity();    // smallest value
  double max = std::numeric_limits<double>::infinity();     // largest value
  double above = -std::numeric_limits<double>::infinity();  // exclusive lower bound
  double below = std::numeric_limits<double>::infinity();   // exclusive upper bound
  std::vector<std::string> choices = {};                    // for text; empty: no restriction
  bool required = false;                                    // the file must set it; no default
  bool may_be_infinite = false;                             // infinity is allowed
  bool is_table = false;       // definitions: a TOML table, or a list of strings "name = value"
  bool are_constants = false;  // definitions whose values are constants, which may have units
  bool is_data_file = false;   // path of a file, or definitions of paths, whose contents define the
                               // run: checkpoints contain their checksums
  // Expected form of a string, for error messages.
  std::string expected = "";
  // Function that returns an error message for an invalid string, or "".
  std::string (*fault)(const std::string&) = nullptr;
};

// Field to which a parameter is bound.
using ParameterField = std::variant<bool*, int*, std::int64_t*, double*, std::string*,
                                    std::array<int, 3>*, std::array<double, 3>*,
                                    std::vector<double>*, std::vector<std::string>*, NamedField>;

// Declared parameter, as listed by ParameterSchema.
struct Parameter {
  std::string name;  // "section.key", or "key" at the top level
  ParameterField field;
  ParameterInfo info;
  std::string default_value;  // as TOML
  bool was_set = false;       // by the file or by an override
};

// Returns the text of a parameter file. Throws InputError if the file cannot be read, is empty or
// is too large for a parameter file.
std::string read_parameter_file(const std::string& path);

// Declarations of all parameters of a run, which read and check parameter files, and describe
// themselves in `octant params` and the manual.
class ParameterSchema {
 public:
  // Values that replace those of the file: "section.key=value", as for --set. The value is TOML;
  // any other text becomes a string, so that `hydro.riemann=hllc` needs no quotes.
  using Overrides = std::vector<std::string>;

  // Binds a parameter to a field, which must outlive every read. Throws RunError if the name is
  // already in use or the default violates its own bounds.
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

  // Sets the function that returns the unit system for quantities such as "10 kpc". It is called
  // after `parameters`, which define the unit system, are set, and before all others are. Without
  // it, a quantity with units is an error for a parameter in code units.
  void set_units(std::vector<std::string> parameters, std::function<UnitSystem()> units);

  // Sets every field that the TOML text or an override gives; the others keep their defaults.
  // `source`, the path of a file, names the text in messages. Throws InputError for the first
  // error: TOML syntax, unknown key, wrong type, out of range, unknown choice, or missing required
  // parameter.
  void read_text(const std::string& text, const std::string& source,
                 const Overrides& overrides = {});

  // Returns a string parameter of a text or an override, before the schema is complete.
  static std::optional<std::string> peek_text(const std::string& text, const std::string& source,
                                              const std::string& name,
                                              const Overrides& overrides = {});

  // Returns every parameter with its present value, with unit and meaning as comments. Reading this
  // text back gives the same values to the last bit.
  std::string resolved_toml() const;

  // Returns Markdown tables of all parameters, or of one section. Throws InputError if there is no
  // such section.
  std::string markdown(const std::string& section = "") const;

  // Sections in order of declaration; "", the top level, comes first.
  std::vector<std::string> sections() const;

  // Returns true if the last read found the parameter in the file or among the overrides.
  bool was_set(const std::string& name) const;

  // Sets the Boolean parameter that enables a section; by default SECTION.enabled, if declared.
  void set_switch(const std::string& section, const std::string& parameter);

  // Parameters that have no effect: those set to other values than the default in sections that are
  // not enabled.
  std::vector<std::string> without_effect() const;

  // All parameters in the order of declaration.
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  void add_field(const std::string& name, ParameterField field, ParameterInfo info);
  void assign(const class ParameterInput& input);
  void assign(const struct GivenValue& given, const UnitSystem& units);
  std::string help_with(const std::string& unknown) const;
  Parameter* find(const std::string& name);
  std::vector<std::string> names() const;

  std::vector<Parameter> parameters_;            // in order of declaration
  std::map<std::string, std::size_t> index_of_;  // name -> index in parameters_
  std::map<std::string, std::string> switches_;  // section -> parameter
  std::vector<std::string> unit_parameters_;
  std::function<UnitSystem()> units_;
};

// Parameter whose value differs between two sets of resolved parameters.
struct ParameterDifference {
  std::string name;           // "section.key"
  std::string first, second;  // as TOML
};

// Compares the values of all parameters that both texts (from ParameterSchema::resolved_toml)
// contain, in the order of the second. A parameter in only one text was unknown to the program that
// wrote the other. `first_source` names the first text in messages. Throws InputError if it is not
// TOML.
std::vector<ParameterDifference> parameter_differences(const std::string& first,
                                                       const std::string& first_source,
                                                       const std::string& second);

}  // namespace octant
