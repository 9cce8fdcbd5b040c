// Where the faces of the cells along z are.
#pragma once

#include <vector>

#include "dns/options.hpp"

namespace octant::dns {

// Positions of the faces 0 .. cells along z, from 0 to the extent. Throws InputError if a file of
// faces cannot be read, has another number of them, or does not ascend from 0 to the extent.
std::vector<double> z_faces(const GridOptions& options);

}  // namespace octant::dns
