// The passes of ranks that share the memory of a node: coefficients are written where another rank
// will work on them. Internal to pencil/.
#pragma once

#include <memory>

#include "pencil/plane_pass.hpp"

namespace octant::pencil {

// Lines along y are cut, or not; see y_pass.hpp. Collective.
std::unique_ptr<YPass> make_shared_pass(const Spectrum& spectrum, YPass* twin);
std::unique_ptr<YPass> make_strip_pass(const Spectrum& spectrum, YPass* twin);
bool wants_strips(const Spectrum& spectrum);

}  // namespace octant::pencil
