// A Parquet file that is being written: it gets its name at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/own_files.hpp"
#include "telemetry/parquet_file.hpp"
#include "telemetry/parquet_input.hpp"
#include "telemetry/thrift.hpp"

namespace octant::telemetry::parquet {

class Output {
 public:
  // `effort`: of compression, as deflated() takes it. Functions throw RunError that tells the
  // reason.
  Output(const std::string& path, int effort);
  ~Output();  // removes what is not finished
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // A group of rows: its columns, one after the other, so that no more than one need be there at a
  // time; those of all groups have the same names and types in the same order.
  void begin_group(std::int64_t rows);
  void add(const Column& column);
  void add(const Column& schema, const StoredChunk& stored);  // rows of another file, as they are
  void end_group();

  void finish(const Metadata& metadata, Storage storage = Storage::cached);

 private:
  struct ChunkFacts {
    std::int64_t begin, values, bytes, uncompressed;
    int codec;
  };
  ChunkFacts write_chunk(const Column& column);
  void describe_chunk(const Column& column, const ChunkFacts& facts);
  void write_page(int type, int encoding, std::int64_t count, std::span<const std::byte> values);
  void write_bytes(std::span<const std::byte> bytes);

  std::string path_, part_;
  int effort_;
  AppendedFile file_;
  std::int64_t rows_ = 0, bytes_ = 0;               // so far
  std::int64_t group_rows_ = 0, uncompressed_ = 0;  // of the group under way
  Thrift::List schema_, groups_, chunks_;
  bool done_ = false;
};

}  // namespace octant::telemetry::parquet
