// Rules for user-defined names and for displayed texts.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace octant {

// Returns true for ASCII digits, independent of the locale.
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns true if a text is a valid name of a quantity, such as a column of history.csv, a dataset
// or a term of expressions: ASCII letters, digits and _, no digit first, at most 100 characters.
bool is_name(std::string_view text);
inline constexpr const char* k_expected_name =
    "letters (a-z, A-Z), digits and _, not starting with a digit, at most 100 characters";

// Throws InputError with the parameter if the text is no valid name of a quantity.
void require_name(const std::string& parameter, const std::string& text);

// Returns true if a text is a file name without a path: ASCII letters, digits, '_', '-' and '.', no
// '.' first, at most 128 characters.
bool is_file_name(std::string_view text);

// Replaces control characters and bytes that are not UTF-8 by escapes such as \x1b, for terminals
// and logs. If `lines`, line breaks and tabs are not replaced.
std::string printable(std::string_view text, bool lines = false);

// Number of single-character insertions, deletions, replacements and swaps of neighbours that turn
// `a` into `b` (optimal string alignment), ignoring case.
int edit_distance(std::string_view a, std::string_view b);

// Returns the candidate for which `name` is probably a misspelling. It differs by at most a third
// of the letters, has the same last part, or is in the same section with a word in common, such as
// hydro.riemann and hydro.riemann_solver. Empty if there is none.
std::string close_name(std::string_view name, const std::vector<std::string>& candidates);

// Returns a message for a feature that Octant lacks, such as "Octant has no magnetic fields; see
// Limitations (docs/limitations.md)" for a name such as "hydro.magnetic" or "hlld" of another code;
// otherwise empty.
std::string missing_feature(std::string_view name);

// Help for an unknown name: missing_feature(), or else close_name() after `introduction`, such as
// "did you mean ". Empty if neither applies.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates,
                       std::string_view introduction);

// Throws InputError with the parameter if the list contains a text more than once.
inline void require_different(const std::string& parameter, const std::vector<std::string>& texts) {
  for (auto text = texts.begin(); text != texts.end(); ++text)
    if (std::find(texts.begin(), text, *text) != text)
      throw InputError("{}: \"{}\" is given twice", printable(parameter), printable(*text));
}

}  // namespace octant
