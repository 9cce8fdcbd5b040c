// What the library is asked for that knows Arrow. It is loaded with the first file that is written
// or read, because Arrow takes 14 MB of every process that has it, and writing 6 MB more.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "telemetry/parquet_file.hpp"

namespace octant::telemetry {

// As the functions of parquet_file.hpp and parquet_reader.hpp, but for errors: they throw some
// std::exception that tells the reason alone.
struct ParquetLibrary {
  void (*write)(const std::string& path, std::span<const Column> columns, const Metadata& metadata);
  void (*merge)(std::span<const std::string> inputs, const std::string& path,
                const Metadata& metadata, std::int64_t rows_of_first);
  Metadata (*metadata)(const std::string& path);
  std::vector<Column> (*read)(const std::string& path, std::span<const std::string> names);
};

}  // namespace octant::telemetry

extern "C" const octant::telemetry::ParquetLibrary* octant_parquet_library();
