#include "core/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

namespace octant {

namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Rows i-2, i-1 and i of the table of distances between beginnings of a and b.
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

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string best;
  int smallest = std::numeric_limits<int>::max();
  for (const auto& candidate : candidates) {
    int distance = edit_distance(name, candidate);
    if (last_part(name) == last_part(candidate)) distance = std::min(distance, 2);
    if (distance < smallest) {
      smallest = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace octant
