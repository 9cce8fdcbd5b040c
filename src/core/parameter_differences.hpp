// What two sets of resolved parameters disagree on.
#pragma once

#include <string>
#include <vector>

namespace octant {

struct ParameterDifference {
  std::string name;           // "section.key"
  std::string first, second;  // the values as TOML
};

// Compares the values of all parameters that both texts have (as of
// ParameterSchema::resolved_toml), in the order of the second. A parameter that only one of them
// has is one that the program of the other did not know. `first_source` names the first text in
// messages. Throws InputError if it is not TOML.
std::vector<ParameterDifference> parameter_differences(const std::string& first,
                                                       const std::string& first_source,
                                                       const std::string& second);

}  // namespace octant
