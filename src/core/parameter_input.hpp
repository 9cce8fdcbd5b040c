// Values of a TOML file and of overrides as a flat list of names (private to core/).
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "core/parameters.hpp"

namespace octant {

// Value and its location ("sedov.toml:12", or the --set option).
struct GivenValue {
  std::string name;
  const toml::node* value;
  std::string where;
  const toml::node* text = nullptr;  // as written, of an override that TOML reads as number or date
};

// Section of the file, from which misspelt empty sections are found.
struct GivenSection {
  std::string name;
  std::string where;
};

// Values and sections of a parameter file, with the overrides.
class ParameterInput {
 public:
  using Overrides = std::vector<std::string>;

  // Throws InputError for a syntax error or a malformed override.
  static ParameterInput from_text(const std::string& text, const std::string& source,
                                  const Overrides& overrides);

  // Values in the order of the file, then the overrides; an override replaces the value of the
  // file.
  const std::vector<GivenValue>& values() const { return values_; }
  const std::vector<GivenSection>& sections() const { return sections_; }
  const GivenValue* find(const std::string& name) const;
  const std::string& source() const { return source_; }

 private:
  void collect_file(const std::string& text);
  void add_override(const std::string& assignment);
  std::string source_location(const toml::source_region& region) const;

  std::string source_;
  std::deque<toml::table> tables_;  // a deque: values_ points into them
  std::vector<GivenValue> values_;
  std::vector<GivenSection> sections_;
};

// Sets the field of a parameter from a TOML value. Strings given for numbers are constant
// expressions or quantities, which `units` converts. Throws InputError, without file and line, for
// a wrong type, a number out of range or an unknown choice.
void assign_value(Parameter& parameter, const toml::node& value, const UnitSystem& units);

// Throws InputError if the present value of the field violates its parameter's bounds or choices.
void check_value(const Parameter& parameter);

// Returns the present value of a field as TOML. Numbers read back to the same bits.
std::string value_as_toml(const ParameterField& field);

// Returns "an integer", "a list of numbers", ... for messages and tables.
std::string type_name(const Parameter& parameter);

// Returns "> 1", "0 to 1", "llf | hll | hllc", or "" if anything is allowed.
std::string range_text(const ParameterInfo& info);

}  // namespace octant
