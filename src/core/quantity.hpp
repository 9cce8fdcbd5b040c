// Numbers with units, such as "10 kpc", and constant expressions, such as "5/3".
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/code_units.hpp"

namespace octant {

// The unit system of a run, as far as the parameter file defines it.
struct UnitSystem {
  std::optional<CodeUnits> code;  // of parameters in code units
  // Reason and remedy where `code` is empty, for error messages.
  std::string why_no_code = "this file has no unit system; give a number in code units";
  std::optional<double> hubble;  // the Hubble parameter h, for units such as Mpc/h
};

// The number that `text` gives for a parameter whose unit is `unit` ("kpc", "code density",
// "length / time^2", or "" for a number without unit). A text without units is a constant
// expression of numbers, pi, + - * / ^, parentheses and functions; its value is in `unit`. With
// units, it is converted, and its dimension must be that of `unit`. Throws InputError without the
// place: for a text that is no quantity, another dimension, or a unit that cannot be converted.
double number_of(const std::string& text, const std::string& unit, const UnitSystem& system);

// True if number_of() converts quantities to this unit, given a unit system. False for counts and
// ratios such as "cells".
bool is_convertible(const std::string& unit);

// Replaces the quantities with units among definitions "name = text" by numbers in code units, as
// in {"r0 = 10 kpc"}. Other definitions stay as they are, and so do those that use a defined name.
// Throws InputError without the place.
void resolve_units(std::vector<std::string>& definitions, const UnitSystem& system);

}  // namespace octant
