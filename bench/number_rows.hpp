// Numerical input files of benchmarks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace octant::bench {

// Reads the rows of a text file, with `columns` numbers each, separated by commas or blanks. A
// first line of words is skipped, as are comments. Throws InputError for other content, and if
// there are no rows.
std::vector<std::vector<double>> read_rows(const std::string& path, std::size_t columns);

}  // namespace octant::bench
