// What a PoissonSolver does between its transforms along x: lines along y are transformed, those
// along z are solved, and all goes back. Internal to pencil/.
//
// Which rank has whole lines along y, and how coefficients get there, are strategies:
//
//   local       p_y = 1: a plane is transformed along y while it is in cache, and handed to the
//               solver of lines along z
//   transposed  p_y > 1: rows travel in messages to the ranks that have whole lines along y
//   shared      p_y > 1 on one node: rows are written into the planes of those ranks
//   strips      p_y = 1 on one node, lines along z cut: planes are written, and transformed along
//               y, where their lines along z are solved
#pragma once

#include <memory>

#include "pencil/plane_pass.hpp"

namespace octant::pencil {

// The strategy that fits. `twin`, of the same kind, lends its factors. Collective.
std::unique_ptr<YPass> make_y_pass(const Spectrum& spectrum, YPass* twin);

}  // namespace octant::pencil
