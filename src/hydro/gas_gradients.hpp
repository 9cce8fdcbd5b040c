// How the gas changes around a cell.
#pragma once

#include <span>

#include "mesh/mesh.hpp"

namespace octant::hydro {

// By the differences between a cell's neighbours across its faces, in code units.
struct GasGradients {
  double velocity[3][3];     // of component i along axis j
  double density_laplacian;  // the sum of second derivatives
};

// Of some cells of a level's own blocks, in their order, from the present state, whose ghost cells
// are filled (Mesh::fill_ghosts).
mesh::DeviceArray<const GasGradients> gas_gradients(const mesh::Mesh& mesh, int level,
                                                    std::span<const mesh::Cell> cells);

}  // namespace octant::hydro
