// Parquet files, without Arrow's types: its headers are heavy, and a build may be without it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace octant::telemetry {

// Texts out of a list, by their numbers in it.
struct Texts {
  std::vector<std::int32_t> numbers;
  const std::vector<std::string>* list = nullptr;
};

struct Column {
  std::string name;
  std::variant<std::vector<bool>, std::vector<std::int8_t>, std::vector<std::int16_t>,
               std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<std::uint64_t>,
               std::vector<float>, std::vector<double>, Texts>
      values;
};

using Metadata = std::map<std::string, std::string>;

// Whether this program was built with Arrow. Without it, the functions below throw RunError.
bool parquet_is_available();

// Writes columns of equal length. The file has its name only when it is complete: it is written as
// ".NAME.part" beside. Throws RunError that names the file and the reason.
void write_parquet(const std::string& path, std::span<const Column> columns,
                   const Metadata& metadata);

// The rows of files of one table, in their order, as one file, with new metadata; of the first file
// no more than so many. Holds about a million rows at a time.
void merge_parquet(std::span<const std::string> inputs, const std::string& path,
                   const Metadata& metadata,
                   std::int64_t rows_of_first = std::numeric_limits<std::int64_t>::max());

Metadata parquet_metadata(const std::string& path);

}  // namespace octant::telemetry
