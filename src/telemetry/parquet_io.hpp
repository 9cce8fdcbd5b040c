#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/own_files.hpp"
#include "telemetry/parquet_file.hpp"
#include "telemetry/thrift.hpp"

namespace octant::telemetry::parquet {

// Values of a column in a row group, in stored form.
struct StoredChunk {
  std::vector<std::byte> bytes;
  std::int64_t codec, uncompressed;
  std::int64_t bytes_of_list;  // dictionary page before the values; 0: none
};

// Parquet file during reading.
class Input {
 public:
  // Opens a file and reads its description. Functions throw RunError with the reason.
  explicit Input(const std::string& path);

  // Metadata of the file.
  const Metadata& metadata() const { return metadata_; }
  const std::vector<Column>& schema() const { return schema_; }  // columns without rows

  // Number of row groups.
  std::size_t groups() const { return groups_.size(); }
  // Number of rows of a group.
  std::int64_t rows(std::size_t group) const { return groups_.at(group).rows; }

  // Appends the first `rows` rows of a group to a column; `number` is its index in the schema.
  void append(Column& column, std::size_t number, std::size_t group, std::int64_t rows) const;

  // Values of a column in a group, in stored form.
  StoredChunk stored(std::size_t number, std::size_t group) const;

  // Returns all rows of a column.
  Column column(const std::string& name) const;

 private:
  struct Chunk {  // column in a row group
    std::int64_t offset, bytes, codec, uncompressed;
    std::int64_t bytes_of_list;  // dictionary; 0: none
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

// Parquet file during writing; it is renamed when complete.
class Output {
 public:
  // `compression_level` is that of deflated(). Functions throw RunError with the reason.
  Output(const std::string& path, int compression_level);
  ~Output();  // removes an unfinished file
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Starts a row group. Its columns are added one after the other, so that only one need be in
  // memory; all groups have the same names and types in the same order.
  void begin_group(std::int64_t rows);
  // Adds the next column of the group.
  void add(const Column& column);
  void add(const Column& schema, const StoredChunk& stored);  // copies rows of another file
  // Ends a row group.
  void end_group();

  // Writes the metadata and renames the file.
  void finish(const Metadata& metadata, Storage storage = Storage::cached);

 private:
  struct ChunkFacts {
    std::int64_t begin, values, bytes, uncompressed;
    int codec;
  };
  ChunkFacts write_chunk(const Column& column);
  void describe_chunk(const Column& column, const ChunkFacts& attributes);
  void write_page(int type, int encoding, std::int64_t count, std::span<const std::byte> values);
  void write_bytes(std::span<const std::byte> bytes);

  std::string path_, part_;
  int compression_level_;
  AppendedFile file_;
  std::int64_t rows_ = 0, bytes_ = 0;               // so far
  std::int64_t group_rows_ = 0, uncompressed_ = 0;  // rows and bytes of the current group
  Thrift::List schema_, groups_, chunks_;
  bool done_ = false;
};

}  // namespace octant::telemetry::parquet
