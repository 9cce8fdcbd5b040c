// The velocity of the gas on the faces of cells.
#pragma once

#include "mesh/mesh.hpp"
#include "mesh/staggered_field.hpp"

namespace octant::hydro {

// Sets the normal velocity on all faces of a level's own blocks: the mean of the two adjacent
// cells. Reads the current state, whose ghost cells must be filled (Mesh::fill_ghosts).
void find_face_velocities(const mesh::Mesh& mesh, int level, const mesh::StaggeredView& velocity);

}  // namespace octant::hydro
