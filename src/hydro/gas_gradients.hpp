// Gradients of the gas around a cell.
#pragma once

#include <span>

#include "mesh/mesh.hpp"

namespace octant::hydro {

// Central differences of the gas between a cell's neighbours across its faces, in code units.
struct GasGradients {
  double velocity[3][3];     // derivative of component i along axis j
  double density_laplacian;  // sum of the second derivatives of the density
};

// Computes the gradients in `cells`, which lie in a level's own blocks, in their order. Reads the
// current state, whose ghost cells must be filled (Mesh::fill_ghosts).
mesh::DeviceArray<const GasGradients> gas_gradients(const mesh::Mesh& mesh, int level,
                                                    std::span<const mesh::Cell> cells);

}  // namespace octant::hydro
