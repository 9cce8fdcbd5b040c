// Blocks for the benchmarks of placement: their costs and their places, made up or from files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decomp/placement/locality.hpp"

namespace octant::bench {

// "exponential", "gauss60_5" and "powerlaw": costs between 50 and 100, as the authors of CPLX drew
// them.
const std::vector<std::string>& cost_distributions();
std::vector<double> draw_costs(const std::string& distribution, std::int64_t blocks,
                               std::uint64_t seed);

// One cost per line. Throws InputError that names file and line, as the functions below do.
std::vector<double> read_costs(const std::string& path);
// `level,x,y,z` per line.
std::vector<placement::Leaf> read_leaves(const std::string& path);
// One rank per line.
placement::Owners read_owners(const std::string& path);
void write_owners(const std::string& path, const placement::Owners& owners);

// Leaves of a cube of blocks, `roots` along each axis, refined around a random point until there
// are `blocks` of them or a few more; neighbours across faces, edges and corners differ by one
// level at most. In Morton order. Throws InputError if there are more roots than blocks.
std::vector<placement::Leaf> random_leaves(int roots, std::int64_t blocks, std::uint64_t seed);

}  // namespace octant::bench
