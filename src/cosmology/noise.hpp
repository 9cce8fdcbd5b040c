// White Gaussian noise that belongs to places, not to grids: a grid of twice the resolution refines
// the noise of the coarser one.
#pragma once

#include <cstdint>
#include <vector>

#include "pencil/grid.hpp"

namespace octant::cosmology {

// Independent normal numbers of mean 0 and variance 1, one per cell of `box` in a periodic grid of
// side^3 cells, as [z][y][x]. They depend on seed, side and cell alone. Of grids whose sides differ
// by a factor of 2, the sum over the 8 fine cells in a coarse one, divided by sqrt(8), is the coarse
// cell's number (to round-off): so are all grids of side odd * 2^n nested in the one of side odd.
// Memory: twice the box. side <= 2^20.
std::vector<double> white_noise(std::uint64_t seed, int side, const pencil::Box& box);

}  // namespace octant::cosmology
