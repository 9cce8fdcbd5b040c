// A Parquet file that Octant has written, and is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/parquet_file.hpp"
#include "telemetry/thrift.hpp"

namespace octant::telemetry::parquet {

// The values of a column in a group of rows, as they are stored.
struct StoredChunk {
  std::vector<std::byte> bytes;
  std::int64_t codec, uncompressed;
  std::int64_t bytes_of_list;  // the page before that of the values; 0: there is none
};

class Input {
 public:
  // Reads the file's description, and lets go of it. Functions throw RunError that tells the
  // reason.
  explicit Input(const std::string& path);

  const Metadata& metadata() const { return metadata_; }
  const std::vector<Column>& schema() const { return schema_; }  // columns without rows

  // Rows are stored in groups.
  std::size_t groups() const { return groups_.size(); }
  std::int64_t rows(std::size_t group) const { return groups_.at(group).rows; }

  // Appends some rows of a group, the first ones, of the column at this place of the schema.
  void append(Column& column, std::size_t place, std::size_t group, std::int64_t rows) const;

  StoredChunk stored(std::size_t place, std::size_t group) const;

  // All rows of a column.
  Column column(const std::string& name) const;

 private:
  struct Chunk {  // of a column in a group
    std::int64_t offset, bytes, codec, uncompressed;
    std::int64_t bytes_of_list;  // 0: it has none
  };
  struct Group {
    std::int64_t rows;
    std::vector<Chunk> chunks;
  };
  static Chunk chunk_of(const Thrift& contents);

  std::string path_;
  Metadata metadata_;
  std::vector<Column> schema_;
  std::vector<Group> groups_;
};

}  // namespace octant::telemetry::parquet
