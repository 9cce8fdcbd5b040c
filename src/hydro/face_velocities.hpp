// The velocity of the gas on the faces of cells.
#pragma once

#include "mesh/mesh.hpp"
#include "mesh/staggered_field.hpp"

namespace octant::hydro {

// Sets the normal velocity on all faces of a level's own blocks: the mean of the cells on both
// sides. Reads the present state, whose ghost cells are filled (Mesh::fill_ghosts).
void find_face_velocities(const mesh::Mesh& mesh, int level, const mesh::StaggeredView& velocity);

}  // namespace octant::hydro
