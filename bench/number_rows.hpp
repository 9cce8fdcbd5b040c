// Files of numbers that benchmarks are given.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace octant::bench {

// The rows of a text file, of so many numbers each, between commas or blanks. A first line of words
// is skipped, as are comments. Throws InputError for anything else, and where there are no rows.
std::vector<std::vector<double>> read_rows(const std::string& path, std::size_t columns);

}  // namespace octant::bench
