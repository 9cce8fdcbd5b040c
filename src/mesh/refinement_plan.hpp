// Decides which octants are refined: flags, then what nesting of levels demands. A tool of the
// mesh.
#pragma once

#include "mesh/mesh.hpp"

namespace octant::mesh {

// The octants of every own block that will be refined after a regrid, from the flags of all ranks.
// Besides flagged octants these are: ancestors of refined ones, and every octant within `distance`
// cells of a refined one of the next finer level. Collective.
OctantMasks plan_refinement(const Tree& tree, const FlagMasks& flags, int distance);

}  // namespace octant::mesh
