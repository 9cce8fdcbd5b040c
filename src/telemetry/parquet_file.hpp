// Parquet files: tables of columns that any data base reads. github.com/apache/parquet-format
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
  std::vector<std::string> list;
  bool operator==(const Texts&) const = default;
};

struct Column {
  std::string name;
  std::variant<std::vector<bool>, std::vector<std::int8_t>, std::vector<std::int16_t>,
               std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<std::uint64_t>,
               std::vector<float>, std::vector<double>, Texts>
      values;
  bool operator==(const Column&) const = default;
};

using Metadata = std::map<std::string, std::string>;

// Writes columns of equal length, at least one. The file has its name only when it is complete: it
// is written as ".NAME.part" beside. Throws RunError that names the file and the reason.
void write_parquet(const std::string& path, std::span<const Column> columns,
                   const Metadata& metadata);

// Results must be on the disk before they get their names; other files need not be.
enum class Storage { cached, on_disk };

// The rows of files of one table, in their order, as one file, with new metadata; of the first file
// no more than so many. Holds one column of about a million rows at a time.
void merge_parquet(std::span<const std::string> inputs, const std::string& path,
                   const Metadata& metadata,
                   std::int64_t rows_of_first = std::numeric_limits<std::int64_t>::max(),
                   Storage storage = Storage::cached);

// Of files that the functions above have written.
Metadata parquet_metadata(const std::string& path);
std::vector<Column> read_parquet(const std::string& path, std::span<const std::string> names);

}  // namespace octant::telemetry
