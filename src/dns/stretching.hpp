// Where the faces of the cells along z are.
#pragma once

#include <string>
#include <vector>

#include "dns/options.hpp"

namespace octant::dns {

// The mappings that grid.stretching may name.
std::vector<std::string> stretching_names();

// Positions of the faces 0 .. cells along z, from 0 to the extent. Throws InputError if a file of
// faces cannot be read, has another number of them, or does not ascend from 0 to the extent.
std::vector<double> z_faces(const GridOptions& options);

}  // namespace octant::dns
