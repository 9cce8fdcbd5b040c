// Reads back what parquet_file.hpp writes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "telemetry/parquet_file.hpp"

namespace octant::telemetry {

// The named columns of a file: numbers, in the types in which they were written. Throws RunError
// that names the file and the reason.
std::vector<Column> read_parquet(const std::string& path, std::span<const std::string> names);

}  // namespace octant::telemetry
