// Blocks for the placement benchmarks: generated costs and positions, or those from files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decomp/placement/locality.hpp"

namespace octant::bench {

// Cost distributions "exponential", "gauss60_5" and "powerlaw": costs between 50 and 100, as drawn
// by the authors of CPLX.
const std::vector<std::string>& cost_distributions();
// Draws the costs of this many blocks. Throws InputError for an unknown distribution.
std::vector<double> draw_costs(const std::string& distribution, std::int64_t blocks,
                               std::uint64_t seed);

// Reads one cost per line. Throws InputError with file and line, as the functions below.
std::vector<double> read_costs(const std::string& path);
// Reads `level,x,y,z` per line.
std::vector<placement::Leaf> read_leaves(const std::string& path);
// Reads one rank per line.
placement::Owners read_owners(const std::string& path);
// Writes one rank per line.
void write_owners(const std::string& path, const placement::Owners& owners);

// Leaves of a cube of blocks, `roots` along each axis, refined around a random point until there
// are at least `blocks` of them; neighbours across faces, edges and corners differ by at most one
// level. In Morton order. Throws InputError if there are more roots than blocks.
std::vector<placement::Leaf> random_leaves(int roots, std::int64_t blocks, std::uint64_t seed);

}  // namespace octant::bench
