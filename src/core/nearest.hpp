// The valid name that a misspelt one most likely meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace octant {

// Number of single-character insertions, deletions, replacements and swaps of neighbours that turn
// `a` into `b` (optimal string alignment), ignoring case.
int edit_distance(std::string_view a, std::string_view b);

// The candidate that `name` may be a misspelling of: one that differs by at most a third of its
// letters, has the same last part, or, of dotted names of one section, shares a word with it such
// as hydro.riemann with hydro.riemann_solver. Empty if there is none.
std::string close_name(std::string_view name, const std::vector<std::string>& candidates);

// "Octant has no magnetic fields; see Limitations (docs/limitations.md)" for a name such as
// "hydro.magnetic" or "hlld", which other codes use for what Octant lacks; otherwise empty.
std::string missing_feature(std::string_view name);

// Help with an unknown name: missing_feature(), or else close_name() behind `introduction`, such as
// "did you mean ". Empty if neither applies.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates,
                       std::string_view introduction);

}  // namespace octant
