#include "core/names.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant {

namespace {

constexpr std::size_t k_longest_name = 100, k_longest_file_name = 128;

// Returns true for letters, digits and _, independent of the locale, in contrast to std::isalnum.
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Number of bytes of the UTF-8 character at the start of the text; 0 if there is none.
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

// Control characters of ASCII, and of Latin-1 (U+0080 to U+009F), which terminals interpret, too.
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
    throw InputError("{}: \"{}\" is not a valid name; expected {}", printable(parameter),
                     printable(text), k_expected_name);
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

namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }
std::string_view prefix_of(std::string_view name) {
  return name.substr(0, name.size() - last_part(name).size());
}

// Splits a name into lower-case words: "hydro.MHD_solver" into "hydro", "mhd" and "solver".
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter))) words.back() += lower(letter);
    else if (!words.back().empty()) words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// Returns true if two names of one section share a word of four letters or more.
bool shares_word(std::string_view name, std::string_view candidate) {
  constexpr std::size_t k_shortest = 4;
  if (prefix_of(name).empty() || prefix_of(name) != prefix_of(candidate)) return false;
  const auto words = words_of(last_part(candidate));
  return std::ranges::any_of(words_of(last_part(name)), [&](const std::string& word) {
    return word.size() >= k_shortest && std::ranges::find(words, word) != words.end();
  });
}

// Features of other codes that Octant lacks, and their names in those codes. A phrase of several
// words must occur as a whole.
struct MissingFeature {
  const char* name;
  std::vector<const char*> words;
};

const std::vector<MissingFeature>& missing_features() {
  static const std::vector<MissingFeature> all{
      {"magnetic fields",
       {"magnetic", "mhd", "bfield", "b field", "hlld", "divb", "induction", "resistivity",
        "ambipolar", "constrained transport", "dedner", "orszag", "alfven"}},
      {"large-eddy or RANS turbulence models",
       {"les", "rans", "smagorinsky", "wale", "vreman", "eddy viscosity", "wall model", "sgs"}},
      {"chemistry or nuclear networks",
       {"chemistry", "chemical", "grackle", "krome", "molecules", "molecular", "h2", "nuclear",
        "burning"}},
      {"relativistic dynamics", {"relativistic", "relativity", "srhd", "grhd", "lorentz"}},
      {"dust", {"dust", "grains"}},
      {"cosmic rays", {"cosmic rays", "cosmic ray", "cosmicrays", "crs"}},
      {"thermal conduction", {"conduction"}},
      {"immersed bodies", {"ibm", "immersed", "immersed boundary"}},
      {"two-phase flow", {"vof", "two phase", "multiphase", "surface tension"}}};
  return all;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the table of distances between prefixes of a and b.
  std::vector<int> older(b.size() + 1), old(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    older.swap(old);
    old.swap(now);
    now[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) now[j] = std::min(now[j], older[j - 2] + 1);
    }
  }
  return now[b.size()];
}

std::string close_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  int smallest = std::numeric_limits<int>::max();
  for (const std::string& candidate : candidates) {
    const std::string_view key = last_part(name), other = last_part(candidate);
    const int distance = edit_distance(name, candidate);
    const int allowed = static_cast<int>((std::max(key.size(), other.size()) + 1) / 3);
    const bool is_same_key = key == other, is_spelt_alike = distance <= allowed;
    if (!is_same_key && !is_spelt_alike && !shares_word(name, candidate)) continue;
    const int cost = is_same_key ? std::min(distance, 2) : distance;
    if (cost < smallest) {
      smallest = cost;
      best = candidate;
    }
  }
  return best;
}

std::string missing_feature(std::string_view name) {
  std::string text = " ";
  for (const std::string& word : words_of(name)) text += word + " ";
  for (const MissingFeature& feature : missing_features())
    for (const char* words : feature.words)
      if (text.find(fmt::format(" {} ", words)) != std::string::npos)
        return fmt::format("Octant has no {}; see Limitations (docs/limitations.md)", feature.name);
  return "";
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates,
                       std::string_view introduction) {
  const std::string close = close_name(name, candidates);
  std::string missing = missing_feature(name);
  // Prefers a similar existing name if that also contains the word of the missing feature.
  if (!missing.empty() && missing_feature(close).empty()) return missing;
  return close.empty() ? "" : fmt::format("{}{}", introduction, close);
}

}  // namespace octant
