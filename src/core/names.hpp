// Names that users give, and texts that are shown: one rule for each.
#pragma once

#include <string>
#include <string_view>

namespace octant {

// Whether a text is a name of a quantity: letters of ASCII, digits and _, no digit first, at most
// 100 characters. Columns of history.csv, datasets and terms of expressions have such names.
bool is_name(std::string_view text);
inline constexpr const char* k_expected_name =
    "letters (a-z, A-Z), digits and _, no digit first, at most 100 characters";

// Throws InputError, which names the parameter, if the text is no name of a quantity.
void require_name(const std::string& parameter, const std::string& text);

// Whether a text is the name of a file in a folder: letters of ASCII, digits, '_', '-' and '.', no
// '.' first, at most 128 characters. Such a name leads to no other folder.
bool is_file_name(std::string_view text);

// The text with each control character and each byte that is not UTF-8 as an escape such as \x1b,
// for terminals and logs; line breaks and tabs stay if `lines`.
std::string printable(std::string_view text, bool lines = false);

}  // namespace octant
