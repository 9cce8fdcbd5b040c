// Parquet files: tables of columns in a widely supported format. github.com/apache/parquet-format
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace octant::telemetry {

// Texts as indices into a list.
struct Texts {
  std::vector<std::int32_t> numbers;
  std::vector<std::string> list;
  bool operator==(const Texts&) const = default;
};

// Column with its values.
struct Column {
  std::string name;
  std::variant<std::vector<bool>, std::vector<std::int8_t>, std::vector<std::int16_t>,
               std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<std::uint64_t>,
               std::vector<float>, std::vector<double>, Texts>
      values;
  bool operator==(const Column&) const = default;
};

using Metadata = std::map<std::string, std::string>;

// Writes columns of equal length, at least one. The file is written as ".NAME.part" and renamed
// when it is complete. Throws RunError with the file name and the reason.
void write_parquet(const std::string& path, std::span<const Column> columns,
                   const Metadata& metadata);

// Results must be on disk before they are renamed; other files need not be.
enum class Storage { cached, on_disk };

// Merges the rows of files of one table, in order, into one file with new metadata; of the first
// file at most `rows_of_first` rows. Needs memory for one column of about a million rows.
void merge_parquet(std::span<const std::string> inputs, const std::string& path,
                   const Metadata& metadata,
                   std::int64_t rows_of_first = std::numeric_limits<std::int64_t>::max(),
                   Storage storage = Storage::cached);

// Returns the metadata of a file written by the functions above.
Metadata parquet_metadata(const std::string& path);
// Reads columns of a file written by the functions above.
std::vector<Column> read_parquet(const std::string& path, std::span<const std::string> names);

// Parquet files that are joined without decoding their rows.

// Merges all rows as merge_parquet does, but copies the compressed row groups: as fast as copying a
// file, whereas a merge decompresses and compresses all values.
void join_parquet(std::span<const std::string> inputs, const std::string& path,
                  const Metadata& metadata);

}  // namespace octant::telemetry
