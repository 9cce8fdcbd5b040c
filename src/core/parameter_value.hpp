// Values of parameters between TOML, C++ and text (private to core/).
#pragma once

#include <string>

#include <toml++/toml.h>

#include "core/parameters.hpp"

namespace octant {

// Sets the field of a parameter from a TOML value. Texts for numbers are constant expressions or
// quantities, which `units` converts. Throws InputError, without the place, for a wrong type, a
// number out of range or an unknown choice.
void assign_value(Parameter& parameter, const toml::node& value, const UnitSystem& units);

// Throws InputError if the present value of the field breaks its parameter's bounds or choices.
void check_value(const Parameter& parameter);

// The present value of a field as TOML. Numbers read back to the same bits.
std::string value_as_toml(const ParameterField& field);

// "integer", "list of numbers", ... for messages and tables.
std::string type_name(const ParameterField& field);

// "> 1", "0 to 1", "llf | hll | hllc", or "" if anything is allowed.
std::string range_text(const ParameterInfo& info);

}  // namespace octant
