// The valid name that a misspelt one most likely meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octant {

// Number of single-character insertions, deletions, replacements and swaps of neighbours that turn
// `a` into `b` (optimal string alignment), ignoring case.
int edit_distance(std::string_view a, std::string_view b);

// The candidate at the smallest distance from `name`, the first one of several; empty if there are
// none. Of dotted names, one with the same last part counts as close whatever its section is.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace octant
