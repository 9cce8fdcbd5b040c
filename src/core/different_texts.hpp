// Lists of which each text stands for something of its own.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/names.hpp"

namespace octant {

// Throws InputError, which names the parameter, if a text is in the list twice.
inline void require_different(const std::string& parameter, const std::vector<std::string>& texts) {
  for (auto text = texts.begin(); text != texts.end(); ++text)
    if (std::find(texts.begin(), text, *text) != text)
      throw InputError("{}: \"{}\" is given twice", printable(parameter), printable(*text));
}

}  // namespace octant
