#include "core/names.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant {

namespace {

constexpr std::size_t k_longest_name = 100, k_longest_file_name = 128;

// Not std::isalnum, which depends on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// The number of bytes of the UTF-8 character at the beginning of the text; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length > text.size()) return 0;
  for (std::size_t n = 1; n < length; ++n)
    if ((static_cast<unsigned char>(text[n]) & 0xc0) != 0x80) return 0;
  return length;
}

// Control characters of ASCII, and those of Latin-1 (U+0080 to U+009F), which terminals heed, too.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  return first < 0x20 || first == 0x7f ||
         (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0);
}

}  // namespace

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= k_longest_name && !is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), is_word);
}

void require_name(const std::string& parameter, const std::string& text) {
  if (!is_name(text))
    throw InputError("{}: \"{}\" is no name; expected {}", printable(parameter), printable(text),
                     k_expected_name);
}

bool is_file_name(std::string_view text) {
  return !text.empty() && text.size() <= k_longest_file_name && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word(c) || c == '-' || c == '.'; });
}

std::string printable(std::string_view text, bool lines) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length > 0 ? length : 1);
    const bool stays = lines && (text[0] == '\n' || text[0] == '\t');
    if (length > 0 && (stays || !is_control(character))) shown += character;
    else
      for (const char byte : character)
        shown += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace octant
