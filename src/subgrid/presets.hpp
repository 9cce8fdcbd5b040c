// Parameter sets for galaxy formation, named after the simulations that used them.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace octant::subgrid {

// Parameter sets that the parameter `preset` selects.
enum class Preset { none, horizon_agn, agora, eagle_like };
// Names of the parameter sets.
constexpr auto names_of(Preset) { return std::array{"none", "horizon-agn", "agora", "eagle-like"}; }

// Returns the parameters of a preset, as "section.key = value".
std::vector<std::string> assignments_of(Preset preset);

}  // namespace octant::subgrid
