// Parquet files whose rows become one file without being read.
#pragma once

#include <span>
#include <string>

#include "telemetry/parquet_file.hpp"

namespace octant::telemetry {

// As merge_parquet for all rows, in the groups that they are in, whose bytes are copied: this takes
// the time of copying a file, where a merge compresses all values anew.
void join_parquet(std::span<const std::string> inputs, const std::string& path,
                  const Metadata& metadata);

}  // namespace octant::telemetry
