// Parquet files whose rows become one file without being read.
#pragma once

#include <span>
#include <string>

#include "telemetry/parquet_file.hpp"

namespace octant::telemetry {

// As merge_parquet for all rows, but copies the compressed groups of rows: it takes as long as
// copying a file, whereas a merge decompresses and compresses all values.
void join_parquet(std::span<const std::string> inputs, const std::string& path,
                  const Metadata& metadata);

}  // namespace octant::telemetry
